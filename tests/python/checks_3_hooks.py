"""Hooks: callbacks of the host, and commands of settings files."""
import json

from claude_agent_sdk import AgentDefinition, ClaudeSDKClient, HookMatcher

from world import bash, equal, holds, result, results, said, sent, streamed, text, tool, turn


class Hook:
    """A callback that remembers its inputs and gives one output."""

    def __init__(self, output=None):
        self.output, self.inputs = output or {}, []

    async def __call__(self, given, tool_use_id, context):
        self.inputs.append(given)
        return self.output(given) if callable(self.output) else self.output

    def on(self, event, matcher=None):
        return {event: [HookMatcher(matcher=matcher, hooks=[self])]}


def pre(**output):
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **output}}


async def check_a_hook_sees_a_call_before_it_runs(world):
    """PreToolUse has the tool, its input and the session's folders."""
    world.script(bash("echo hi"), text("done"))
    hook = Hook()
    await world.ask(streamed("go"), hooks=hook.on("PreToolUse", "Bash"))
    given = hook.inputs[0]
    equal((given["hook_event_name"], given["tool_name"], given["tool_input"]["command"]),
          ("PreToolUse", "Bash", "echo hi"))
    equal(given["cwd"], str(world.project))
    holds(given["transcript_path"].endswith(given["session_id"] + ".jsonl"), given["transcript_path"])


async def check_a_hook_denies(world):
    """The command does not run, and the model reads the reason."""
    world.script(bash("touch made"), text("done"))
    hook = Hook(pre(permissionDecision="deny", permissionDecisionReason="hooks say no"))
    messages = await world.ask(streamed("go"), hooks=hook.on("PreToolUse", "Bash"))
    equal((world.has("made"), results(messages)[0][1]), (False, True))
    holds("hooks say no" in results(messages)[0][0], results(messages))


async def check_a_hook_allows(world):
    """Nobody else is asked."""
    world.script(bash("touch made"), text("done"))
    await world.ask(streamed("go"), hooks=Hook(pre(permissionDecision="allow")).on("PreToolUse"))
    holds(world.has("made"), "the command ran")


async def check_a_hook_changes_the_input(world):
    """What runs is what the hook wrote."""
    world.script(bash("touch asked_for"), text("done"))
    hook = Hook(pre(permissionDecision="allow", updatedInput={"command": "touch changed"}))
    await world.ask(streamed("go"), hooks=hook.on("PreToolUse"))
    equal((world.has("asked_for"), world.has("changed")), (False, True))


async def check_a_matcher_chooses(world):
    """A hook for Write does not see Bash; a list sees both."""
    world.script(bash("echo hi"), text("done"))
    other, both = Hook(), Hook()
    hooks = {"PreToolUse": [HookMatcher(matcher="Write", hooks=[other]), HookMatcher(matcher="Write|Bash", hooks=[both])]}
    await world.ask(streamed("go"), hooks=hooks)
    equal((len(other.inputs), len(both.inputs)), (0, 1))


async def check_a_hook_sees_the_output(world):
    """PostToolUse has the response, and its context reaches the model."""
    world.script(bash("echo hi"), text("done"))
    hook = Hook({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "the tide is high"}})
    await world.ask(streamed("go"), hooks=hook.on("PostToolUse"))
    equal(hook.inputs[0]["tool_response"]["stdout"], "hi")
    holds("the tide is high" in sent(world.calls()[1]), "the context is at the API")


async def check_a_hook_sees_a_failure(world):
    """PostToolUseFailure says what went wrong."""
    world.script(bash("ls /no/such/folder/anywhere"), text("done"))
    hook = Hook()
    messages = await world.ask(streamed("go"), hooks=hook.on("PostToolUseFailure"), allowed_tools=["Bash"])
    equal(results(messages)[0][1], True)
    equal((hook.inputs[0]["tool_name"], bool(hook.inputs[0]["error"])), ("Bash", True))


async def check_a_hook_adds_to_the_prompt(world):
    """UserPromptSubmit has the prompt, and its context reaches the model."""
    world.script(text("done"))
    output = {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "it is raining"}}
    hook = Hook(output)
    await world.ask(streamed("what a day"), hooks=hook.on("UserPromptSubmit"))
    equal(hook.inputs[0]["prompt"], "what a day")
    holds("it is raining" in sent(world.calls()[0]), "the context is at the API")


