//! What every store must do, as one function that the tests of a store can call.

use std::future::Future;

use serde_json::json;

use super::{Digest, Entry, SessionKey, SessionStore, SessionStoreError, StoredSession};

/// Tries a store. `make` gives an empty one each time it is called.
///
/// Methods that the store leaves out are not asked for.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// use pilothouse::session_store::{InMemoryStore, conformance};
///
/// let problems = conformance::check(async || InMemoryStore::default()).await;
/// assert!(problems.is_empty(), "{problems:?}");
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
pub async fn check<S: SessionStore>(make: impl AsyncFn() -> S) -> Vec<String> {
    let mut problems = Problems(Vec::new());
    problems.note("appending and loading", appends(&make().await)).await;
    problems.note("keeping transcripts apart", keeps_apart(&make().await)).await;
    problems.note("appending again", takes_again(&make().await)).await;
    problems.note("listing sessions", lists(&make().await)).await;
    problems.note("listing summaries", lists_summaries(&make().await)).await;
    problems.note("listing parts", lists_parts(&make().await)).await;
    problems.note("deleting", deletes(&make().await)).await;
    problems.0
}

struct Problems(Vec<String>);

impl Problems {
    async fn note(&mut self, what: &str, outcome: impl Future<Output = Result<(), Wrong>>) {
        match outcome.await {
            Ok(()) | Err(Wrong::Store(SessionStoreError::Unsupported(_))) => {}
            Err(Wrong::Store(error)) => self.0.push(format!("{what}: {error}")),
            Err(Wrong::Answer(problem)) => self.0.push(format!("{what}: {problem}")),
        }
    }
}

enum Wrong {
    Store(SessionStoreError),
    Answer(String),
}

impl From<SessionStoreError> for Wrong {
    fn from(error: SessionStoreError) -> Self {
        Self::Store(error)
    }
}

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, expected: &T) -> Result<(), Wrong> {
    if found == expected {
        Ok(())
    } else {
        Err(Wrong::Answer(format!("{what}: found {found:?}, expected {expected:?}")))
    }
}

/// An entry with every kind of value, and a key order that is not the alphabet's.
fn entry(uuid: &str) -> Entry {
    let value = json!({
        "type": "user", "uuid": uuid, "parentUuid": null, "isMeta": false, "count": 12.5,
        "message": {"role": "user", "content": [{"type": "text", "text": "naïve 🚢 \"x\"\n\u{1}"}]},
    });
    value.as_object().cloned().unwrap_or_default()
}

/// An entry that cannot be told from another by its uuid, for it has none.
fn title() -> Entry {
    json!({"type": "custom-title", "customTitle": "t"}).as_object().cloned().unwrap_or_default()
}

fn key(session: &str) -> SessionKey {
    SessionKey::main("-home-user-project", session)
}

async fn appends(store: &impl SessionStore) -> Result<(), Wrong> {
    let key = key("a");
    expect("a transcript that does not exist", &store.load(&key).await?, &None)?;
    store.append(&key, &[]).await?;
    expect("a transcript that nothing was appended to", &store.load(&key).await?, &None)?;
    let all = [entry("1"), title(), entry("2"), entry("3"), title()];
    let (first, second) = all.split_at(2);
    store.append(&key, first).await?;
    store.append(&key, second).await?;
    store.append(&key, &[]).await?;
    expect("what was appended", &store.load(&key).await?, &Some(all.to_vec()))
}

async fn keeps_apart(store: &impl SessionStore) -> Result<(), Wrong> {
    let main = key("a");
    let keys = [
        main.clone(),
        key("b"),
        main.part("subagents/agent-1"),
        main.part("subagents/workflows/run/agent-1"),
        SessionKey::main("-home-user-other", "a"),
    ];
    for (index, key) in keys.iter().enumerate() {
        store.append(key, &[entry(&index.to_string())]).await?;
    }
    for (index, key) in keys.iter().enumerate() {
        expect(&key.to_string(), &store.load(key).await?, &Some(vec![entry(&index.to_string())]))?;
    }
    Ok(())
}

