"""Drives every method of the admin plane with classes that grpcio-tools generates from the .proto files.

usage: grpc_stubs.py ADDRESS SCRATCH_FOLDER
"""

import importlib
import pathlib
import sys
import tempfile

import admin_plane
import grpc
import grpc_tools
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message_factory import GetMessageClass
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_tools import protoc

PROTO = pathlib.Path(__file__).resolve().parents[2] / "proto"
DEADLINE_SECONDS = 60


def generate(folder: str) -> list[str]:
    """Writes the modules and returns their names."""
    files = sorted(path.relative_to(PROTO) for path in PROTO.glob("pressmark/admin/v1/*.proto"))
    well_known = pathlib.Path(grpc_tools.__file__).parent / "_proto"
    arguments = [f"-I{PROTO}", f"-I{well_known}", f"--python_out={folder}", f"--grpc_python_out={folder}"]
    status = protoc.main(["protoc", *arguments, *map(str, files)])
    assert status == 0, f"protoc ended with {status}"
    return [".".join(file.with_suffix("").parts) for file in files]


def main() -> None:
    address, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
    generated = tempfile.TemporaryDirectory()
    sys.path.insert(0, generated.name)
    names = generate(generated.name)
    pairs = [(importlib.import_module(f"{name}_pb2"), importlib.import_module(f"{name}_pb2_grpc")) for name in names]
    pairs.append((health_pb2, health_pb2_grpc))

    with grpc.insecure_channel(address) as channel:
        stubs, methods = {}, {}
        for messages, services in pairs:
            for service in messages.DESCRIPTOR.services_by_name.values():
                stub = getattr(services, f"{service.name}Stub")(channel)
                for method in service.methods:
                    name = f"{service.full_name}/{method.name}"
                    methods[name] = method
                    stubs[name] = getattr(stub, method.name)
        # What the package for health knows beside the two methods that every server has.
        methods.pop("grpc.health.v1.Health/List", None)

        def call(name: str, requests: list[dict], messages_max: int | None) -> list[dict]:
            method = methods[name]
            made = [ParseDict(request, GetMessageClass(method.input_type)()) for request in requests]
            argument = iter(made) if method.client_streaming else made[0]
            answer = stubs[name](argument, timeout=DEADLINE_SECONDS)
            return admin_plane.answers_of(answer, method.server_streaming, messages_max, to_dict)

        admin_plane.run(set(methods), scratch, call)


def to_dict(message: object) -> dict:
    return MessageToDict(message, preserving_proto_field_name=True)


if __name__ == "__main__":
    main()
