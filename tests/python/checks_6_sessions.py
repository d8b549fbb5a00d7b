"""Sessions on disk: what the SDK reads of them, and going on with them."""
import json
import uuid

from claude_agent_sdk import (
    AssistantMessage,
    InMemorySessionStore,
    ProcessError,
    UserMessage,
    delete_session,
    fork_session,
    get_session_info,
    get_session_messages,
    list_sessions,
    project_key_for_directory,
    rename_session,
    tag_session,
)

from world import bash, equal, holds, result, results, said, sent, text


async def talk(world, *turns, prompt="remember the lighthouse", **given):
    """A first session; gives its id."""
    world.script(*(turns or (text("noted"),)))
    return result(await world.ask(prompt, **given)).session_id


def transcript(world, session):
    found = list(world.config.glob(f"projects/*/{session}.jsonl"))
    equal(len(found), 1, "transcripts of the session")
    return found[0]


async def check_a_session_is_listed(world):
    """The SDK lists it for its folder with its first prompt."""
    session = await talk(world)
    found = list_sessions(directory=str(world.project))
    equal([(s.session_id, s.first_prompt, s.cwd) for s in found],
          [(session, "remember the lighthouse", str(world.project))])


async def check_a_session_is_read(world):
    """The SDK reads the conversation in order, tools included."""
    session = await talk(world, bash("echo hi"), text("noted"))
    lines = get_session_messages(session, directory=str(world.project))
    equal([line.type for line in lines], ["user", "assistant", "user", "assistant"])
    whole = json.dumps([line.message for line in lines])
    holds(all(part in whole for part in ("remember the lighthouse", "echo hi", "tool_result", "noted")), whole)


async def check_ids_on_the_wire_are_those_on_disk(world):
    """A message's uuid finds its line."""
    world.script(text("noted"))
    messages = await world.ask("hi")
    wire = [m.uuid for m in messages if isinstance(m, AssistantMessage)]
    lines = get_session_messages(result(messages).session_id, directory=str(world.project))
    equal([line.uuid for line in lines if line.type == "assistant"], wire)


async def check_a_session_is_resumed(world):
    """The same id, and the model gets what was said before."""
    session = await talk(world)
    world.script(text("the lighthouse"))
    messages = await world.ask("what was it?", resume=session)
    equal(result(messages).session_id, session)
    history = sent(world.calls()[0])
    holds("remember the lighthouse" in history and "noted" in history, history)
    equal(len(get_session_messages(session, directory=str(world.project))), 4)


async def check_the_last_session_is_continued(world):
    """No id is needed for the latest one of the folder."""
    session = await talk(world)
    world.script(text("again"))
    messages = await world.ask("and?", continue_conversation=True)
    equal(result(messages).session_id, session)
    holds("remember the lighthouse" in sent(world.calls()[0]), "the history is at the API")


async def check_a_session_is_forked(world):
    """A new id with the old history; the old session stays as it was."""
    session = await talk(world)
    before = transcript(world, session).read_bytes()
    world.script(text("branched"))
    messages = await world.ask("go on", resume=session, fork_session=True)
    holds(result(messages).session_id != session, "a new id")
    holds("remember the lighthouse" in sent(world.calls()[0]), "the old history")
    equal(transcript(world, session).read_bytes() == before, True, "the old file is untouched")


async def check_a_session_gets_the_given_id(world):
    """The host may choose it."""
    chosen = str(uuid.uuid4())
    equal(await talk(world, session_id=chosen), chosen)
    holds(transcript(world, chosen).exists(), "its file")


async def check_an_unknown_session_is_refused(world):
    """Nothing reaches the model, and stderr says why."""
    world.script(text("never"))
    lines = []
    try:
        await world.ask("hi", resume=str(uuid.uuid4()), stderr=lines.append)
        failed = False
    except Exception:
        failed = True
    holds(failed, "the query fails")
    equal(len(world.calls()), 0)
    holds("No conversation found" in "\n".join(lines), f"stderr: {lines}")


async def check_a_session_is_resumed_at_a_message(world):
    """What came after that message is gone."""
    world.script(text("first answer"), text("second answer"))
    first = await world.ask("first prompt")
    session = result(first).session_id
    await world.ask("second prompt", resume=session)
    at = [m.uuid for m in first if isinstance(m, AssistantMessage)][-1]
    world.script(text("third answer"))
    await world.ask("third prompt", resume=session, resume_session_at=at)
    history = sent(world.calls()[0])
    holds("first answer" in history and "second" not in history, history)


async def check_a_renamed_and_tagged_session(world):
    """The SDK's own edits of the file do not disturb resuming it."""
    session = await talk(world)
    rename_session(session, "The Lighthouse", directory=str(world.project))
    tag_session(session, "sea", directory=str(world.project))
    info = get_session_info(session, directory=str(world.project))
    equal((info.custom_title, info.tag), ("The Lighthouse", "sea"))
    world.script(text("still here"))
    equal(said(await world.ask("hello?", resume=session)), "still here")
    holds("remember the lighthouse" in sent(world.calls()[0]), "the history is at the API")


async def check_a_session_forked_by_the_sdk_resumes(world):
    """A file that the SDK wrote is as good as the CLI's own."""
    session = await talk(world)
    fork = fork_session(session, directory=str(world.project)).session_id
    world.script(text("from the fork"))
    messages = await world.ask("go on", resume=fork)
    equal(result(messages).session_id, fork)
    holds("remember the lighthouse" in sent(world.calls()[0]), "the history is at the API")


async def check_a_deleted_session_is_gone(world):
    """It is no longer listed and cannot be resumed."""
    session = await talk(world)
    delete_session(session, directory=str(world.project))
    equal(list_sessions(directory=str(world.project)), [])


async def check_nothing_is_kept_when_asked(world):
    """Without persistence there is no file."""
    world.script(text("noted"))
    await world.ask("hi", extra_args={"no-session-persistence": None})
    equal(list(world.config.glob("projects/*/*.jsonl")), [])


async def check_a_store_mirrors_the_session(world):
    """Every line also reaches the store of the host."""
    store = InMemorySessionStore()
    session = await talk(world, bash("echo hi"), text("noted"), session_store=store)
    key = {"project_key": project_key_for_directory(str(world.project)), "session_id": session}
    entries = await store.load(key)
    whole = json.dumps(entries)
    holds(all(part in whole for part in ("remember the lighthouse", "echo hi", "noted")), whole[:500])
    kinds = [entry["type"] for entry in entries if entry["type"] in ("user", "assistant")]
    equal(kinds, ["user", "assistant", "user", "assistant"])


async def check_a_session_is_resumed_from_a_store(world):
    """The file may be gone: the store has it all."""
    store = InMemorySessionStore()
    session = await talk(world, session_store=store)
    transcript(world, session).unlink()
    world.script(text("from the store"))
    messages = await world.ask("go on", resume=session, session_store=store)
    equal(said(messages), "from the store")
    holds("remember the lighthouse" in sent(world.calls()[0]), "the history is at the API")
