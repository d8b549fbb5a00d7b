//! Transcripts that go to a store, and come back from it.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pilothouse::proto::{AgentFrame, System};
use pilothouse::session_store::{
    Entry, InMemoryStore, SessionKey, SessionStore, SessionStoreError, StoreFlush, StoreFuture,
    StoredSession, StoredSessions, import_session,
};
use pilothouse::sessions::{ForkOptions, ListOptions, MessageOptions, SessionId, Store, project_key};
use pilothouse::{Error, Event, Options, OptionsError};
use pilothouse_testkit::Sandbox;
use serde_json::{Value, json};

use crate::harness::{read, within};

const ID: &str = "00000000-0000-4000-8000-00000000000a";

/// Mirrors one entry before its result and one after it; the result says where it runs, and what it was to go on with.
const MIRRORING: &str = r#"#!/bin/sh
field() { printf '%s' "$line" | sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/"; }
read -r line
printf '{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":{"commands":[],"agents":[],"output_style":"default","available_output_styles":[],"models":[],"account":{}}}}\n' "$(field request_id)"
read -r line
uuid=$(field uuid)
project="$CLAUDE_CONFIG_DIR/projects/$PROJECT_KEY"
mirror() { printf '{"type":"transcript_mirror","filePath":"%s","entries":[%s]}\n' "$1" "$2"; }
mirror "$project/$SESSION.jsonl" '{"type":"user","uuid":"before"}'
mirror "/elsewhere/$SESSION.jsonl" '{"type":"user","uuid":"elsewhere"}'
mirror "$project/$SESSION/subagents/agent-1.jsonl" '{"type":"agent_metadata","toolUseId":"t"},{"type":"user","uuid":"sub"}'
found=$(cd "$CLAUDE_CONFIG_DIR" && find . -type f | sort | tr '\n' ' '; cat "$project/$SESSION.jsonl" .claude.json 2>/dev/null | tr -d '"\n'; cat settings.json .credentials.json "$project/$SESSION/subagents/agent-1.meta.json" 2>/dev/null | tr -d '"\n')
printf '{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"num_turns":1,"result":"%s %s %s","session_id":"%s","total_cost_usd":0,"uuid":"r","user_message_uuids":["%s"]}\n' "$CLAUDE_CONFIG_DIR" "$*" "$found" "$SESSION" "$uuid"
mirror "$project/$SESSION.jsonl" '{"type":"assistant","uuid":"after"}'
read -r line
"#;

fn options(sandbox: &Sandbox, store: Arc<dyn SessionStore>) -> Options {
    let agent = sandbox.write("mirroring", MIRRORING).unwrap();
    std::fs::set_permissions(&agent, std::fs::Permissions::from_mode(0o755)).unwrap();
    Options::new()
        .executable(agent)
        .cwd(sandbox.project())
        .env("CLAUDE_CONFIG_DIR", sandbox.config().to_string_lossy())
        .env("PROJECT_KEY", project_key(&sandbox.project()))
        .env("SESSION", ID)
        .session_store(store)
}

fn key(sandbox: &Sandbox) -> SessionKey {
    SessionKey::main(project_key(&sandbox.project()), ID)
}

async fn uuids(store: &InMemoryStore, key: &SessionKey) -> Vec<String> {
    let entries = store.load(key).await.unwrap().unwrap_or_default();
    entries.iter().filter_map(|entry| entry.get("uuid")?.as_str().map(str::to_owned)).collect()
}

fn entry(value: Value) -> Entry {
    value.as_object().cloned().unwrap()
}

#[tokio::test]
async fn a_store_gets_what_the_cli_writes() {
    for flush in [StoreFlush::Batched, StoreFlush::Eager] {
        let sandbox = Sandbox::new().unwrap();
        let store = Arc::new(InMemoryStore::default());
        let options = options(&sandbox, store.clone()).session_store_flush(flush);
        let session = within(options.connect()).await.unwrap();
        within(within(session.send("go")).await.unwrap()).await.unwrap();
        let main = key(&sandbox);
        let known = uuids(&store, &main).await;
        assert_eq!(
            known.first().map(String::as_str),
            Some("before"),
            "a result comes after what came before it"
        );
        within(session.close()).await;
        assert_eq!(uuids(&store, &main).await, ["before", "after"]);
        assert_eq!(uuids(&store, &main.part("subagents/agent-1")).await, ["sub"]);
        assert_eq!(store.keys().len(), 2, "nothing from elsewhere");
    }
}

#[tokio::test]
async fn a_session_is_resumed_and_continued_from_a_store() {
    for continues in [false, true] {
        let sandbox = Sandbox::new().unwrap();
        let config = sandbox.config();
        let write = |name: &str, value: Value| std::fs::write(config.join(name), value.to_string()).unwrap();
        write(".credentials.json", json!({"claudeAiOauth": {"accessToken": "keep", "refreshToken": "lose"}}));
        write(
            "settings.json",
            json!({"model": "m", "enabledPlugins": {"p": true}, "env": {"CLAUDE_CONFIG_DIR": "x", "A": "b"}}),
        );
        write(".claude.json", json!({"theme": "dark"}));
        let store = Arc::new(InMemoryStore::default());
        let main = key(&sandbox);
        store.append(&main, &[entry(json!({"uuid": "stored", "type": "user"}))]).await.unwrap();
        let meta = entry(json!({"type": "agent_metadata", "toolUseId": "t"}));
        store.append(&main.part("subagents/agent-1"), &[meta, entry(json!({"uuid": "s"}))]).await.unwrap();
        store.append(&main.part("../../escape"), &[entry(json!({"uuid": "e"}))]).await.unwrap();
        let side = SessionKey::main(&main.project_key, "00000000-0000-4000-8000-00000000000b");
        store.append(&side, &[entry(json!({"isSidechain": true}))]).await.unwrap();

        let options = options(&sandbox, store.clone());
        let options = if continues { options.continue_latest() } else { options.resume(ID) };
        let session = within(options.connect()).await.unwrap();
        let result = within(within(session.send("go")).await.unwrap()).await.unwrap();
        let said = result.text();
        let folder = said.split(' ').next().unwrap().to_owned();
        assert_ne!(folder, config.to_string_lossy());
        assert!(said.contains(&format!("--resume={ID}")) && !said.contains("--continue"), "{said}");
        for part in [
            &format!("/{ID}.jsonl"),
            &format!("/{ID}/subagents/agent-1.jsonl"),
            "{type:user,uuid:stored}",
            "{toolUseId:t}",
            "{model:m,env:{A:b}}",
            "{claudeAiOauth:{accessToken:keep}}",
            "{theme:dark}",
        ] {
            assert!(said.contains(part), "{part} in {said}");
        }
        assert!(!said.contains("escape"), "{said}");
        within(session.close()).await;
        assert!(!std::path::Path::new(&folder).exists(), "the folder is gone with the session");
        assert_eq!(uuids(&store, &main).await, ["stored", "before", "after"]);
    }
}

/// Fails the first so many times.
struct Failing {
    store: InMemoryStore,
    left: AtomicUsize,
}

impl SessionStore for Failing {
    fn append<'a>(&'a self, key: &'a SessionKey, entries: &'a [Entry]) -> StoreFuture<'a, ()> {
        let fails =
            self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
        if fails {
            let error = SessionStoreError::Failed("the disk is on holiday".into());
            return Box::pin(std::future::ready(Err(error)));
        }
        self.store.append(key, entries)
    }

    fn load<'a>(&'a self, key: &'a SessionKey) -> StoreFuture<'a, Option<Vec<Entry>>> {
        self.store.load(key)
    }
}

