"""What the SDK's own end-to-end suite and its examples touch beside the rest."""
from claude_agent_sdk import (
    AgentDefinition,
    AssistantMessage,
    ClaudeSDKClient,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    create_sdk_mcp_server,
    get_session_messages,
    query,
    tool as sdk_tool,
)
from mcp.types import ToolAnnotations

from world import bash, equal, holds, init, result, results, sent, streamed, text, tool, turn


async def two_turns(world):
    """A session of two turns: its id, the last message of the first turn and the prompt of the second one."""
    world.script(text("first answer"), text("second answer"))
    first = await world.ask("first prompt")
    session = result(first).session_id
    await world.ask("second prompt", resume=session)
    prompts = [m.uuid for m in get_session_messages(session, directory=str(world.project)) if m.type == "user"]
    return session, [m.uuid for m in first if isinstance(m, AssistantMessage)][-1], prompts


async def check_a_resume_drops_the_turn_it_names(world):
    """The turn after the fork point is the one that may go."""
    session, at, prompts = await two_turns(world)
    world.script(text("third answer"))
    messages = await world.ask("third prompt", resume=session, resume_session_at=at, resume_drops_turn=prompts[1],
                               fork_session=True)
    equal(result(messages).result, "third answer")
    history = sent(world.calls()[0])
    holds("first answer" in history and "second" not in history, history)


async def check_a_resume_that_would_drop_another_turn_is_refused(world):
    """The failure says so by name, and nothing is asked or written."""
    session, at, prompts = await two_turns(world)
    before = len(get_session_messages(session, directory=str(world.project)))
    world.script(text("third answer"))
    lines = []
    try:
        async for _ in query(prompt="third prompt", options=world.options(
                resume=session, resume_session_at=at, resume_drops_turn=prompts[0], stderr=lines.append)):
            pass
        failed = ""
    except Exception as error:
        failed = f"{error} {getattr(error, 'stderr', '')} {' '.join(lines)}"
    holds("Resume rejected by --resume-drops-turn:" in failed, failed)
    equal(len(world.calls()), 0)
    equal(len(get_session_messages(session, directory=str(world.project))), before)


async def check_debug_lines_come_on_stderr(world):
    """`--debug-to-stderr` reaches the callback, and the conversation is as ever."""
    world.script(text("hello"))
    lines = []
    messages = await world.ask("hi", stderr=lines.append, extra_args={"debug-to-stderr": None})
    equal(result(messages).result, "hello")
    holds(any(" [DEBUG] " in line for line in lines), f"{len(lines)} lines")


async def check_agents_may_be_larger_than_a_command_line(world):
    """They go through initialize, so no limit on arguments holds for them."""
    world.script(text("ok"))
    agents = {f"agent-{n}": AgentDefinition(description=f"The agent number {n}", prompt="x" * 20_000) for n in range(13)}
    async with ClaudeSDKClient(world.options(agents=agents)) as client:
        known = set(init(await turn(client, "hi"))["agents"])
    holds(set(agents) <= known, known)


async def check_a_plugin_brings_its_commands(world):
    """A plugin of a directory is in init, and its command expands under its name."""
    world.write("plug/.claude-plugin/plugin.json", {"name": "plug", "version": "1.0.0", "description": "a plugin"})
    world.write("plug/commands/greet.md", "---\ndescription: Greets\n---\nSay GREETINGS.\n")
    world.script(text("hello"))
    plugins = [{"type": "local", "path": str(world.project / "plug")}]
    messages = await world.ask("/plug:greet", plugins=plugins)
    holds("plug" in [plugin["name"] for plugin in init(messages)["plugins"]], init(messages)["plugins"])
    holds("GREETINGS" in sent(world.calls()[0]), "the command's text is at the API")


