"""Drives every method of the admin plane without its .proto files: what there is, reflection tells.

usage: grpc_reflection_client.py ADDRESS SCRATCH_FOLDER
"""

import pathlib
import sys

import admin_plane
import grpc
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message_factory import GetMessageClass
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

DEADLINE_SECONDS = 60


def invoke(channel: grpc.Channel, method: MethodDescriptor, requests: list[dict], messages_max: int | None) -> list[dict]:
    request_class, answer_class = GetMessageClass(method.input_type), GetMessageClass(method.output_type)
    made = [ParseDict(request, request_class()) for request in requests]
    kinds = {
        (False, False): channel.unary_unary,
        (False, True): channel.unary_stream,
        (True, False): channel.stream_unary,
        (True, True): channel.stream_stream,
    }
    callable_ = kinds[method.client_streaming, method.server_streaming](
        f"/{method.containing_service.full_name}/{method.name}",
        request_serializer=request_class.SerializeToString,
        response_deserializer=answer_class.FromString,
    )
    answer = callable_(iter(made) if method.client_streaming else made[0], timeout=DEADLINE_SECONDS)
    return admin_plane.answers_of(answer, method.server_streaming, messages_max, to_dict)


def to_dict(message: object) -> dict:
    return MessageToDict(message, preserving_proto_field_name=True)


def main() -> None:
    address, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
    with grpc.insecure_channel(address) as channel:
        database = ProtoReflectionDescriptorDatabase(channel)
        pool = DescriptorPool(database)
        services = [pool.FindServiceByName(name) for name in database.get_services()]
        methods = {f"{service.full_name}/{method.name}": method for service in services for method in service.methods}

        def call(name: str, requests: list[dict], messages_max: int | None) -> list[dict]:
            return invoke(channel, methods[name], requests, messages_max)

        admin_plane.run(set(methods), scratch, call)


if __name__ == "__main__":
    main()