async def check_a_hook_blocks_the_prompt(world):
    """Nothing reaches the model."""
    world.script(text("never"))
    await world.ask(streamed("secret"), hooks=Hook({"decision": "block", "reason": "no secrets"}).on("UserPromptSubmit"))
    equal(len(world.calls()), 0)


async def check_a_hook_keeps_the_turn_going(world):
    """Stop with a block makes the model go on, once."""
    world.script(text("finished?"), text("now finished"))

    def once(given):
        return {} if given["stop_hook_active"] else {"decision": "block", "reason": "you forgot the tests"}

    hook = Hook(once)
    messages = await world.ask(streamed("go"), hooks=hook.on("Stop"))
    equal([given["stop_hook_active"] for given in hook.inputs], [False, True])
    equal(result(messages).result, "now finished")
    holds("you forgot the tests" in sent(world.calls()[1]), "the reason is at the API")


async def check_a_hook_stops_everything(world):
    """`continue: false` ends the turn before the model is asked again."""
    world.script(bash("echo hi"), text("never"))
    hook = Hook({"continue_": False, "stopReason": "enough"})
    await world.ask(streamed("go"), hooks=hook.on("PostToolUse"))
    equal(len(world.calls()), 1)


async def check_a_hook_answers_the_approval(world):
    """PermissionRequest may decide instead of the host."""
    world.script(bash("touch made"), text("done"))
    decision = {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}
    hook = Hook({"hookSpecificOutput": decision})
    await world.ask(streamed("go"), hooks=hook.on("PermissionRequest"))
    equal((len(hook.inputs), hook.inputs[0]["tool_name"], world.has("made")), (1, "Bash", True))


async def check_hooks_follow_a_subagent(world):
    """SubagentStart and SubagentStop frame its work."""
    world.script({**text("sub says hi"), "when": "look around"},
                 tool("Task", description="look", prompt="look around", subagent_type="scout",
                      run_in_background=False), text("done"))
    start, stop = Hook(), Hook()
    scout = AgentDefinition(description="Scouts", prompt="You scout.")
    await world.ask(streamed("go"), agents={"scout": scout},
                    hooks={**start.on("SubagentStart"), **stop.on("SubagentStop")})
    equal([given["agent_type"] for given in start.inputs], ["scout"])
    equal([given["agent_type"] for given in stop.inputs], ["scout"])
    equal(start.inputs[0]["agent_id"], stop.inputs[0]["agent_id"])


async def check_a_hook_sees_compaction(world):
    """PreCompact fires for /compact with what the user asked."""
    world.script(text("one"), text("a summary"), text("after"))
    hook = Hook()
    async with ClaudeSDKClient(world.options(hooks=hook.on("PreCompact"))) as client:
        await turn(client, "first")
        await turn(client, "/compact keep the names")
    equal([(given["trigger"], given["custom_instructions"]) for given in hook.inputs], [("manual", "keep the names")])


async def check_a_hook_that_fails_does_no_harm(world):
    """An exception in a callback lets the tool run."""
    world.script(bash("echo hi"), text("done"))

    def fail(_):
        raise RuntimeError("the hook broke")

    messages = await world.ask(streamed("go"), hooks=Hook(fail).on("PreToolUse"))
    equal((results(messages), said(messages)), ([("hi", False)], "done"))


async def check_command_hooks_of_settings_run(world):
    """A command in the project's settings gets the call as JSON and may block it with exit code 2."""
    world.write(".claude/settings.json", {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
        {"type": "command", "command": "cat > seen.json; echo 'the file says no' >&2; exit 2"}]}]}})
    world.script(bash("touch made"), text("done"))
    messages = await world.ask("go", setting_sources=["project"], allowed_tools=["Bash"])
    seen = json.loads(world.project.joinpath("seen.json").read_text())
    equal((seen["hook_event_name"], seen["tool_input"]["command"]), ("PreToolUse", "touch made"))
    equal((world.has("made"), results(messages)[0][1]), (False, True))
    holds("the file says no" in results(messages)[0][0], results(messages))
