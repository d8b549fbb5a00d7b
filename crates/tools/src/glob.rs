use std::collections::BinaryHeap;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use globset::{GlobBuilder, GlobMatcher};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::args::Args;
use crate::aside::aside;
use crate::pattern::glob_problem;
use crate::schema::{path_argument, schema_of};
use crate::tool::{Input, Outcome, Running, Spec, Tool, Touch};
use crate::walk::{Ground, is_still_there};
use crate::workspace::{Workspace, shown_from};

/// More names than this help nobody.
const MOST: usize = 100;
/// A walk over a network drive must come to an end.
const PATIENCE: Duration = Duration::from_secs(20);

/// Finds files by a pattern on their path.
#[derive(Debug)]
pub struct Glob;

impl Tool for Glob {
    fn spec(&self) -> Spec {
        Spec {
            name: "Glob",
            description: "Finds files whose path matches a pattern such as **/*.rs, oldest first. \
                          Files that git ignores are left out.",
            input_schema: schema_of::<pilothouse_proto::tool::GlobInput>(),
        }
    }

    fn runs_in_parallel(&self) -> bool {
        true
    }

    fn touches(&self, input: &Input, workspace: &Workspace) -> Vec<Touch> {
        vec![Touch::Read(root(input, workspace))]
    }

    fn run<'a>(&'a self, input: Input, workspace: &'a Workspace, stop: CancellationToken) -> Running<'a> {
        Box::pin(async move {
            match Search::of(input, workspace) {
                Ok(search) => {
                    let stopped = stop.clone();
                    aside(&stop, move || search.run(&stopped)).await
                }
                Err(refused) => refused,
            }
        })
    }
}

/// A search that can be made.
struct Search {
    cwd: PathBuf,
    ground: Ground,
    matcher: GlobMatcher,
    by_name: bool,
    /// How far down something may lie that the pattern means; any distance without it.
    depth: Option<usize>,
}

impl Search {
    fn of(input: Input, workspace: &Workspace) -> Result<Self, Outcome> {
        let root = root(&input, workspace);
        let mut args = Args::new("Glob", input);
        let pattern = args.text("pattern");
        if let Some(problem) = glob_problem("pattern", &pattern) {
            args.problem(problem);
            return Err(args.refused());
        }
        // Nothing in particular is everything.
        let pattern = if pattern.is_empty() { "**/*" } else { pattern.as_str() };
        // The folder was looked at above; here it only has to be a string.
        args.maybe_text("path");
        let absolute = split(pattern);
        let below = absolute.map_or(pattern, |(_, below)| below);
        let matcher = GlobBuilder::new(below).literal_separator(true).build();
        if let Err(e) = &matcher {
            args.problem(format!("the parameter `pattern` is not a valid pattern: {e}"));
        }
        args.check()?;
        let Ok(matcher) = matcher.map(|glob| glob.compile_matcher()) else {
            return Err(Outcome::misuse("the pattern is not valid"));
        };
        let ground = Ground::of(&root, workspace)?;
        if !ground.is_dir() {
            return Err(Outcome::failed(format!("{} is not a directory", root.display())));
        }
        // Without a slash a pattern means a name, wherever the file is.
        let by_name = !pattern.contains('/');
        let depth = (absolute.is_some() && !below.contains("**")).then(|| below.split('/').count());
        Ok(Self { cwd: workspace.cwd(), ground, matcher, by_name, depth })
    }

    fn run(self, stop: &CancellationToken) -> Outcome {
        let Self { cwd, ground, matcher, by_name, depth } = self;
        let started = Instant::now();
        let mut timed_out = false;
        // Only what is shown is kept, the last of it on top: a folder may have any number of files.
        let mut found: BinaryHeap<(SystemTime, usize, PathBuf)> = BinaryHeap::new();
        let mut total = 0_usize;
        for entry in ground.walk().max_depth(depth).build() {
            if stop.is_cancelled() {
                return Outcome::Stopped { partial: String::new() };
            }
            if started.elapsed() > PATIENCE {
                timed_out = true;
                break;
            }
            let Ok(entry) = entry else { continue };
            let below = entry.path().strip_prefix(ground.real()).unwrap_or(entry.path());
            let is_file = entry.file_type().is_some_and(|kind| !kind.is_dir());
            let name = if by_name { entry.file_name().as_ref() } else { below };
            if is_file && matcher.is_match(name) {
                let modified = entry
                    .metadata()
                    .ok()
                    .and_then(|meta| meta.modified().ok())
                    .unwrap_or(SystemTime::UNIX_EPOCH);
                total += 1;
                found.push((to_millisecond(modified), entry.depth(), entry.into_path()));
                if found.len() > MOST {
                    found.pop();
                }
            }
        }
        let found = found.into_sorted_vec().into_iter().map(|(_, _, path)| ground.found(&path));
        let names: Vec<String> =
            found.filter(is_still_there).map(|place| shown_from(&cwd, &place.path)).collect();
        let mut text = names.join("\n");
        if names.is_empty() {
            text.push_str("No files found");
        } else if total > MOST {
            text.push_str(&format!("\n({} more; use a narrower pattern or path)", total - MOST));
        }
        let mut structured = json!({
            "filenames": names, "durationMs": started.elapsed().as_millis() as u64, "numFiles": names.len(),
            "truncated": total > MOST, "totalMatches": total, "countIsComplete": !timed_out,
        });
        if let (true, Some(map)) = (timed_out, structured.as_object_mut()) {
            map.insert("timedOut".to_owned(), true.into());
        }
        Outcome::text(text, structured)
    }
}

/// Where a search begins: the fixed part of an absolute pattern, the folder that is named, or where the session is.
fn root(input: &Input, workspace: &Workspace) -> PathBuf {
    let head = input.get("pattern").and_then(Value::as_str).and_then(split).map(|(head, _)| head);
    let named = || path_argument(input, "path", workspace);
    head.map(|head| workspace.resolve(head)).or_else(named).unwrap_or_else(|| workspace.cwd())
}

/// The folder that an absolute pattern begins with, and the pattern for what is below it.
fn split(pattern: &str) -> Option<(&str, &str)> {
    if !pattern.starts_with('/') {
        return None;
    }
    let fixed = pattern.find(['*', '?', '[', '{']).unwrap_or(pattern.len());
    let (head, _) = pattern.get(..fixed)?.rsplit_once('/')?;
    let below = pattern.get(head.len() + 1..)?;
    Some((if head.is_empty() { "/" } else { head }, below))
}

/// Files that were made together have the same time, and then those further up come first.
fn to_millisecond(time: SystemTime) -> SystemTime {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    SystemTime::UNIX_EPOCH + Duration::from_millis(since.as_millis() as u64)
}
