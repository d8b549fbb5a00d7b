"""MCP servers: inside the host, as a child, over HTTP."""
from claude_agent_sdk import ClaudeSDKClient, create_sdk_mcp_server, tool as sdk_tool

from world import SERVER, equal, holds, init, python, result, results, said, streamed, text, tool, turn


def calculator():
    """A server in this process, and the calls it got."""
    calls = []

    @sdk_tool("add", "Adds two numbers", {"a": float, "b": float})
    async def add(given):
        calls.append(given)
        return {"content": [{"type": "text", "text": str(given["a"] + given["b"])}]}

    @sdk_tool("divide", "Always fails", {"a": float})
    async def divide(given):
        return {"content": [{"type": "text", "text": "division by zero"}], "is_error": True}

    @sdk_tool("explode", "Raises", {"a": float})
    async def explode(given):
        raise RuntimeError("boom")

    return create_sdk_mcp_server("calc", "1.0.0", tools=[add, divide, explode]), calls


def echo():
    return {"type": "stdio", "command": python(), "args": [SERVER]}


async def check_a_tool_of_the_host_is_called(world):
    """The function runs here, and its text goes to the model."""
    server, calls = calculator()
    world.script(tool("mcp__calc__add", a=2, b=3), text("done"))
    messages = await world.ask(streamed("go"), mcp_servers={"calc": server}, allowed_tools=["mcp__calc__add"])
    equal((calls, results(messages)), ([{"a": 2, "b": 3}], [("5", False)]))
    equal([(s["name"], s["status"]) for s in init(messages)["mcp_servers"]], [("calc", "connected")])
    holds("mcp__calc__add" in init(messages)["tools"], "listed in init")


async def check_a_failing_tool_of_the_host(world):
    """Its error is an error to the model; an exception is one as well."""
    server, _ = calculator()
    world.script(tool("mcp__calc__divide", a=2), tool("mcp__calc__explode", a=2), text("done"))
    messages = await world.ask(streamed("go"), mcp_servers={"calc": server}, allowed_tools=["mcp__calc"])
    equal([failed for _, failed in results(messages)], [True, True])
    holds("division by zero" in results(messages)[0][0] and "boom" in results(messages)[1][0], results(messages))


async def check_a_tool_of_the_host_needs_permission(world):
    """Without a rule it is denied, and not called."""
    server, calls = calculator()
    world.script(tool("mcp__calc__add", a=2, b=3), text("done"))
    messages = await world.ask(streamed("go"), mcp_servers={"calc": server})
    equal((calls, results(messages)[0][1]), ([], True))
    equal([d["tool_name"] for d in result(messages).permission_denials], ["mcp__calc__add"])


async def check_a_server_as_a_child(world):
    """A stdio server is started, listed and called."""
    world.script(tool("mcp__echo__echo", text="ahoy"), text("done"))
    messages = await world.ask("go", mcp_servers={"echo": echo()}, allowed_tools=["mcp__echo__echo"])
    equal(results(messages), [("echo: ahoy", False)])
    equal([(s["name"], s["status"]) for s in init(messages)["mcp_servers"]], [("echo", "connected")])


async def check_a_server_over_http(world):
    """A streamable HTTP server is reached and called."""
    url = world.start(python(), SERVER, "--http")
    world.script(tool("mcp__web__echo", text="ahoy"), text("done"))
    servers = {"web": {"type": "http", "url": url}}
    messages = await world.ask("go", mcp_servers=servers, allowed_tools=["mcp__web__echo"])
    equal(results(messages), [("echo: ahoy", False)])


async def check_status_of_servers(world):
    """The status names each server, its tools, and what failed."""
    world.script(text("ok"))
    servers = {"echo": echo(), "gone": {"type": "stdio", "command": "/no/such/program"}}
    async with ClaudeSDKClient(world.options(mcp_servers=servers)) as client:
        await turn(client, "hi")
        status = {s["name"]: s for s in (await client.get_mcp_status())["mcpServers"]}
    equal((status["echo"]["status"], status["gone"]["status"]), ("connected", "failed"))
    equal(sorted(t["name"] for t in status["echo"]["tools"]), ["echo", "fail"])


async def check_a_server_is_switched_off_and_on(world):
    """Its tools go and come back."""
    world.script(text("one"), text("two"), text("three"))
    async with ClaudeSDKClient(world.options(mcp_servers={"echo": echo()})) as client:
        await turn(client, "a")
        await client.toggle_mcp_server("echo", False)
        off = init(await turn(client, "b"))["tools"]
        await client.toggle_mcp_server("echo", True)
        on = init(await turn(client, "c"))["tools"]
    holds("mcp__echo__echo" not in off and "mcp__echo__echo" in on, f"{off} {on}")


async def check_a_server_reconnects(world):
    """Reconnecting keeps the tools; an unknown name is an error."""
    world.script(text("one"), tool("mcp__echo__echo", text="again"), text("two"))
    options = world.options(mcp_servers={"echo": echo()}, allowed_tools=["mcp__echo"])
    async with ClaudeSDKClient(options) as client:
        await turn(client, "a")
        await client.reconnect_mcp_server("echo")
        equal(results(await turn(client, "b")), [("echo: again", False)])
        try:
            await client.reconnect_mcp_server("nobody")
            failed = False
        except Exception:
            failed = True
    holds(failed, "an unknown server is an error")


async def check_two_servers_side_by_side(world):
    """A server of the host and a child do not disturb each other."""
    server, _ = calculator()
    world.script({"blocks": [{"type": "tool_use", "name": "mcp__calc__add", "input": {"a": 1, "b": 1}},
                             {"type": "tool_use", "name": "mcp__echo__echo", "input": {"text": "x"}}]}, text("done"))
    messages = await world.ask(streamed("go"), mcp_servers={"calc": server, "echo": echo()},
                               allowed_tools=["mcp__calc", "mcp__echo"])
    equal(sorted(results(messages)), [("2", False), ("echo: x", False)])
    equal(said(messages), "done")
