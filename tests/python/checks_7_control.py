"""What a host does while a session runs."""
import asyncio
import json
import time

from claude_agent_sdk import ClaudeSDKClient, ResultMessage, SystemMessage, TaskNotificationMessage, TaskStartedMessage, UserMessage

from world import bash, equal, holds, init, result, results, said, sent, text, tool, turn, uses


async def check_a_turn_is_interrupted_while_it_streams(world):
    """The result comes soon, and the session goes on."""
    world.script(text("x" * 400, chunks=100, chunk_delay=0.2), text("back again"))
    async with ClaudeSDKClient(world.options()) as client:
        await client.query("go")
        stream = client.receive_response()
        await anext(stream)
        await asyncio.sleep(0.5)
        start = time.time()
        await client.interrupt()
        rest = [message async for message in stream]
        equal((result(rest).subtype, result(rest).is_error), ("error_during_execution", True))
        holds(time.time() - start < 5, "within five seconds")
        equal(said(await turn(client, "again")), "back again")


async def check_a_command_is_interrupted(world):
    """It is killed, not awaited."""
    world.script(bash("sleep 20"), text("back again"))
    async with ClaudeSDKClient(world.options(permission_mode="bypassPermissions")) as client:
        await client.query("go")
        stream = client.receive_response()
        while not uses([await anext(stream)]):
            pass
        await asyncio.sleep(1.5)
        start = time.time()
        await client.interrupt()
        rest = [message async for message in stream]
        equal((result(rest).subtype, result(rest).is_error), ("error_during_execution", True))
        holds(time.time() - start < 10, f"it took {time.time() - start:.1f} s")
        equal(said(await turn(client, "again")), "back again")


async def check_the_model_is_switched(world):
    """The next request asks the new one."""
    world.script(text("one"), text("two"))
    async with ClaudeSDKClient(world.options(model="claude-sonnet-4-5")) as client:
        await turn(client, "a")
        await client.set_model("claude-haiku-4-5")
        await turn(client, "b")
    equal([call["model"] for call in world.calls()], ["claude-sonnet-4-5", "claude-haiku-4-5"])


async def check_the_mode_is_switched(world):
    """In acceptEdits a write is no longer denied."""
    world.script(tool("Write", file_path=str(world.project / "a"), content="1"), text("no"),
                 tool("Write", file_path=str(world.project / "b"), content="2"), text("yes"))
    async with ClaudeSDKClient(world.options()) as client:
        await turn(client, "a")
        await client.set_permission_mode("acceptEdits")
        second = await turn(client, "b")
    equal((world.has("a"), world.has("b"), init(second)["permissionMode"]), (False, True, "acceptEdits"))


async def check_the_server_tells_what_it_has(world):
    """The answer to initialize has commands, models and output styles."""
    world.script()
    async with ClaudeSDKClient(world.options()) as client:
        info = await client.get_server_info()
    holds({"commands", "models", "output_style", "account"} <= set(info), sorted(info))
    holds("compact" in [command["name"] for command in info["commands"]], "commands by name")
    holds(all("value" in model and "displayName" in model for model in info["models"]), "models")


async def check_context_is_counted(world):
    """Categories with tokens, a model and a limit."""
    world.script(text("ok"))
    async with ClaudeSDKClient(world.options()) as client:
        await turn(client, "hi")
        usage = await client.get_context_usage()
    holds(usage["categories"] and all("tokens" in part for part in usage["categories"]), usage)
    holds(usage["maxTokens"] > 0 and usage["totalTokens"] > 0 and usage["model"], usage)


async def check_files_are_rewound(world):
    """Going back to a message takes its edits back."""
    path = world.write("notes.txt", "before\n")
    world.script(tool("Write", file_path=str(path), content="after\n"),
                 tool("Write", file_path=str(world.project / "new.txt"), content="new\n"), text("done"))
    options = world.options(permission_mode="acceptEdits", enable_file_checkpointing=True,
                            extra_args={"replay-user-messages": None})
    world.write("ignored", "")
    async with ClaudeSDKClient(options) as client:
        messages = await turn(client, "edit it")
        mark = next(m.uuid for m in messages if isinstance(m, UserMessage) and m.uuid)
        equal((path.read_text(), world.has("new.txt")), ("after\n", True))
        await client.rewind_files(mark)
        equal((path.read_text(), world.has("new.txt")), ("before\n", False))


async def check_background_commands_report(world):
    """A command in the background is announced, ends, and wakes the model."""
    world.script(tool("Bash", command="sleep 1; echo ready", description="wait", run_in_background=True),
                 text("started"), text("it is ready"))
    seen = []
    async with ClaudeSDKClient(world.options(permission_mode="bypassPermissions")) as client:
        await client.query("go")
        async for message in client.receive_messages():
            seen.append(message)
            if len([m for m in seen if isinstance(m, ResultMessage)]) == 2:
                break
    equal(len([m for m in seen if isinstance(m, TaskStartedMessage)]), 1)
    equal([m.status for m in seen if isinstance(m, TaskNotificationMessage)], ["completed"])
    equal(result(seen).result, "it is ready")


async def check_a_background_command_is_stopped(world):
    """The host ends it by its id."""
    world.script(tool("Bash", command="sleep 60", description="wait", run_in_background=True), text("started"),
                 text("stopped"))
    async with ClaudeSDKClient(world.options(permission_mode="bypassPermissions")) as client:
        first = await turn(client, "go")
        task = next(m.task_id for m in first if isinstance(m, TaskStartedMessage))
        await client.stop_task(task)
        async for message in client.receive_messages():
            if isinstance(message, SystemMessage) and message.subtype == "task_updated":
                equal(message.data["patch"]["status"], "killed")
                break


async def check_a_second_prompt_waits_its_turn(world):
    """A prompt sent while a turn runs is answered after it or with it, never lost."""
    world.script(text("first", delay=1), text("second"))
    async with ClaudeSDKClient(world.options()) as client:
        await client.query("prompt one")
        await asyncio.sleep(0.3)
        await client.query("prompt two")
        first, second = await turn(client), await turn(client)
    equal((said(first), said(second)), ("first", "second"))
    holds("prompt two" in sent(world.calls()[1]), "the second prompt is at the API")
