"""Prompts and answers."""
import json

from claude_agent_sdk import ClaudeSDKClient, StreamEvent, ThinkingBlock

from world import bash, blocks, equal, holds, init, result, results, said, sent, streamed, text, tool, turn, uses


async def check_a_query_is_answered(world):
    """One prompt, one answer, one result that belongs to the same session."""
    world.script(text("Hello there."))
    messages = await world.ask("hi")
    end = result(messages)
    equal(said(messages), "Hello there.")
    equal((end.subtype, end.is_error, end.num_turns, end.result), ("success", False, 1, "Hello there."))
    equal(end.session_id, init(messages)["session_id"])
    holds(end.total_cost_usd > 0 and end.usage["output_tokens"] == 5, f"cost and usage: {end}")
    holds(end.model_usage, "usage per model")


async def check_init_tells_about_the_session(world):
    """The first message says where, with what and how the session runs."""
    world.script(text("ok"))
    data = init(await world.ask("hi", permission_mode="acceptEdits"))
    equal(data["cwd"], str(world.project))
    equal(data["permissionMode"], "acceptEdits")
    holds({"Bash", "Read", "Edit", "Write"} <= set(data["tools"]), f"tools: {data['tools']}")
    holds(data["claude_code_version"].startswith("2."), data["claude_code_version"])
    equal(data["mcp_servers"], [])
    holds("compact" in data["slash_commands"], f"commands: {data['slash_commands']}")


async def check_a_tool_runs_and_its_result_goes_back(world):
    """A read-only command runs unasked; host and model see the same output."""
    world.script(bash("echo hello"), text("done"))
    messages = await world.ask("go")
    equal([(use.name, use.input["command"]) for use in uses(messages)], [("Bash", "echo hello")])
    equal(results(messages), [("hello", False)])
    equal(result(messages).num_turns, 2)
    call = world.calls()[1]
    answer = [block for block in call["messages"][-1]["content"] if block["type"] == "tool_result"]
    equal(len(answer), 1)
    holds("hello" in json.dumps(answer), f"tool result at the API: {answer}")


async def check_parallel_tools_answer_each_call(world):
    """Three calls in one message give three results, and one request carries them all."""
    calls = [{"type": "tool_use", "name": "Bash", "input": {"command": f"echo n{n}"}} for n in range(3)]
    world.script({"blocks": calls}, text("done"))
    messages = await world.ask("go")
    equal(sorted(results(messages)), [("n0", False), ("n1", False), ("n2", False)])
    equal(sent(world.calls()[1]).count('"type": "tool_result"'), 3)


async def check_a_stream_of_prompts_is_read(world):
    """A prompt may come as a stream of messages."""
    world.script(text("streamed"))
    messages = await world.ask(streamed("from a stream"))
    equal(said(messages), "streamed")
    holds("from a stream" in sent(world.calls()[0]), "the prompt is at the API")


async def check_a_client_holds_a_conversation(world):
    """The second turn's request carries the first one's messages."""
    world.script(text("one"), text("two"))
    async with ClaudeSDKClient(world.options()) as client:
        first, second = await turn(client, "first prompt"), await turn(client, "second prompt")
    equal((said(first), said(second)), ("one", "two"))
    equal(init(first)["session_id"], init(second)["session_id"])
    history = sent(world.calls()[1])
    holds(all(part in history for part in ("first prompt", "one", "second prompt")), history)


async def check_partial_messages_add_up(world):
    """Deltas come between message_start and message_stop and make up the whole text."""
    world.script(text("abcdefghij", chunks=5))
    messages = await world.ask("hi", include_partial_messages=True)
    events = [message.event for message in messages if isinstance(message, StreamEvent)]
    kinds = [event["type"] for event in events]
    equal((kinds[0], kinds[-1]), ("message_start", "message_stop"))
    deltas = [e["delta"]["text"] for e in events if e["type"] == "content_block_delta"]
    equal("".join(deltas), "abcdefghij")
    equal(len(deltas), 5)


async def check_no_partial_messages_unasked(world):
    """Without the option there are none."""
    world.script(text("abc"))
    holds(not blocks_of(await world.ask("hi"), StreamEvent), "no stream events")


def blocks_of(messages, kind):
    return [message for message in messages if isinstance(message, kind)]


async def check_thinking_is_shown(world):
    """A thinking block arrives as such, with its signature."""
    world.script({"blocks": [{"type": "thinking", "thinking": "let me see"}, {"type": "text", "text": "42"}]})
    messages = await world.ask("hi", max_thinking_tokens=2000)
    thoughts = blocks(messages, ThinkingBlock)
    equal([(thought.thinking, bool(thought.signature)) for thought in thoughts], [("let me see", True)])
    equal(said(messages), "42")


async def check_a_system_prompt_replaces_the_own(world):
    """The given prompt is at the API."""
    world.script(text("ok"))
    await world.ask("hi", system_prompt="You are a pirate named Flint.")
    holds("pirate named Flint" in json.dumps(world.calls()[0]["system"]), "the system prompt is at the API")


