#!/usr/bin/env python3
"""Records what the real CLI decides about shell commands in the default mode.

    cargo xtask decisions [--commands FILE]

The program needs a mount and a network namespace of its own (the xtask enters them): it mounts an empty file system on
/home, makes the project there, and plays every command as a Bash call of a scripted model. A question is answered with
no, so that only those commands run that the CLI runs unasked. PILOTHOUSE_REAL_CLI is the path of the CLI.

The output is a table of forms and of the words that take the place of `{}` in them, a letter for each decision: `.` ran,
`A` asked, `D` denied, `-` not played. With --plain a line is `scene TAB decision TAB command`.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from commands import SCENES, generated, tables  # noqa: E402

HOME = "/home/user"
PROJECT = HOME + "/project"
BATCH = 60


def lay_out():
    """The same files as in `layout.txt`: `path`, `path/` for a directory, `path -> target` for a link."""
    for line in open(os.path.join(HERE, "layout.txt")):
        line = line.rstrip("\n")
        if not line or line.startswith("#"):
            continue
        path, _, target = line.partition(" -> ")
        path = os.path.join("/home", path)
        os.makedirs(os.path.dirname(path.rstrip("/")), exist_ok=True)
        if target:
            os.symlink(target, path)
        elif path.endswith("/"):
            os.makedirs(path, exist_ok=True)
        else:
            with open(path, "w") as file:
                file.write("one x\ntwo y\n")


class Model:
    """A Messages API that asks for one Bash call after the other."""

    def __init__(self, commands):
        self.commands, self.at, self.lock = commands, 0, threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
                if "count_tokens" in self.path:
                    return self.plain({"input_tokens": 1})
                main = any("input_schema" in tool for tool in body.get("tools") or [])
                block = outer.next() if main else {"type": "text", "text": "ok"}
                self.stream(body, block) if body.get("stream") else self.plain(message(body, block))

            def do_GET(self):
                self.plain({})

            do_HEAD = do_GET

            def plain(self, value):
                data = json.dumps(value).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def stream(self, body, block):
                whole = message(body, block)
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("connection", "close")
                self.end_headers()
                self.close_connection = True
                start, delta = dict(block), {"type": "text_delta", "text": block.get("text", "")}
                if block["type"] == "tool_use":
                    start["input"] = {}
                    delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
                else:
                    start["text"] = ""
                for event in (
                    {"type": "message_start", "message": dict(whole, content=[], stop_reason=None)},
                    {"type": "content_block_start", "index": 0, "content_block": start},
                    {"type": "content_block_delta", "index": 0, "delta": delta},
                    {"type": "content_block_stop", "index": 0},
                    {"type": "message_delta", "delta": {"stop_reason": whole["stop_reason"], "stop_sequence": None},
                     "usage": {"output_tokens": 1}},
                    {"type": "message_stop"},
                ):
                    self.wfile.write(("event: %s\ndata: %s\n\n" % (event["type"], json.dumps(event))).encode())
                self.wfile.flush()

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def next(self):
        with self.lock:
            if self.at >= len(self.commands):
                return {"type": "text", "text": "done"}
            self.at += 1
            command = self.commands[self.at - 1]
        return {"type": "tool_use", "id": "toolu_%06d" % (self.at - 1), "name": "Bash",
                "input": {"command": command, "description": "x", "timeout": 3000}}


def message(body, block):
    return {"id": "msg_" + uuid.uuid4().hex[:20], "type": "message", "role": "assistant", "model": body.get("model"),
            "content": [block], "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn",
            "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}


def play(number, scene, commands):
    """One session. Each command that may move is followed by one that moves back."""
    calls = ["ls"]
    for command in commands:
        calls.append(command)
        if "cd " in command or "pushd" in command or command == "cd":
            calls.append("cd " + PROJECT)
    model = Model(calls)
    home = "/home/sessions/%d" % number
    os.makedirs(home)
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": HOME, "LANG": "C.UTF-8", "TMPDIR": home, "IS_SANDBOX": "1",
        "CLAUDE_CONFIG_DIR": home, "ANTHROPIC_API_KEY": "dummy", "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1",
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:%d" % model.port, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    argv = [os.environ["PILOTHOUSE_REAL_CLI"], "-p", "--output-format", "stream-json", "--input-format", "stream-json",
            "--verbose", "--permission-prompt-tool", "stdio", "--settings",
            json.dumps({"permissions": SCENES[scene]})]
    cli = subprocess.Popen(argv, cwd=PROJECT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True, start_new_session=True)
    timer = threading.Timer(240, lambda: os.killpg(cli.pid, 9))
    timer.start()

    def send(value):
        cli.stdin.write(json.dumps(value) + "\n")
        cli.stdin.flush()

    send({"type": "control_request", "request_id": "1", "request": {"subtype": "initialize"}})
    send({"type": "user", "message": {"role": "user", "content": "go"}})
    decided, asked = {}, set()
    for line in cli.stdout:
        try:
            said = json.loads(line)
        except ValueError:
            continue
        kind = said.get("type")
        if kind == "control_request":
            request = said["request"]
            asked.add(request.get("tool_use_id"))
            send({"type": "control_response", "response": {"subtype": "success", "request_id": said["request_id"],
                  "response": {"behavior": "deny", "message": "no"}}})
        elif kind == "user":
            for block in said["message"].get("content") or []:
                if isinstance(block, dict) and block.get("type") == "tool_result":
                    decided[block["tool_use_id"]] = verdict(block, asked)
        elif kind == "result":
            break
    cli.stdin.close()
    try:
        cli.wait(20)
    except subprocess.TimeoutExpired:
        os.killpg(cli.pid, 9)
    timer.cancel()
    rows, wanted = [], iter(commands)
    command = next(wanted, None)
    for at, call in enumerate(calls):
        if at > 0 and call == command:
            rows.append((scene, decided.get("toolu_%06d" % at, "none"), call))
            command = next(wanted, None)
    return rows


def verdict(block, asked):
    if block["tool_use_id"] in asked:
        return "ask"
    text = block.get("content")
    text = text if isinstance(text, str) else json.dumps(text)
    if block.get("is_error") and ("has been denied" in text or "blocked by a deny rule" in text):
        return "deny"
    # The tool itself refuses some commands before anybody is asked.
    if block.get("is_error") and "<tool_use_error>" in text:
        return "error"
    return "run"


LETTERS = {"run": ".", "ask": "A", "deny": "D", "error": "E", "none": "N"}


def table(decided):
    """The decisions as a table, or nothing for a command that was not played."""
    lines = []
    for scene, words, forms in tables():
        lines.append("= %s\t%s" % (scene, "\t".join(words)))
        for form in forms:
            letters = (decided.get((scene, form.replace("{}", word))) for word in words)
            lines.append("%s\t%s" % (form, "".join(LETTERS.get(letter, "-") for letter in letters)))
    return "\n".join(lines) + "\n"


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--commands", help="a file of `scene TAB command` instead of the generated ones")
    arguments.add_argument("--out", required=True)
    arguments.add_argument("--plain", action="store_true", help="one line a command")
    arguments.add_argument("--jobs", type=int, default=2)
    options = arguments.parse_args()
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/home"], check=True)
    os.makedirs("/home/sessions")
    lay_out()
    if options.commands:
        pairs = [tuple(line.rstrip("\n").split("\t", 1)) for line in open(options.commands) if line.strip()]
    else:
        pairs = generated()
    pairs = list(dict.fromkeys(pairs))
    batches = []
    for scene in SCENES:
        commands = [command.replace("\\n", "\n") for name, command in pairs if name == scene]
        batches += [(scene, commands[at:at + BATCH]) for at in range(0, len(commands), BATCH)]
    decided = {}
    with ThreadPoolExecutor(options.jobs) as pool:
        for rows in pool.map(lambda job: play(job[0], *job[1]), enumerate(batches)):
            decided.update({(scene, command.replace("\n", "\\n")): decision for scene, decision, command in rows})
    with open(options.out, "w") as out:
        if options.plain or options.commands:
            for (scene, command), decision in decided.items():
                out.write("%s\t%s\t%s\n" % (scene, decision, command))
        else:
            out.write(table(decided))


if __name__ == "__main__":
    main()
