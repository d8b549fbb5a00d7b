use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use pilothouse_proto::tool::{WebSearchHit, WebSearchInput};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::args::Args;
use crate::schema::schema_of;
use crate::tool::{Input, Outcome, Running, Spec, Tool, Touch};
use crate::workspace::Workspace;

/// Who searches: the API's own tool in a call beside the conversation, or a script.
pub trait Searcher: Send + Sync {
    /// Searches; an error says why there is no result.
    fn search<'a>(&'a self, query: SearchQuery, stop: CancellationToken) -> Searching<'a>;
}

/// A search under way.
pub type Searching<'a> = Pin<Box<dyn Future<Output = Result<Found, String>> + Send + 'a>>;

/// What is looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchQuery {
    /// The words.
    pub query: String,
    /// Only these sites, if there are any.
    pub allowed_domains: Vec<String>,
    /// None of these sites.
    pub blocked_domains: Vec<String>,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Hits and what the model says about them, in order.
    pub results: Vec<WebSearchHit>,
    /// How many searches it took.
    pub searches: u64,
}

impl SearchQuery {
    fn read(input: Input) -> Result<Self, Outcome> {
        let mut args = Args::new("WebSearch", input);
        let query = args.text("query");
        let allowed_domains = args.maybe_texts("allowed_domains").unwrap_or_default();
        let blocked_domains = args.maybe_texts("blocked_domains").unwrap_or_default();
        if !allowed_domains.is_empty() && !blocked_domains.is_empty() {
            args.problem("`allowed_domains` and `blocked_domains` cannot be used together");
        }
        if query.trim().chars().count() < 2 {
            args.problem("the parameter `query` must have at least 2 characters");
        }
        args.check()?;
        Ok(Self { query, allowed_domains, blocked_domains })
    }
}

/// Searches the web.
pub struct WebSearch {
    searcher: Arc<dyn Searcher>,
}

impl WebSearch {
    /// Searches are made by `searcher`.
    pub fn new(searcher: Arc<dyn Searcher>) -> Self {
        Self { searcher }
    }

    async fn call(&self, input: Input, stop: CancellationToken) -> Result<Outcome, Outcome> {
        let asked = SearchQuery::read(input)?;
        let query = asked.query.clone();
        let started = Instant::now();
        let found = tokio::select! {
            found = self.searcher.search(asked, stop.clone()) => found.map_err(Outcome::failed)?,
            () = stop.cancelled() => return Err(Outcome::Stopped { partial: String::new() }),
        };
        let result = json!({
            "query": query, "results": found.results, "durationSeconds": started.elapsed().as_secs_f64(),
            "searchCount": found.searches,
        });
        Ok(Outcome::text(said(&query, &found.results), result))
    }
}

impl Tool for WebSearch {
    fn spec(&self) -> Spec {
        Spec {
            name: "WebSearch",
            description: "Searches the web and returns titles, links and what they say. Limit the sites with \
                          allowed_domains or blocked_domains. Name the sources you use.",
            input_schema: schema_of::<WebSearchInput>(),
        }
    }

    fn runs_in_parallel(&self) -> bool {
        true
    }

    fn touches(&self, _: &Input, _: &Workspace) -> Vec<Touch> {
        Vec::new()
    }

    fn refuses(&self, input: &Input, _: &Workspace) -> Option<String> {
        SearchQuery::read(input.clone()).err().and_then(Outcome::complaint)
    }

    fn run<'a>(&'a self, input: Input, _: &'a Workspace, stop: CancellationToken) -> Running<'a> {
        Box::pin(async move { self.call(input, stop).await.unwrap_or_else(|refused| refused) })
    }
}

impl std::fmt::Debug for WebSearch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebSearch").finish_non_exhaustive()
    }
}

fn said(query: &str, results: &[WebSearchHit]) -> String {
    let mut said = format!("Results for {query:?}:");
    for result in results {
        match result {
            WebSearchHit::Text(text) => said.push_str(&format!("\n\n{text}")),
            WebSearchHit::Hits(hits) => {
                for link in &hits.content {
                    said.push_str(&format!("\n- {}: {}", link.title, link.url));
                }
            }
        }
    }
    if results.is_empty() {
        said.push_str(" none");
    }
    said
}