async def check_annotations_of_tools_are_shown(world):
    """What a host's tool says of itself is in the status, and a tool that only reads runs beside others."""
    ran = []

    def reader(name):
        @sdk_tool(name, "Reads", {"what": str}, annotations=ToolAnnotations(readOnlyHint=True))
        async def read(given):
            ran.append(given["what"])
            return {"content": [{"type": "text", "text": "read " + given["what"]}]}
        return read

    server = create_sdk_mcp_server("lib", tools=[reader("one"), reader("two")])
    calls = [{"type": "tool_use", "name": f"mcp__lib__{name}", "input": {"what": name}} for name in ("one", "two")]
    world.script({"blocks": calls}, text("done"))
    options = world.options(mcp_servers={"lib": server}, allowed_tools=["mcp__lib__one", "mcp__lib__two"])
    async with ClaudeSDKClient(options) as client:
        messages = await turn(client, "Call the mcp__lib__one tool with any text")
        status = await client.get_mcp_status()
    equal(sorted(ran), ["one", "two"])
    equal([t for t, _ in results(messages)], ["read one", "read two"])
    shown = status["mcpServers"][0]["tools"]
    equal([t["annotations"].get("readOnly") for t in shown], [True, True])


async def check_partial_thinking_adds_up(world):
    """The pieces of a thought come as events before the thought itself."""
    world.script({"blocks": [{"type": "thinking", "thinking": "let me see"}, {"type": "text", "text": "42"}]})
    messages = await world.ask("hi", include_partial_messages=True, max_thinking_tokens=2000)
    events = [m.event for m in messages if isinstance(m, StreamEvent)]
    deltas = [e["delta"] for e in events if e["type"] == "content_block_delta"]
    equal("".join(d["thinking"] for d in deltas if d["type"] == "thinking_delta"), "let me see")
    equal("".join(d["text"] for d in deltas if d["type"] == "text_delta"), "42")


async def check_a_long_command_is_a_task_and_ends(world):
    """Three seconds make a command a task, which is over before its result."""
    world.script(bash("for i in 1 2 3 4 5 6 7; do sleep 0.5; done; echo slept"), text("done"))
    messages = await world.ask("go", allowed_tools=["Bash"])
    kinds = [m.subtype for m in messages if isinstance(m, SystemMessage) and m.subtype.startswith("task_")]
    equal(kinds, ["task_started", "task_notification"])
    equal(results(messages), [("slept", False)])


async def check_a_prompt_waits_for_its_background_command(world):
    """The input of a plain prompt is over at once, and the command's end is a turn all the same."""
    background = tool("Bash", command="sleep 1; echo later", description="run it", run_in_background=True)
    world.script(background, text("started"), text("heard of it"))
    messages = await world.ask("go", allowed_tools=["Bash"])
    equal([m.result for m in messages if isinstance(m, ResultMessage)], ["started", "heard of it"])


async def check_settings_agents_commands_and_styles_come_by_source(world):
    """Each file counts only when its source is named."""
    world.write(".claude/agents/local-one.md", "---\nname: local-one\ndescription: helps\n---\nHelp.\n")
    world.write(".claude/commands/local-cmd.md", "Do LOCALLY.\n")
    (world.config / "agents").mkdir()
    (world.config / "agents" / "user-one.md").write_text("---\nname: user-one\ndescription: helps\n---\nHelp.\n")
    for sources, agents, commands in [
        (["user"], {"user-one"}, set()), (["project"], {"local-one"}, {"local-cmd"}), ([], set(), set()),
        (["user", "project", "local"], {"user-one", "local-one"}, {"local-cmd"}),
    ]:
        world.script(text("ok"))
        told = init(await world.ask("hi", setting_sources=sources))
        equal({"user-one", "local-one"} & set(told["agents"]), agents)
        equal({"local-cmd"} & set(told["slash_commands"]), commands)


async def check_nothing_runs_after_a_budget_is_spent(world):
    """The result names the limit, and its cost is not below it."""
    world.script(*[text("word " * 50)] * 3)
    messages = await world.ask(streamed("one", "two"), max_budget_usd=0.00001)
    last = result(messages)
    equal(last.subtype, "error_max_budget_usd")
    holds(last.total_cost_usd > 0, last.total_cost_usd)