#[tokio::test]
async fn a_store_that_fails_is_asked_again_and_reported_in_the_end() {
    for (failures, reported) in [(2, false), (3, true)] {
        let sandbox = Sandbox::new().unwrap();
        let store = Arc::new(Failing { store: InMemoryStore::default(), left: AtomicUsize::new(failures) });
        let session = within(options(&sandbox, store.clone()).connect()).await.unwrap();
        let mut events = session.events();
        let (_, result) = read(within(session.send("go")).await.unwrap()).await;
        result.unwrap();
        within(session.close()).await;
        let mut errors = Vec::new();
        while let Some(event) = within(events.next()).await {
            if let Event::Frame { frame: AgentFrame::System(System::MirrorError(error)), .. } = event {
                errors.push((error.error.clone(), error.key.session_id.to_string()));
            }
        }
        let expected = reported.then(|| ("the disk is on holiday".to_owned(), ID.to_owned()));
        assert_eq!(errors, Vec::from_iter(expected));
        let kept = uuids(&store.store, &key(&sandbox)).await;
        assert_eq!(kept.contains(&"before".to_owned()), !reported, "{kept:?}");
    }
}

#[tokio::test]
async fn what_cannot_go_with_a_store() {
    let store = || Arc::new(InMemoryStore::default());
    let options = || Options::new().session_store(store());
    for (options, expected) in [
        (options().no_session_persistence(), OptionsError::StoreWithoutTranscripts),
        (options().file_checkpointing(), OptionsError::StoreWithCheckpoints),
        (options().user("x").resume(ID), OptionsError::StoreWithUser),
    ] {
        assert_eq!(options.to_argv(), Err(expected));
    }
    let sandbox = Sandbox::new().unwrap();
    let error = within(self::options(&sandbox, store()).resume("../../x").connect()).await.unwrap_err();
    assert!(matches!(error, Error::SessionStore(_)), "{error}");
}

