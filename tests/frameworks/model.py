"""A local model for tests of agent frameworks: it answers OpenAI's chat API by a script, and judges what it is sent.

It searches, fetches the first hit that it can read in the text of the result, and answers with the number that the
document names. Like models behind adapters it gives `null` for every optional argument, and like OpenAI's API it refuses
messages of tools that hold anything but text. usage: model.py PORT_FILE
"""

import http.server
import json
import pathlib
import re
import sys

QUERY = "answer"
URI = re.compile(r"docs://[^\s)\]>\"']+")
ANSWER = re.compile(r"answer: number = (\d+)")


class Refused(Exception):
    """What OpenAI's API answers with 400."""


def text_of(message: dict) -> str:
    """The text of a message, whose content is a string or a list of text parts."""
    content = message["content"]
    if isinstance(content, str):
        return content
    for part in content:
        if part.get("type") != "text":
            raise Refused(f"a message of role {message['role']} has a part of type {part.get('type')}")
    return "\n".join(part["text"] for part in content)


def call(tools: list[dict], name: str, arguments: dict, number: int) -> dict:
    """A call of the tool whose name ends in `name` (frameworks put prefixes before it), `null` for what is not given."""
    functions = [tool["function"] for tool in tools]
    function = next((one for one in functions if one["name"].endswith(name)), None)
    if function is None:
        raise Refused(f"no tool {name} among {[one['name'] for one in functions]}")
    properties = function["parameters"].get("properties", {})
    everything = {key: None for key in properties} | arguments
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": function["name"], "arguments": json.dumps(everything)},
            }
        ],
    }


def reply(request: dict) -> dict:
    """The next message of the script, from all messages so far."""
    results = [text_of(message) for message in request["messages"] if message["role"] == "tool"]
    tools = request.get("tools", [])
    if not results:
        return call(tools, "search", {"query": QUERY}, 1)
    uri = URI.search(results[0])
    if uri is None:
        raise Refused(f"no URI in the result of search: {results[0]!r}")
    if len(results) == 1:
        return call(tools, "fetch", {"id": uri.group()}, 2)
    found = ANSWER.search(results[-1])
    if found is None:
        raise Refused(f"the document is not in the result of fetch: {results[-1]!r}")
    return {"role": "assistant", "content": f"The answer is {found.group(1)}."}


def completion(request: dict) -> dict:
    message = reply(request)
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": request["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reason, "logprobs": None}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if request.get("stream"):
            self.answer(400, {"error": {"message": "this model does not stream", "type": "invalid_request_error"}})
            return
        try:
            self.answer(200, completion(request))
        except Refused as refused:
            print(f"refused: {refused}", file=sys.stderr, flush=True)
            self.answer(400, {"error": {"message": str(refused), "type": "invalid_request_error"}})

    def answer(self, status: int, body: dict) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


def main() -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    port_file = pathlib.Path(sys.argv[1])
    partial = port_file.with_suffix(".part")
    partial.write_text(str(server.server_port), encoding="utf-8")
    partial.rename(port_file)  # whoever waits for the file never reads half of it
    server.serve_forever()


if __name__ == "__main__":
    main()
