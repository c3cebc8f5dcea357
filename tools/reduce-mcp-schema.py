#!/usr/bin/env python3
"""Reduces the MCP schemas to what our replies and notifications need, for the tests in server/tests.

    tools/reduce-mcp-schema.py SCHEMA_DIR

SCHEMA_DIR has one <revision>.json for each revision, as schema/<revision>/schema.json of the
repository github.com/modelcontextprotocol/modelcontextprotocol has them. Writes
server/tests/schema/<revision>.json: the definitions that are reachable from our replies, without
descriptions, and closed, so that a field which the revision does not know fails validation. The
published schemas are open: they let any field pass.
"""

import json
import pathlib
import sys

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
ROOTS = [
    "InitializeResult",
    "DiscoverResult",
    "EmptyResult",
    "ListResourcesResult",
    "ListResourceTemplatesResult",
    "ReadResourceResult",
    "CompleteResult",
    "ListToolsResult",
    "CallToolResult",
    "ListPromptsResult",
    "GetPromptResult",
    "JSONRPCResponse",
    "JSONRPCResultResponse",
    "JSONRPCError",
    "JSONRPCErrorResponse",
    "UnsupportedProtocolVersionError",
    "HeaderMismatchError",
    "ResourceUpdatedNotification",
    "ResourceListChangedNotification",
    "PromptListChangedNotification",
    "CancelledNotification",
    "ProgressNotification",
    "LoggingMessageNotification",
    "SubscriptionsAcknowledgedNotification",
    "SubscriptionsListenResult",
    "SubscriptionsListenResultResponse",
]
# Objects that hold what they like, by the property under which they stand.
OPEN_PROPERTIES = {"_meta", "inputSchema", "outputSchema", "structuredContent", "experimental", "error"}
# Objects that hold what they like, by name.
OPEN_DEFINITIONS = {"Result", "EmptyResult", "MetaObject", "ResultMetaObject", "RequestMetaObject"}


def references(node):
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "$ref":
                yield value.rsplit("/", 1)[1]
            else:
                yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def reduced(node, is_open):
    """The node without descriptions, closed unless it is open."""
    if isinstance(node, list):
        return [reduced(value, is_open) for value in node]
    if not isinstance(node, dict):
        return node
    result = {}
    for key, value in node.items():
        if key == "properties":
            result[key] = {
                name: reduced(schema, is_open or name in OPEN_PROPERTIES)
                for name, schema in value.items()
            }
        elif key == "allOf":
            # Each part sees the members of the others: none can be closed by itself.
            result[key] = reduced(value, True)
        elif key != "description":
            result[key] = reduced(value, is_open)
    if "properties" in result and not is_open:
        result.setdefault("additionalProperties", False)
    return result


def main():
    source = pathlib.Path(sys.argv[1])
    target = pathlib.Path(__file__).parent.parent / "server" / "tests" / "schema"
    for revision in REVISIONS:
        schema = json.loads((source / f"{revision}.json").read_text())
        key = "$defs" if "$defs" in schema else "definitions"
        wanted, reached = [name for name in ROOTS if name in schema[key]], {}
        while wanted:
            name = wanted.pop()
            if name not in reached:
                reached[name] = reduced(schema[key][name], name in OPEN_DEFINITIONS)
                wanted.extend(references(reached[name]))
        output = {"$schema": schema["$schema"], key: dict(sorted(reached.items()))}
        text = json.dumps(output, separators=(",", ":"), sort_keys=True)
        (target / f"{revision}.json").write_text(text + "\n")


main()