#[tokio::test]
async fn a_session_on_disk_is_imported() {
    let sandbox = Sandbox::new().unwrap();
    let key = key(&sandbox);
    let project = sandbox.config().join("projects").join(&key.project_key);
    let subagents = project.join(ID).join("subagents");
    std::fs::create_dir_all(&subagents).unwrap();
    std::fs::write(
        project.join(format!("{ID}.jsonl")),
        "{\"type\":\"user\",\"uuid\":\"1\"}\nnonsense\n\n{\"uuid\":\"2\"}\n",
    )
    .unwrap();
    std::fs::write(subagents.join("agent-7.jsonl"), "{\"uuid\":\"3\"}\n").unwrap();
    std::fs::write(subagents.join("agent-7.meta.json"), "{\"toolUseId\":\"t\"}").unwrap();
    let store = InMemoryStore::default();
    let local = Store::at(sandbox.config());
    let (found, problems) = import_session(&local, ID.parse().unwrap(), None, &store).await.unwrap();
    assert_eq!(found, key);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(uuids(&store, &key).await, ["1", "2"]);
    let part = store.load(&key.part("subagents/agent-7")).await.unwrap().unwrap();
    assert_eq!(
        part,
        [entry(json!({"type": "agent_metadata", "toolUseId": "t"})), entry(json!({"uuid": "3"}))]
    );
}

/// Tells what is mirrored only to those who ask for it.
#[tokio::test]
async fn what_goes_to_the_store_is_no_event_unless_asked_for() {
    for asked in [false, true] {
        let sandbox = Sandbox::new().unwrap();
        let options = options(&sandbox, Arc::new(InMemoryStore::default()));
        let options = if asked { options.session_store_events() } else { options };
        let session = within(options.connect()).await.unwrap();
        let (events, _) = read(within(session.send("go")).await.unwrap()).await;
        let told = events.iter().any(|event| matches!(event.frame(), Some(AgentFrame::TranscriptMirror(_))));
        assert_eq!(told, asked);
        within(session.close()).await;
    }
}

/// A store that can do no more than it must, and list.
struct Plain(InMemoryStore);

impl SessionStore for Plain {
    fn append<'a>(&'a self, key: &'a SessionKey, entries: &'a [Entry]) -> StoreFuture<'a, ()> {
        self.0.append(key, entries)
    }

    fn load<'a>(&'a self, key: &'a SessionKey) -> StoreFuture<'a, Option<Vec<Entry>>> {
        self.0.load(key)
    }

    fn list_sessions<'a>(&'a self, project_key: &'a str) -> StoreFuture<'a, Vec<StoredSession>> {
        self.0.list_sessions(project_key)
    }
}

