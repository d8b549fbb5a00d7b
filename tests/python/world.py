"""What every check has: a throw-away home and project, a scripted Messages API, and short ways to ask."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ProcessError,
    ResultMessage,
    SystemMessage,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
    query,
)

CLI = os.environ["PILOTHOUSE_CLI"]
API = os.environ["PILOTHOUSE_API"]
SERVER = str(Path(__file__).parent.parent / "servers" / "echo.py")


def text(said, **more):
    """A turn of the model that says something."""
    return {"text": said, **more}


def tool(name, **given):
    """A turn of the model that calls a tool."""
    return {"tool": name, "input": given}


def bash(command):
    """A turn of the model that runs a command."""
    return tool("Bash", command=command, description="run it")


class World:
    def __init__(self):
        self.root = Path(tempfile.mkdtemp(prefix="pilothouse-sdk-"))
        self.home, self.project = self.root / "home", self.root / "home" / "project"
        self.config = self.home / ".claude"
        self.config.mkdir(parents=True)
        self.project.mkdir()
        self.processes = []
        self.url = None
        # The SDK's own functions read sessions where this says.
        os.environ["CLAUDE_CONFIG_DIR"] = str(self.config)
        os.environ["HOME"] = str(self.home)

    def close(self):
        for process in self.processes:
            process.stdin.close()
            process.terminate()
            process.wait()
        shutil.rmtree(self.root, ignore_errors=True)

    def script(self, *turns):
        """Starts the API with these turns; a check may do so again for its next CLI."""
        path = self.root / "script.json"
        path.write_text(json.dumps(turns))
        self.url = self.start(API, str(path))

    def start(self, *command):
        """Starts a program that prints its URL, and ends it with the check."""
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        return process.stdout.readline().strip()

    def calls(self):
        """The requests that took a turn of the script, oldest first."""
        with urllib.request.urlopen(self.url + "/calls") as reply:
            return [call["body"] for call in json.load(reply) if call["kind"] == "main"]

    def options(self, **given):
        env = {
            "HOME": str(self.home), "CLAUDE_CONFIG_DIR": str(self.config), "ANTHROPIC_API_KEY": "dummy",
            "ANTHROPIC_BASE_URL": self.url, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1", "IS_SANDBOX": "1", **given.pop("env", {}),
        }
        given.setdefault("cwd", str(self.project))
        # Some CLIs print parts of their source when they fail; a check that wants stderr asks for it.
        given.setdefault("stderr", lambda line: None)
        return ClaudeAgentOptions(cli_path=CLI, env=env, **given)

    async def ask(self, prompt, **given):
        """One query; all its messages. That a failed run also ends the process is no error here."""
        messages = []
        try:
            async for message in query(prompt=prompt, options=self.options(**given)):
                messages.append(message)
        except ProcessError:
            if not any(isinstance(message, ResultMessage) for message in messages):
                raise
        return messages

    def write(self, name, content):
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def has(self, name):
        return (self.project / name).exists()


async def turn(client, prompt=None):
    """Sends a prompt and gives the messages up to its result."""
    if prompt is not None:
        await client.query(prompt)
    return [message async for message in client.receive_response()]


async def streamed(*contents):
    """Prompts as a stream of messages."""
    for content in contents:
        yield {"type": "user", "message": {"role": "user", "content": content}, "parent_tool_use_id": None,
               "session_id": "default"}


def blocks(messages, kind, of=(AssistantMessage, UserMessage)):
    return [block for message in messages if isinstance(message, of) and isinstance(message.content, list)
            for block in message.content if isinstance(block, kind)]


def said(messages):
    """What the assistant said, as one text."""
    return "".join(block.text for block in blocks(messages, TextBlock, of=AssistantMessage))


def uses(messages):
    return blocks(messages, ToolUseBlock)


def results(messages):
    """The tool results as (text, is_error)."""
    return [(flat(block.content), bool(block.is_error)) for block in blocks(messages, ToolResultBlock)]


def flat(content):
    if isinstance(content, list):
        return "".join(block.get("text", "") for block in content)
    return content or ""


def init(messages):
    return next(m.data for m in messages if isinstance(m, SystemMessage) and m.subtype == "init")


def result(messages):
    return [message for message in messages if isinstance(message, ResultMessage)][-1]


def sent(call):
    """The messages of an API request as text: for asking whether something was said."""
    return json.dumps(call["messages"], ensure_ascii=False)


def equal(found, expected, what="value"):
    if found != expected:
        raise AssertionError(f"{what}: {found!r}, expected {expected!r}")


def holds(condition, what):
    if not condition:
        raise AssertionError(what)


def python():
    return sys.executable
