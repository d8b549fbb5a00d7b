"""Approvals: what the host is asked, and what its answer does."""
import json

from claude_agent_sdk import ClaudeSDKClient, PermissionResultAllow, PermissionResultDeny, PermissionUpdate
from claude_agent_sdk.types import PermissionRuleValue

from world import bash, equal, holds, result, results, said, streamed, text, tool, turn


class Asked:
    """A callback that remembers what it was asked and answers in turn; the last answer is repeated."""

    def __init__(self, *answers):
        self.answers, self.calls = list(answers), []

    async def __call__(self, name, given, context):
        self.calls.append((name, given, context))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return answer(name, given, context) if callable(answer) else answer


ALLOW = PermissionResultAllow()


async def check_the_host_allows(world):
    """The callback gets tool, input and id, and the command runs."""
    world.script(bash("touch made"), text("done"))
    asked = Asked(ALLOW)
    messages = await world.ask(streamed("go"), can_use_tool=asked)
    name, given, context = asked.calls[0]
    equal((name, given["command"], len(asked.calls)), ("Bash", "touch made", 1))
    holds(context.tool_use_id and context.suggestions, f"id and suggestions: {context}")
    holds(world.has("made") and not results(messages)[0][1], "the file is there")


async def check_the_host_denies(world):
    """Nothing runs, the model reads why, and the result lists the denial."""
    world.script(bash("touch made"), text("understood"))
    messages = await world.ask(streamed("go"), can_use_tool=Asked(PermissionResultDeny(message="not on my watch")))
    holds(not world.has("made"), "no file")
    equal(results(messages)[0][1], True)
    holds("not on my watch" in results(messages)[0][0], results(messages))
    holds("not on my watch" in json.dumps(world.calls()[1]["messages"]), "the model reads the reason")
    denials = result(messages).permission_denials
    equal([(d["tool_name"], d["tool_input"]["command"]) for d in denials], [("Bash", "touch made")])
    equal(said(messages), "understood")


async def check_the_host_changes_the_input(world):
    """What runs is what the host wrote."""
    world.script(bash("touch asked_for"), text("done"))
    changed = PermissionResultAllow(updated_input={"command": "touch changed"})
    await world.ask(streamed("go"), can_use_tool=Asked(changed))
    equal((world.has("asked_for"), world.has("changed")), (False, True))


async def check_the_host_denies_and_interrupts(world):
    """The turn ends there; the session goes on."""
    world.script(bash("touch made"), text("second turn"))
    asked = Asked(PermissionResultDeny(message="stop it", interrupt=True))
    async with ClaudeSDKClient(world.options(can_use_tool=asked)) as client:
        first = await turn(client, "go")
        equal((result(first).subtype, result(first).is_error), ("error_during_execution", True))
        equal(said(await turn(client, "again")), "second turn")
    holds(not world.has("made"), "no file")


async def check_a_rule_for_the_session_is_not_asked_again(world):
    """`updated_permissions` with a session rule settles later calls of the kind."""
    world.script(bash("touch a1"), bash("touch a2"), text("done"))
    rule = PermissionUpdate(type="addRules", behavior="allow", destination="session",
                            rules=[PermissionRuleValue("Bash", "touch:*")])
    asked = Asked(PermissionResultAllow(updated_permissions=[rule]))
    await world.ask(streamed("go"), can_use_tool=asked)
    equal(len(asked.calls), 1)
    holds(world.has("a1") and world.has("a2"), "both ran")


async def check_a_rule_is_kept_in_settings(world):
    """A rule for local settings is written to the project's file."""
    world.script(bash("touch a1"), text("done"))
    rule = PermissionUpdate(type="addRules", behavior="allow", destination="localSettings",
                            rules=[PermissionRuleValue("Bash", "touch:*")])
    await world.ask(streamed("go"), can_use_tool=Asked(PermissionResultAllow(updated_permissions=[rule])))
    written = json.loads(world.project.joinpath(".claude/settings.local.json").read_text())
    equal(written["permissions"]["allow"], ["Bash(touch:*)"])


