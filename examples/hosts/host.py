"""A host in Python and its test, with the official SDK and a scripted agent: no key, no network, no cost.

    PILOTHOUSE_AGENT=target/release/pilothouse-agent python examples/hosts/host.py
"""
import asyncio
import os
import tempfile
from pathlib import Path

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    PermissionResultAllow,
    PermissionResultDeny,
    ResultMessage,
)

AGENT = os.environ.get("PILOTHOUSE_AGENT", "pilothouse-agent")
SCRIPT = Path(__file__).with_name("deploy.toml")


async def deploy(folder, may_deploy):
    """The host under test: asks for a deployment, and lets `may_deploy` decide about each command."""

    async def can_use_tool(tool, given, context):
        if may_deploy(given["command"]):
            return PermissionResultAllow()
        return PermissionResultDeny(message="not on a Friday")

    options = ClaudeAgentOptions(cli_path=AGENT, cwd=folder, can_use_tool=can_use_tool,
                                 env={"PILOTHOUSE_SCRIPT": str(SCRIPT), "CLAUDE_CONFIG_DIR": f"{folder}/.config"})
    async with ClaudeSDKClient(options) as client:
        await client.query("Please deploy.")
        async for message in client.receive_response():
            if isinstance(message, ResultMessage):
                return message.result


async def main():
    with tempfile.TemporaryDirectory() as folder:
        assert await deploy(folder, lambda command: False) == "I was not allowed to deploy."
        assert not Path(folder, "deployed").exists(), "a denied command leaves nothing behind"
        assert await deploy(folder, lambda command: command == "touch deployed") == "It is live."
        assert Path(folder, "deployed").exists(), "an allowed command ran"
    print("the Python host does what it should")


asyncio.run(main())
