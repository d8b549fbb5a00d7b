"""Subagents, given by the host or found in files."""
import json

from claude_agent_sdk import AgentDefinition, AssistantMessage, TaskNotificationMessage, get_subagent_messages, list_subagents

from world import equal, holds, init, result, results, said, sent, streamed, text, tool

SCOUT = AgentDefinition(description="Scouts ahead", prompt="You are the scout Ada.", tools=["Read"])


def errand(kind="scout", **more):
    return tool("Task", description="look", prompt="look around", subagent_type=kind, **more)


def scripted(world, *after):
    """The subagent's own turn is told by its prompt; everything else is the main model's."""
    world.script({**text("sub report"), "when": "look around"}, errand(run_in_background=False), *after)


async def check_a_subagent_works(world):
    """It runs with its own prompt, tools and messages, and its report goes to the main model."""
    scripted(world, text("done"))
    messages = await world.ask(streamed("go"), agents={"scout": SCOUT})
    calls = world.calls()
    holds("scout Ada" in json.dumps(calls[1]["system"]), "the agent's own prompt")
    offered = {t["name"] for t in calls[1]["tools"]}
    holds("Read" in offered and "Bash" not in offered, f"the agent's own tools: {offered}")
    holds("sub report" in results(messages)[0][0], results(messages))
    holds("sub report" in sent(calls[2]), "the report is at the API")
    equal(result(messages).result, "done")


async def check_an_analyzer_finds_files(world):
    """An agent that lists the tools for searching has them, though the main conversation has not; the host's example is one."""
    world.write("src/one.py", "needle = 1\n")
    world.write("src/two.py", "hay = 2\n")
    analyzer = AgentDefinition(description="Analyzes", prompt="You analyze.", tools=["Read", "Grep", "Glob"])
    world.script(
        {**tool("Glob", pattern="src/*.py"), "when": "look around"},
        errand("analyzer", run_in_background=False),
        tool("Grep", pattern="needle", output_mode="files_with_matches"),
        text("sub report"),
        text("done"),
    )
    await world.ask(streamed("go"), agents={"analyzer": analyzer})
    calls = world.calls()
    equal(sorted(t["name"] for t in calls[1]["tools"]), ["Glob", "Grep", "Read"])
    holds("Grep" not in {t["name"] for t in calls[0]["tools"]}, "the main conversation searches with commands")
    holds("one.py" in sent(calls[2]) and "two.py" in sent(calls[2]), "Glob finds both files")
    holds("one.py" in json.dumps(calls[3]["messages"][-1]), "Grep finds the one with the word")


async def check_agents_are_listed(world):
    """init names those of the host among the built-in ones."""
    world.script(text("ok"))
    agents = init(await world.ask(streamed("hi"), agents={"scout": SCOUT}))["agents"]
    holds({"scout", "general-purpose"} <= set(agents), agents)


async def check_agents_come_from_files(world):
    """A Markdown file of the project defines one, when project settings are read."""
    front = "---\nname: filed\ndescription: from a file\ntools: Read\n---\nYou were filed.\n"
    world.write(".claude/agents/filed.md", front)
    world.script({**text("sub report"), "when": "look around"}, errand("filed"), text("done"))
    messages = await world.ask("go", setting_sources=["project"])
    holds("filed" in init(messages)["agents"], init(messages)["agents"])
    holds(any("You were filed." in json.dumps(call.get("system")) for call in world.calls()), "its prompt is at the API")


async def check_a_subagents_text_is_forwarded(world):
    """On request its messages arrive with the id of the call that started it."""
    scripted(world, text("done"))
    messages = await world.ask(streamed("go"), agents={"scout": SCOUT}, forward_subagent_text=True)
    inner = [m for m in messages if isinstance(m, AssistantMessage) and m.parent_tool_use_id]
    holds("sub report" in said(inner), inner)


async def check_an_unknown_agent_is_an_error(world):
    """The model reads which ones there are."""
    world.script(errand("nobody"), text("done"))
    messages = await world.ask(streamed("go"), agents={"scout": SCOUT})
    equal(results(messages)[0][1], True)
    holds("scout" in results(messages)[0][0], results(messages))


async def check_a_subagents_transcript_is_read(world):
    """The SDK finds it below its session."""
    scripted(world, text("done"))
    messages = await world.ask(streamed("go"), agents={"scout": SCOUT})
    session = result(messages).session_id
    found = list_subagents(session, directory=str(world.project))
    equal(len(found), 1)
    lines = get_subagent_messages(session, found[0], directory=str(world.project))
    holds("sub report" in json.dumps([line.message for line in lines]), lines)


async def check_a_background_subagent_reports_later(world):
    """The call returns at once; its end starts a turn of its own."""
    world.script({**text("sub report"), "when": "look around"}, errand(run_in_background=True), text("started"),
                 text("noted"))
    messages = await world.ask(streamed("go"), agents={"scout": SCOUT})
    ended = [m for m in messages if isinstance(m, TaskNotificationMessage)]
    equal([m.status for m in ended], ["completed"])