async fn fill(store: &dyn SessionStore, project: &str) {
    let message = |uuid: &str, parent: Value, kind: &str, text: &str| {
        entry(json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": ID, "cwd": "/p",
            "timestamp": "2026-01-02T03:04:05Z", "message": {"role": kind, "content": text}}))
    };
    let main = SessionKey::main(project, ID);
    let entries =
        [message("1", Value::Null, "user", "Fix it"), message("2", json!("1"), "assistant", "Done")];
    store.append(&main, &entries).await.unwrap();
    let mut sub = [message("3", Value::Null, "user", "Look"), message("4", json!("3"), "assistant", "Seen")];
    sub.iter_mut().for_each(|entry| drop(entry.insert("isSidechain".to_owned(), true.into())));
    let meta = entry(json!({"type": "agent_metadata", "toolUseId": "t"}));
    store.append(&main.part("subagents/agent-1"), &[meta]).await.unwrap();
    store.append(&main.part("subagents/agent-1"), &sub).await.unwrap();
    let side = SessionKey::main(project, "00000000-0000-4000-8000-00000000000b");
    store.append(&side, &[entry(json!({"isSidechain": true, "type": "user"}))]).await.unwrap();
}

#[tokio::test]
async fn sessions_of_a_store_are_listed_and_read() {
    let id: SessionId = ID.parse().unwrap();
    let (full, plain) = (Arc::new(InMemoryStore::default()), Arc::new(Plain(InMemoryStore::default())));
    for store in [full as Arc<dyn SessionStore>, plain] {
        fill(&*store, "-p").await;
        let sessions = StoredSessions::of_key(store, "-p");
        let listed = sessions.list(&ListOptions::default()).await.unwrap();
        let [info] = listed.as_slice() else { panic!("{listed:?}") };
        assert_eq!((info.id, info.summary.as_str(), info.cwd.as_deref()), (id, "Fix it", Some("/p")));
        assert!(info.last_modified > 1_000_000_000_000);
        let none = ListOptions { offset: 1, ..ListOptions::default() };
        assert_eq!(sessions.list(&none).await.unwrap(), []);
        assert_eq!(sessions.info(id).await.unwrap().unwrap().summary, "Fix it");
        let messages = sessions.messages(id, &MessageOptions::default()).await.unwrap();
        let texts: Vec<String> = messages.iter().map(|message| message.text()).collect();
        assert_eq!(texts, ["Fix it", "Done"]);
    }
}

#[tokio::test]
async fn sessions_of_a_store_are_edited() {
    let id: SessionId = ID.parse().unwrap();
    let store = Arc::new(InMemoryStore::default());
    fill(&*store, "-p").await;
    let sessions = StoredSessions::of_key(store.clone(), "-p");
    let agents = sessions.subagents(id).await.unwrap();
    assert_eq!(agents.iter().map(|agent| agent.tool_use_id()).collect::<Vec<_>>(), [Some("t")]);
    let messages = sessions.subagent_messages(id, "1", &MessageOptions::default()).await.unwrap();
    assert_eq!(messages.iter().map(|message| message.text()).collect::<Vec<_>>(), ["Look", "Seen"]);

    sessions.rename(id, " A title ").await.unwrap();
    sessions.tag(id, Some("kept")).await.unwrap();
    let info = sessions.info(id).await.unwrap().unwrap();
    assert_eq!((info.summary.as_str(), info.tag.as_deref()), ("A title", Some("kept")));
    sessions.tag(id, None).await.unwrap();
    assert_eq!(sessions.info(id).await.unwrap().unwrap().tag, None);
    assert!(sessions.rename(id, " ").await.is_err());

    let copy = sessions.fork(id, &ForkOptions::default()).await.unwrap();
    assert_eq!(sessions.info(copy).await.unwrap().unwrap().summary, "A title (fork)");
    assert_eq!(sessions.messages(copy, &MessageOptions::default()).await.unwrap().len(), 2);
    assert_eq!(sessions.list(&ListOptions::default()).await.unwrap().len(), 2);

    sessions.delete(id).await.unwrap();
    assert_eq!(sessions.info(id).await.unwrap(), None);
    assert!(sessions.messages(id, &MessageOptions::default()).await.is_err());
    assert_eq!(store.keys().iter().filter(|key| key.session_id == ID).count(), 0);
}