async def check_a_system_prompt_is_appended(world):
    """With the preset the text is added to the CLI's own prompt."""
    world.script(text("ok"))
    prompt = {"type": "preset", "preset": "claude_code", "append": "Mention the teapot."}
    await world.ask("hi", system_prompt=prompt)
    system = json.dumps(world.calls()[0]["system"])
    holds("Mention the teapot." in system and len(system) > 200, "own prompt and addition")


async def check_the_model_is_chosen(world):
    """The model of the options is asked and named."""
    world.script(text("ok"))
    messages = await world.ask("hi", model="claude-sonnet-4-5")
    equal(init(messages)["model"], "claude-sonnet-4-5")
    equal(world.calls()[0]["model"], "claude-sonnet-4-5")


async def check_turns_are_limited(world):
    """The third call of the model is one too many."""
    world.script(*[bash(f"echo {n}") for n in range(5)], text("never"))
    end = result(await world.ask("go", max_turns=2))
    equal((end.subtype, end.is_error, end.terminal_reason), ("error_max_turns", True, "max_turns"))
    equal(len(world.calls()), 2)


async def check_the_budget_is_kept(world):
    """A turn that cost too much is the last."""
    usage = {"input_tokens": 100000, "output_tokens": 5000}
    world.script({**bash("echo 1"), "usage": usage}, text("never"))
    end = result(await world.ask("go", max_budget_usd=0.01))
    equal((end.subtype, end.is_error), ("error_max_budget_usd", True))


async def check_output_has_the_asked_structure(world):
    """The tool for structured output is offered, and its input is the result."""
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    world.script(tool("StructuredOutput", n=7), text("done"))
    messages = await world.ask("count", output_format={"type": "json_schema", "schema": schema})
    equal(result(messages).structured_output, {"n": 7})
    holds("StructuredOutput" in [t["name"] for t in world.calls()[0]["tools"]], "the tool is offered")


async def check_wrong_structure_is_sent_back(world):
    """Output that does not fit is an error to the model, which tries again."""
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    world.script(tool("StructuredOutput", n="seven"), tool("StructuredOutput", n=7), text("done"))
    messages = await world.ask("count", output_format={"type": "json_schema", "schema": schema})
    equal(result(messages).structured_output, {"n": 7})
    equal([failed for _, failed in results(messages)][0], True)


async def check_only_named_tools_are_offered(world):
    """`tools` is the whole list."""
    world.script(text("ok"))
    messages = await world.ask("hi", tools=["Read", "Glob"])
    equal(sorted(init(messages)["tools"]), ["Glob", "Read"])
    offered = {t["name"] for t in world.calls()[0]["tools"]}
    holds({"Glob", "Read"} <= offered and "Bash" not in offered, f"at the API: {offered}")


async def check_no_tools_at_all(world):
    """An empty list means none; the model still answers."""
    world.script()
    messages = await world.ask("hi", tools=[])
    equal(init(messages)["tools"], [])
    equal(result(messages).subtype, "success")


async def check_a_disallowed_tool_is_gone(world):
    """It is neither listed nor offered."""
    world.script(text("ok"))
    messages = await world.ask("hi", disallowed_tools=["Bash"])
    holds("Bash" not in init(messages)["tools"], "not in init")
    holds("Bash" not in [t["name"] for t in world.calls()[0]["tools"]], "not at the API")


async def check_variables_reach_commands(world):
    """The environment of the options is that of the tools."""
    world.script(bash("printenv GREETING"), text("done"))
    messages = await world.ask("go", env={"GREETING": "ahoy"}, allowed_tools=["Bash"])
    equal(results(messages), [("ahoy", False)])


async def check_an_image_reaches_the_model(world):
    """Blocks of a prompt are passed on as they are."""
    pixel = ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5Er"
             "kJggg==")
    source = {"type": "base64", "media_type": "image/png", "data": pixel}
    world.script(text("a pixel"))
    await world.ask(streamed([{"type": "image", "source": source}, {"type": "text", "text": "what is it?"}]))
    holds('"type": "image"' in sent(world.calls()[0]), "the image is at the API")


async def check_files_are_read_written_and_edited(world):
    """The file tools work on the project and show what they did."""
    path = str(world.write("notes.txt", "alpha\nbeta\n"))
    world.script(tool("Read", file_path=path), tool("Edit", file_path=path, old_string="beta", new_string="gamma"),
                 tool("Write", file_path=str(world.project / "new.txt"), content="fresh\n"), text("done"))
    messages = await world.ask("go", permission_mode="acceptEdits")
    holds("alpha" in results(messages)[0][0] and "1" in results(messages)[0][0], "lines with numbers")
    equal(world.project.joinpath("notes.txt").read_text(), "alpha\ngamma\n")
    equal(world.project.joinpath("new.txt").read_text(), "fresh\n")
    equal([failed for _, failed in results(messages)], [False, False, False])
