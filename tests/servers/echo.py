"""A small MCP server for the suites: `echo.py` speaks on stdio, `echo.py --http` on a loopback port it prints.

Tools: `echo` gives its text back, `fail` always fails.
"""
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOOLS = [
    {"name": "echo", "description": "Gives the text back", "inputSchema": TEXT},
    {"name": "fail", "description": "Fails", "inputSchema": {"type": "object", "properties": {}}},
]


def answer(message):
    """The reply to one JSON-RPC message; None for a notification."""
    method, params = message.get("method"), message.get("params") or {}
    if "id" not in message:
        return None
    if method == "initialize":
        result = {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}},
                  "serverInfo": {"name": "echo", "version": "1.0"}}
    elif method == "tools/list":
        result = {"tools": TOOLS}
    elif method == "tools/call" and params.get("name") == "echo":
        result = {"content": [{"type": "text", "text": "echo: " + params["arguments"]["text"]}]}
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": "it always fails"}], "isError": True}
    elif method == "ping":
        result = {}
    else:
        return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no such method"}}
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
        reply = answer(message)
        body = json.dumps(reply).encode() if reply else b""
        self.send_response(200 if reply else 202)
        if reply:
            self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self):
        self.send_response(405)
        self.send_header("content-length", "0")
        self.end_headers()

    do_GET = do_DELETE = refuse


if sys.argv[1:] == ["--http"]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print("http://127.0.0.1:%d/mcp" % server.server_address[1], flush=True)
    server.serve_forever()
else:
    for line in sys.stdin:
        reply = answer(json.loads(line))
        if reply is not None:
            print(json.dumps(reply), flush=True)
