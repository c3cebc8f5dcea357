"""What the clients of the admin plane ask, in order, and what must come back.

Requests and responses are dictionaries with the field names of the .proto files, so that clients with generated
classes and clients without any can share them.
"""

import base64
import pathlib
import secrets
from collections.abc import Callable

PACKAGE = "pressmark.admin.v1"
SPACE = {"name": "grpc", "uri_template": "grpc://{team}/{name}", "title": "From a client"}


def answers_of(answer: object, is_stream: bool, messages_max: int | None, to_dict: Callable[[object], dict]) -> list[dict]:
    """The messages of an answer; a stream is cancelled after so many."""
    if not is_stream:
        return [to_dict(answer)]
    answers = []
    for message in answer:
        answers.append(to_dict(message))
        if len(answers) == messages_max:
            answer.cancel()
            break
    return answers


def text_of(contents: list[dict]) -> str:
    return "".join(part["text"] for part in contents)


def ingest_requests() -> list[dict]:
    key = base64.b64encode(secrets.token_bytes(16)).decode()

    def put(team: str, name: str, body: dict) -> dict:
        variables = [{"name": "team", "text": team}, {"name": "name", "text": name}]
        return {"put": {"space": "grpc", "variables": variables, "contents": [body]}}

    first = [put("core", "plan", {"text": "whales and sailors\n"}), put("core", "bytes", {"blob": base64.b64encode(b"\0\xff").decode()})]
    second = [
        put("sales", "plan", {"text": "sailors\n"}),
        {"put": {"space": "grpc", "uri": "other://x/y", "contents": [{"text": ""}]}},
        {"delete_uri": "grpc://core/none"},
    ]
    return [
        {"batch_id": 7, "idempotency_key": key, "mutations": first},
        {"batch_id": 8, "mutations": second},
    ]


def check_ingest(answers: list[dict]) -> None:
    first, second = answers
    assert (first["batch_id"], first["created"]) == ("7", 2), first
    assert (second["batch_id"], second["created"], second["absent"]) == ("8", 1, 1), second
    (refusal,) = second["refusals"]
    assert refusal["index"] == 1 and refusal["kind"] == "REFUSAL_KIND_INVALID" and "other://x/y" in refusal["uri"], refusal


def check_report(answers: list[dict]) -> None:
    assert "report" in answers[-1] and not any("report" in answer for answer in answers[:-1]), answers


def check_verified(answers: list[dict]) -> None:
    check_report(answers)
    assert answers[-1]["report"]["clean"], answers[-1]


def run(methods: set[str], scratch: pathlib.Path, call: Callable[[str, list[dict], int | None], list[dict]]) -> None:
    """Calls each of `methods` ("package.Service/Method") through `call(method, requests, messages_max)`.

    Fails when an answer is not as it must be, and when a method is left over that nobody has called.
    """
    left = set(methods)

    def ask(method: str, request: dict | None = None, messages_max: int | None = None, requests: list[dict] | None = None) -> list[dict]:
        name = method if method.startswith("grpc.") else f"{PACKAGE}.{method}"
        left.discard(name)
        return call(name, requests if requests is not None else [request or {}], messages_max)

    assert ask("SpacesService/PutSpace", {"space": SPACE})[0]["space"]["name"] == "grpc"
    assert ask("SpacesService/GetSpace", {"name": "grpc"})[0]["space"]["title"] == "From a client"
    spaces = ask("SpacesService/ListSpaces")[0]["spaces"]
    assert "grpc" in [entry["space"]["name"] for entry in spaces], spaces

    batches = ingest_requests()
    check_ingest(ask("IngestService/Ingest", requests=batches))
    (again,) = ask("IngestService/Ingest", requests=batches[:1])
    assert again["applied_before"], again

    stored = ask("ResourcesService/GetResource", {"uri": "grpc://core/plan"})[0]["resource"]
    assert int(stored["version"]) > 0 and text_of(stored["resource"]["contents"]) == "whales and sailors\n", stored
    scanned = [found["resource"]["uri"] for page in ask("ResourcesService/ScanResources", {"space": "grpc"}) for found in page["resources"]]
    assert scanned == ["grpc://core/bytes", "grpc://core/plan", "grpc://sales/plan"], scanned
    changes = ask("ChangesService/WatchChanges", {"after_sequence": int(stored["sequence"]) - 1, "space": "grpc"}, messages_max=1)
    assert changes[0]["changes"][0]["uri"] == "grpc://core/plan", changes

    read = ask("ReadingService/ReadResource", {"uri": "grpc://core/plan#char=0,6"})[0]
    assert text_of(read["contents"]) == "whales", read
    listed = [resource["uri"] for page in ask("ReadingService/ListResources") for resource in page["resources"]]
    assert "grpc://sales/plan" in listed, listed
    completed = ask("ReadingService/CompleteVariable", {"space": "grpc", "variable": "name", "typed": "P", "context": [{"name": "team", "value": "core"}]})[0]
    assert completed["values"] == ["plan"] and completed["total"] == "1", completed

    stats = ask("OperationsService/GetStats")[0]
    assert stats["writable"] and int(stats["newest_sequence"]) >= 3, stats
    search = {"query": "sailors", "space": "grpc", "snippet_bytes": 80, "after_sequence": int(stats["newest_sequence"])}
    found = ask("ReadingService/SearchResources", search)[0]
    assert found["total"] == "2" and found["total_is_exact"] and found["hits"][0]["marks"], found

    check_verified(ask("OperationsService/Verify"))
    check_report(ask("OperationsService/Backup", {"folder": str(scratch / "copy")}))
    assert (scratch / "copy" / "store").is_dir()
    ask("OperationsService/Compact")
    assert ask("OperationsService/Reindex")[0]["indexes"] >= 2, "completion of each space, and full text"
    assert ask("SpacesService/DeleteSpace", {"name": "grpc"})[0]["resources_deleted"] == "3"

    assert ask("grpc.health.v1.Health/Check", {"service": ""})[0]["status"] == "SERVING"
    watched = ask("grpc.health.v1.Health/Watch", {"service": f"{PACKAGE}.IngestService"}, messages_max=1)
    assert watched[0]["status"] == "SERVING", watched
    for version in ("v1", "v1alpha"):
        method = f"grpc.reflection.{version}.ServerReflection/ServerReflectionInfo"
        if method in methods:
            services = ask(method, {"list_services": ""}, messages_max=1)[0]["list_services_response"]["service"]
            assert f"{PACKAGE}.SpacesService" in [service["name"] for service in services], services

    if f"{PACKAGE}.PromptsService/PutPrompt" in methods:
        prompt = {"name": "explain", "messages": [{"role": "ROLE_USER", "text": "Explain it"}]}
        ask("PromptsService/PutPrompt", {"prompt": prompt})
        prompts = [prompt["name"] for page in ask("PromptsService/ListPrompts") for prompt in page["prompts"]]
        assert "explain" in prompts, prompts
        ask("PromptsService/DeletePrompt", {"name": "explain"})

    assert not left, f"methods that nobody has called: add them to {pathlib.Path(__file__).name}: {sorted(left)}"
    print(f"{len(methods)} methods called")
