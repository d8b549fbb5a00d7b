"""Options that only change how the CLI is started or what reaches the API."""
import json

from claude_agent_sdk import SystemMessage

from world import SERVER, bash, equal, holds, init, python, result, results, said, sent, text, tool


async def check_a_fallback_model_answers(world):
    """A model that is broken is replaced for the turn, and the host is told."""
    world.script({"error": 500}, text("from another"))
    messages = await world.ask("hi", model="opus", fallback_model="sonnet")
    equal([call["model"] for call in world.calls()], ["claude-opus-5-5", "claude-sonnet-5-5"])
    equal((said(messages), result(messages).is_error), ("from another", False))
    told = [m.data["fallback_model"] for m in messages
            if isinstance(m, SystemMessage) and m.subtype == "model_fallback"]
    equal(told, ["claude-sonnet-5-5"])


async def check_betas_are_in_init(world):
    """A beta that users may switch on is one of the session's."""
    world.script(text("ok"))
    messages = await world.ask("hi", betas=["context-1m-2025-08-07"])
    equal(result(messages).is_error, False)


async def check_effort_reaches_the_api(world):
    """The level is in the request."""
    world.script(text("ok"))
    await world.ask("hi", effort="low")
    equal(world.calls()[0]["output_config"]["effort"], "low")


async def check_a_task_budget_reaches_the_api(world):
    """The model is told how many tokens a task may use."""
    world.script(text("ok"))
    await world.ask("hi", task_budget={"total": 50_000})
    equal(world.calls()[0]["output_config"]["task_budget"]["total"], 50_000)


async def check_only_the_given_servers(world):
    """With strict_mcp_config the project's servers do not count."""
    world.write(".mcp.json", {"mcpServers": {"other": {"command": python(), "args": [SERVER]}}})
    world.script(text("ok"))
    given = {"echo": {"type": "stdio", "command": python(), "args": [SERVER]}}
    messages = await world.ask("hi", mcp_servers=given, strict_mcp_config=True)
    equal([server["name"] for server in init(messages)["mcp_servers"]], ["echo"])


async def check_servers_come_from_a_file(world):
    """mcp_servers may name a file."""
    path = world.write("servers.json", {"mcpServers": {"echo": {"command": python(), "args": [SERVER]}}})
    world.script(text("ok"))
    messages = await world.ask("hi", mcp_servers=str(path), setting_sources=[])
    equal([server["name"] for server in init(messages)["mcp_servers"]], ["echo"])


async def check_another_directory_is_a_working_directory(world):
    """A file in a directory of add_dirs is read without asking."""
    other = world.root / "other"
    other.mkdir()
    (other / "note.txt").write_text("the tide turns at six")
    world.script(tool("Read", file_path=str(other / "note.txt")), text("ok"))
    messages = await world.ask("hi", add_dirs=[other])
    holds("the tide turns at six" in results(messages)[0][0], "it was read")


async def check_hook_events_are_told(world):
    """With include_hook_events the frames of a command hook come along."""
    hooks = {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "echo noted"}]}]}
    world.script(text("ok"))
    messages = await world.ask("hi", settings=json.dumps({"hooks": hooks}), include_hook_events=True)
    kinds = [getattr(message, "subtype", None) for message in messages]
    holds("hook_started" in kinds and "hook_response" in kinds, kinds)


async def check_a_verbatim_prompt_is_no_command(world):
    """What begins with a slash goes to the model as it is."""
    world.script(text("ok"))
    await world.ask("/clear the table", verbatim_prompts=True)
    holds("/clear the table" in sent(world.calls()[0]), "it is at the API")


async def check_a_system_prompt_comes_from_a_file(world):
    """The file's words are the system prompt."""
    path = world.write("prompt.txt", "You keep the lighthouse.")
    world.script(text("ok"))
    await world.ask("hi", system_prompt={"type": "file", "path": str(path)})
    holds("You keep the lighthouse." in json.dumps(world.calls()[0]["system"]), "it is at the API")


async def check_surroundings_move_to_the_first_message(world):
    """With exclude_dynamic_sections the directory is not in the system prompt."""
    world.script(text("ok"))
    prompt = {"type": "preset", "preset": "claude_code", "exclude_dynamic_sections": True}
    await world.ask("hi", system_prompt=prompt)
    call = world.calls()[0]
    holds(str(world.project) not in json.dumps(call["system"]), "not in the system prompt")


async def check_a_resumed_session_keeps_its_prompt(world):
    """The prompt of the first process is sent again, unless there is no snapshot of it."""
    for snapshot, expected in ((True, "lighthouse"), (False, "harbour")):
        prompt = lambda words: {"type": "custom", "prompt": f"You keep the {words}.", "snapshot": snapshot}
        world.script(text("one"))
        messages = await world.ask("hi", system_prompt=prompt("lighthouse"))
        world.script(text("two"))
        session = result(messages).session_id
        await world.ask("more", system_prompt=prompt("harbour"), resume=session)
        holds(f"You keep the {expected}." in json.dumps(world.calls()[-1]["system"]), (snapshot, expected))


async def check_a_tool_answers_for_the_user(world):
    """permission_prompt_tool_name asks a tool of a server instead of the host."""
    world.script(bash("touch made"), text("ok"))
    given = {"echo": {"type": "stdio", "command": python(), "args": [SERVER]}}
    messages = await world.ask("hi", mcp_servers=given, permission_prompt_tool_name="mcp__echo__none")
    equal((world.has("made"), results(messages)[0][1]), (False, True))


async def check_sandbox_settings_are_taken(world):
    """They are merged into the settings, which still hold."""
    world.script(bash("touch made"), text("ok"))
    settings = json.dumps({"permissions": {"deny": ["Bash(touch:*)"]}})
    messages = await world.ask("hi", settings=settings, sandbox={"enabled": False})
    equal((world.has("made"), results(messages)[0][1]), (False, True))
