#!/usr/bin/env python3
"""Lists the prime numbers up to a limit: all a tool needs, without the SDK."""
import json
import os
import sys


def arguments():
    """The call's arguments; large ones come in a file."""
    path = os.environ.get("MCP_TOOL_ARGS_FILE")
    if path:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    return json.loads(os.environ.get("MCP_TOOL_ARGS_JSON") or "{}")


def progress(percent, message):
    """One line in the progress stream is one notification."""
    line = json.dumps({
        "jsonrpc": "2.0",
        "method": "notifications/progress",
        "params": {
            "progressToken": os.environ.get("MCP_PROGRESS_TOKEN"),
            "progress": percent, "total": 100, "message": message,
        },
    })
    with open(os.environ["MCP_PROGRESS_STREAM"], "a", encoding="utf-8") as file:
        file.write(line + "\n")


def fail(code, message):
    """Write the JSON-RPC error of the call to the error file."""
    with open(os.environ["MCP_TOOL_ERROR_FILE"], "w", encoding="utf-8") as file:
        json.dump({"code": code, "message": message}, file)
    sys.exit(1)


limit = arguments()["limit"]
if limit > 100_000:
    fail(-32602, "limit must be 100000 or less")

composite = bytearray(limit + 1)
primes = []
for number in range(2, limit + 1):
    if not composite[number]:
        primes.append(number)
        composite[number * number::number] = b"\1" * len(range(number * number, limit + 1, number))
    if number * 4 % limit < 4:
        progress(100 * number // limit, f"{number} numbers sifted")

# stdout is the result: one JSON object becomes structured content.
print(json.dumps({"count": len(primes), "largest": primes[-1] if primes else None}))