async fn takes_again(store: &impl SessionStore) -> Result<(), Wrong> {
    let key = key("a");
    store.append(&key, &[entry("1"), entry("2")]).await?;
    store.append(&key, &[entry("2"), entry("3")]).await?;
    let expected = Some(vec![entry("1"), entry("2"), entry("3")]);
    expect("an entry that came twice", &store.load(&key).await?, &expected)
}

async fn lists(store: &impl SessionStore) -> Result<(), Wrong> {
    let project = key("a").project_key;
    expect("a project without sessions", &store.list_sessions(&project).await?, &Vec::new())?;
    for key in [key("a"), key("a").part("subagents/agent-1"), key("b"), SessionKey::main("-other", "c")] {
        store.append(&key, &[entry("1")]).await?;
    }
    let mut sessions = store.list_sessions(&project).await?;
    sessions.sort_by(|a, b| a.session_id.cmp(&b.session_id));
    let ids: Vec<&str> = sessions.iter().map(|session| session.session_id.as_str()).collect();
    expect("the sessions of the project", &ids, &vec!["a", "b"])?;
    // 2001: whoever counts in seconds is far below.
    let in_seconds = |session: &&StoredSession| session.modified < 1_000_000_000_000;
    expect("sessions that are not dated in milliseconds", &sessions.iter().find(in_seconds), &None)
}

async fn lists_summaries(store: &impl SessionStore) -> Result<(), Wrong> {
    let project = key("a").project_key;
    expect(
        "the summaries of a project without sessions",
        &store.list_summaries(&project).await?,
        &Vec::new(),
    )?;
    let mut digest = Digest::default();
    for batch in [vec![entry("1"), entry("2")], vec![title()]] {
        store.append(&key("a"), &batch).await?;
        digest.add(&batch);
    }
    for key in [key("a").part("subagents/agent-1"), SessionKey::main("-other", "c")] {
        store.append(&key, &[title()]).await?;
    }
    let summaries = store.list_summaries(&project).await?;
    let found: Vec<_> =
        summaries.iter().map(|summary| (summary.session_id.as_str(), &summary.digest)).collect();
    expect("the summaries of the project", &found, &vec![("a", &digest)])?;
    let modified = |id: &str, sessions: &[StoredSession]| {
        sessions.iter().find(|session| session.session_id == id).map(|session| session.modified)
    };
    let listed = modified("a", &store.list_sessions(&project).await?);
    expect("the date of a summary", &summaries.first().map(|summary| summary.modified), &listed)
}

async fn lists_parts(store: &impl SessionStore) -> Result<(), Wrong> {
    let main = key("a");
    store.append(&main, &[entry("1")]).await?;
    expect("a session without parts", &store.list_parts(&main).await?, &Vec::new())?;
    for part in ["subagents/agent-1", "subagents/agent-2"] {
        store.append(&main.part(part), &[entry("1")]).await?;
    }
    store.append(&key("b").part("subagents/agent-3"), &[entry("1")]).await?;
    let mut parts = store.list_parts(&main).await?;
    parts.sort();
    expect("the parts", &parts, &vec!["subagents/agent-1".to_owned(), "subagents/agent-2".to_owned()])
}

async fn deletes(store: &impl SessionStore) -> Result<(), Wrong> {
    let main = key("a");
    let (one, two) = (main.part("subagents/agent-1"), main.part("subagents/agent-2"));
    for key in [&main, &one, &two, &key("b")] {
        store.append(key, &[entry("1")]).await?;
    }
    store.delete(&key("unknown")).await?;
    store.delete(&one).await?;
    expect("a part that was deleted", &store.load(&one).await?, &None)?;
    expect("the part beside it", &store.load(&two).await?.is_some(), &true)?;
    expect("the session whose part was deleted", &store.load(&main).await?.is_some(), &true)?;
    store.delete(&main).await?;
    expect("a session that was deleted", &store.load(&main).await?, &None)?;
    expect("a part of a session that was deleted", &store.load(&two).await?, &None)?;
    expect("the session beside it", &store.load(&key("b")).await?.is_some(), &true)
}
