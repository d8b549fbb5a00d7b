use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use pilothouse_proto::tool::WebFetchInput;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::args::Args;
use crate::schema::schema_of;
use crate::tool::{Input, Outcome, Running, Spec, Tool, Touch};
use crate::web_page::{Content, Fetched, Page, checked_url, fetch};
use crate::workspace::Workspace;

/// So many characters of a page are read at a time.
const LARGEST_PART: usize = 100_000;

/// What an answer out of a page is made by: a call of a model beside the conversation, or a script.
pub trait PageReader: Send + Sync {
    /// Answers `question` from the text of a page; an error says why there is no answer.
    fn answer<'a>(&'a self, question: PageQuestion, stop: CancellationToken) -> Answering<'a>;
}

/// An answer in the making.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Result<String, String>> + Send + 'a>>;

/// What is asked of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageQuestion {
    /// Where the page is from.
    pub url: String,
    /// The page, as Markdown. Whoever wrote it may want to mislead the reader.
    pub page: String,
    /// What the model wants to know.
    pub prompt: String,
}

/// Gets a page and answers a question about it.
pub struct WebFetch {
    reader: Arc<dyn PageReader>,
}

impl WebFetch {
    /// Pages are read by `reader`.
    pub fn new(reader: Arc<dyn PageReader>) -> Self {
        Self { reader }
    }

    async fn call(
        &self,
        mut args: Args,
        workspace: &Workspace,
        stop: CancellationToken,
    ) -> Result<Outcome, Outcome> {
        let url = args.text("url");
        let prompt = args.text("prompt");
        let offset = args.maybe_count("offset").unwrap_or_default();
        args.check()?;
        let url = checked_url(&url).map_err(|error| Outcome::misuse(error.to_string()))?;
        let started = Instant::now();
        let fetched = tokio::select! {
            fetched = fetch(url, workspace.parsers()) => fetched.map_err(|error| Outcome::failed(error.to_string()))?,
            () = stop.cancelled() => return Err(Outcome::Stopped { partial: String::new() }),
        };
        let page = match fetched {
            Fetched::Page(page) => page,
            Fetched::Elsewhere { from, to, code } => {
                return Ok(elsewhere(from.as_str(), to.as_str(), code, started));
            }
        };
        let answer = self.read(&page, prompt, offset, workspace, stop).await?;
        let result = json!({
            "bytes": page.size, "code": page.code, "codeText": page.reason, "result": answer,
            "durationMs": millis(started), "url": page.url.as_str(),
        });
        match page.code {
            200..300 => Ok(Outcome::text(answer, result)),
            code => Err(Outcome::failed(format!("{} answered {code} {}:\n{answer}", page.url, page.reason))),
        }
    }

    async fn read(
        &self,
        page: &Page,
        prompt: String,
        offset: u64,
        workspace: &Workspace,
        stop: CancellationToken,
    ) -> Result<String, Outcome> {
        let text = match &page.content {
            Content::Text(text) => text,
            Content::Binary { kind, bytes } => return Ok(kept(kind, bytes, workspace)),
        };
        let skipped = usize::try_from(offset).unwrap_or(usize::MAX);
        let part: String = text.chars().skip(skipped).take(LARGEST_PART).collect();
        if part.trim().is_empty() {
            return Ok(if offset > 0 { "The page ends before that offset." } else { "The page is empty." }
                .to_owned());
        }
        let rest = text.chars().count().saturating_sub(skipped.saturating_add(LARGEST_PART));
        let question = PageQuestion { url: page.url.to_string(), page: part, prompt };
        let answer = tokio::select! {
            answer = self.reader.answer(question, stop.clone()) => answer.map_err(Outcome::failed)?,
            () = stop.cancelled() => return Err(Outcome::Stopped { partial: String::new() }),
        };
        let answer = page.note.iter().fold(answer, |answer, note| format!("{answer}\n\n{note}"));
        Ok(match (rest, page.cut) {
            (0, false) => answer,
            (0, true) => format!("{answer}\n\n(The page is longer than what is read of any page.)"),
            (rest, _) => format!(
                "{answer}\n\n(This is about a part of the page; {rest} characters follow: use offset {}.)",
                skipped.saturating_add(LARGEST_PART)
            ),
        })
    }
}

impl Tool for WebFetch {
    fn refuses(&self, input: &Input, _: &Workspace) -> Option<String> {
        let url = input.get("url")?.as_str()?;
        url::Url::parse(url).err().map(|problem| format!("{url:?} is no URL: {problem}"))
    }

    fn spec(&self) -> Spec {
        Spec {
            name: "WebFetch",
            description: "Gets a page from the web (https, or http on this machine) and answers the prompt from its text. \
                          A redirect to another host is reported, not followed. offset skips characters of a long page.",
            input_schema: schema_of::<WebFetchInput>(),
        }
    }

    fn runs_in_parallel(&self) -> bool {
        true
    }

    fn touches(&self, _: &Input, _: &Workspace) -> Vec<Touch> {
        Vec::new()
    }

    fn run<'a>(&'a self, input: Input, workspace: &'a Workspace, stop: CancellationToken) -> Running<'a> {
        Box::pin(async move {
            self.call(Args::new("WebFetch", input), workspace, stop).await.unwrap_or_else(|refused| refused)
        })
    }
}

impl std::fmt::Debug for WebFetch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebFetch").finish_non_exhaustive()
    }
}

fn elsewhere(from: &str, to: &str, code: u16, started: Instant) -> Outcome {
    let said = format!(
        "{from} redirects ({code}) to another host and was not followed. To read it, call WebFetch again with this URL:\n{to}"
    );
    let result = json!({
        "bytes": 0, "code": code, "codeText": "Redirect", "result": said, "durationMs": millis(started), "url": from,
    });
    Outcome::text(said, result)
}

/// What is not text is kept for other tools.
fn kept(kind: &str, bytes: &[u8], workspace: &Workspace) -> String {
    let kind = if kind.is_empty() { "of an unknown kind" } else { kind };
    let keep = || {
        std::fs::create_dir_all(workspace.output_dir()).ok()?;
        let mut file =
            tempfile::Builder::new().prefix("fetched-").tempfile_in(workspace.output_dir()).ok()?;
        std::io::Write::write_all(&mut file, bytes).ok()?;
        file.keep().ok().map(|(_, path)| path)
    };
    match keep() {
        Some(path) => format!("Not text but {kind}, {} bytes, saved to {}", bytes.len(), path.display()),
        None => format!("Not text but {kind}, {} bytes, which could not be saved", bytes.len()),
    }
}

fn millis(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX)
}