async def check_suggestions_can_be_taken(world):
    """Taking the suggestions of an edit switches to acceptEdits, so the second edit is not asked."""
    world.script(tool("Write", file_path=str(world.project / "a"), content="1"),
                 tool("Write", file_path=str(world.project / "b"), content="2"), text("done"))
    asked = Asked(lambda name, given, context: PermissionResultAllow(updated_permissions=context.suggestions))
    await world.ask(streamed("go"), can_use_tool=asked)
    equal([update.type for update in asked.calls[0][2].suggestions], ["setMode"])
    equal((len(asked.calls), world.has("a"), world.has("b")), (1, True, True))


async def check_a_callback_that_fails_denies(world):
    """An exception in the callback is an error to the model, and the turn goes on."""
    world.script(bash("touch made"), text("went on"))

    def fail(*_):
        raise RuntimeError("the callback broke")

    messages = await world.ask(streamed("go"), can_use_tool=Asked(fail))
    equal((said(messages), world.has("made"), results(messages)[0][1]), ("went on", False, True))


async def check_allowed_tools_are_not_asked(world):
    """A rule of the options allows; what it does not cover is asked."""
    world.script(bash("touch a1"), bash("mkdir d1"), text("done"))
    asked = Asked(PermissionResultDeny(message="no"))
    await world.ask(streamed("go"), can_use_tool=asked, allowed_tools=["Bash(touch:*)"])
    equal([given["command"] for _, given, _ in asked.calls], ["mkdir d1"])
    equal((world.has("a1"), world.has("d1")), (True, False))


async def check_without_a_callback_nothing_runs(world):
    """Nobody to ask means no, and the denial is in the result."""
    world.script(bash("touch made"), text("done"))
    messages = await world.ask("go")
    holds(not world.has("made"), "no file")
    equal(len(result(messages).permission_denials), 1)


async def check_bypass_runs_everything(world):
    """The mode of the options asks nobody."""
    world.script(bash("touch made"), text("done"))
    messages = await world.ask("go", permission_mode="bypassPermissions")
    equal((world.has("made"), result(messages).permission_denials), (True, []))


async def check_accept_edits_edits_but_asks_for_commands(world):
    """Edits in the project run unasked in that mode, commands do not."""
    world.script(tool("Write", file_path=str(world.project / "a"), content="1"), bash("curl -s x"), text("done"))
    asked = Asked(PermissionResultDeny(message="no"))
    await world.ask(streamed("go"), can_use_tool=asked, permission_mode="acceptEdits")
    equal((world.has("a"), [name for name, _, _ in asked.calls]), (True, ["Bash"]))


async def check_plan_mode_ends_with_an_approval(world):
    """The plan is asked for, and allowing it leaves the mode."""
    world.script(tool("ExitPlanMode", plan="1. touch made"), text("planned"))
    asked = Asked(ALLOW)
    async with ClaudeSDKClient(world.options(can_use_tool=asked, permission_mode="plan")) as client:
        messages = await turn(client, "plan it")
    equal([name for name, _, _ in asked.calls], ["ExitPlanMode"])
    equal((said(messages), results(messages)[0][1]), ("planned", False))


async def check_questions_are_answered_by_the_host(world):
    """AskUserQuestion comes as an approval; the answers go to the model."""
    question = {"question": "Which colour?", "header": "Colour", "multiSelect": False, "options": [
        {"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]}
    world.script(tool("AskUserQuestion", questions=[question]), text("done"))
    asked = Asked(lambda name, given, context: PermissionResultAllow(
        updated_input={**given, "answers": {"Which colour?": "Blue"}}))
    messages = await world.ask(streamed("go"), can_use_tool=asked)
    equal(asked.calls[0][0], "AskUserQuestion")
    holds("Blue" in results(messages)[0][0], results(messages))
    holds("Blue" in json.dumps(world.calls()[1]["messages"]), "the answer is at the API")


async def check_a_path_outside_is_asked(world):
    """Reading outside the project needs an approval that names the path."""
    outside = world.root / "outside.txt"
    outside.write_text("secret")
    world.script(tool("Read", file_path=str(outside)), text("done"))
    asked = Asked(PermissionResultDeny(message="no"))
    await world.ask(streamed("go"), can_use_tool=asked)
    equal([(name, given["file_path"]) for name, given, _ in asked.calls], [("Read", str(outside))])
