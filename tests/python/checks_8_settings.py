"""Settings files, memory, commands, skills; and errors."""
import json

from claude_agent_sdk import ClaudeSDKClient, ConversationResetMessage, ProcessError

from world import bash, equal, holds, init, result, results, said, sent, text, tool, turn


async def check_memory_reaches_the_model(world):
    """CLAUDE.md of the project is part of the first request when project settings are read."""
    world.write("CLAUDE.md", "The harbour master is called Ines.")
    world.script(text("ok"))
    await world.ask("hi", setting_sources=["project"])
    holds("called Ines" in json.dumps(world.calls()[0]), "it is at the API")


async def check_no_sources_no_files(world):
    """With an empty list neither memory nor rules are read."""
    world.write("CLAUDE.md", "The harbour master is called Ines.")
    world.write(".claude/settings.json", {"permissions": {"allow": ["Bash(touch:*)"]}})
    world.script(bash("touch made"), text("ok"))
    await world.ask("hi", setting_sources=[])
    equal(("called Ines" in json.dumps(world.calls()[0]), world.has("made")), (False, False))


async def check_user_settings_are_read(world):
    """Rules and variables of the user's file hold."""
    settings = {"permissions": {"allow": ["Bash(printenv:*)"]}, "env": {"HARBOUR": "Ines"}}
    (world.config / "settings.json").write_text(json.dumps(settings))
    world.script(bash("printenv HARBOUR"), text("ok"))
    messages = await world.ask("hi", setting_sources=["user"])
    equal(results(messages), [("Ines", False)])


async def check_settings_are_given_as_text(world):
    """A deny rule of inline settings wins over the mode."""
    world.script(bash("touch made"), text("ok"))
    settings = json.dumps({"permissions": {"deny": ["Bash(touch:*)"]}})
    messages = await world.ask("hi", settings=settings, permission_mode="bypassPermissions")
    equal((world.has("made"), results(messages)[0][1]), (False, True))


async def check_a_command_of_the_project_expands(world):
    """Its text with the arguments is what the model reads."""
    world.write(".claude/commands/greet.md", "---\ndescription: greets\n---\nSay hello to $ARGUMENTS at once.")
    world.script(text("hello"))
    messages = await world.ask("/greet the crew", setting_sources=["project"])
    holds("greet" in init(messages)["slash_commands"], init(messages)["slash_commands"])
    holds("Say hello to the crew at once." in sent(world.calls()[0]), sent(world.calls()[0]))


async def check_an_unknown_command_is_plain_text(world):
    """A word after a slash that is no command goes to the model as it is."""
    world.script(text("no idea"))
    messages = await world.ask("/nosuchcommand now")
    holds("/nosuchcommand now" in sent(world.calls()[0]), sent(world.calls()[0]))
    equal(said(messages), "no idea")


async def check_compaction_forgets_the_old_messages(world):
    """After /compact the next request has the summary instead of what was said."""
    world.script(text("one"), text("SUMMARY OF IT ALL"), text("two"))
    async with ClaudeSDKClient(world.options()) as client:
        await turn(client, "the very first prompt")
        await turn(client, "/compact")
        await turn(client, "go on")
    last = sent(world.calls()[-1])
    holds("go on" in last and "the very first prompt" not in last, last)


async def check_clearing_starts_anew(world):
    """/clear gives a new session without history."""
    world.script(text("one"), text("two"))
    async with ClaudeSDKClient(world.options()) as client:
        first = await turn(client, "the very first prompt")
        cleared = await turn(client, "/clear")
        second = await turn(client, "go on")
    holds(any(isinstance(m, ConversationResetMessage) for m in cleared), cleared)
    holds(result(second).session_id != result(first).session_id, "a new id")
    holds("the very first prompt" not in sent(world.calls()[-1]), "no history")


async def check_a_skill_is_used(world):
    """It is listed, and calling it hands its text to the model."""
    world.write(".claude/skills/knots/SKILL.md", "---\nname: knots\ndescription: ties knots\n---\nUse a bowline.")
    world.script(tool("Skill", skill="knots"), text("tied"))
    messages = await world.ask("go", setting_sources=["project"], allowed_tools=["Skill"])
    holds("knots" in init(messages)["skills"], init(messages)["skills"])
    holds("Use a bowline." in sent(world.calls()[1]), sent(world.calls()[1]))


async def check_an_output_style_is_named(world):
    """init says which one is set."""
    (world.config / "settings.json").write_text(json.dumps({"outputStyle": "Explanatory"}))
    world.script(text("ok"))
    equal(init(await world.ask("hi", setting_sources=["user"]))["output_style"], "Explanatory")


async def check_an_api_error_is_a_result(world):
    """It ends the turn as an error with the status."""
    world.script({"error": 400, "message": "no such thing", "repeat": 9})
    end = result(await world.ask("hi"))
    equal((end.subtype, end.is_error, end.terminal_reason, end.api_error_status), ("success", True, "api_error", 400))


async def check_an_overloaded_api_is_asked_again(world):
    """Two failures and an answer are an answer."""
    world.script({"error": 529}, {"error": 529}, text("at last"))
    end = result(await world.ask("hi"))
    equal((end.is_error, end.result, len(world.calls())), (False, "at last", 3))


async def check_a_broken_stream_is_asked_again(world):
    """An error event in the stream is not the end."""
    world.script({"stream_error": "overloaded_error", "text": "par"}, text("at last"))
    end = result(await world.ask("hi"))
    equal((end.is_error, end.result), (False, "at last"))


async def check_an_unknown_flag_is_refused(world):
    """The process ends with an error that names it."""
    world.script(text("never"))
    lines = []
    try:
        await world.ask("hi", extra_args={"no-such-flag": None}, stderr=lines.append)
        failed = False
    except Exception:
        failed = True
    holds(failed, "the query fails")
    holds("no-such-flag" in "\n".join(lines), f"stderr: {lines}")


async def check_stderr_is_quiet(world):
    """A clean run writes nothing there."""
    world.script(bash("echo hi"), text("ok"))
    lines = []
    await world.ask("hi", stderr=lines.append)
    equal(lines, [])


async def check_a_failing_tool_does_not_end_the_turn(world):
    """A missing file is an error to the model, no more."""
    world.script(tool("Read", file_path=str(world.project / "missing.txt")), text("so be it"))
    messages = await world.ask("go")
    equal((results(messages)[0][1], result(messages).result), (True, "so be it"))
