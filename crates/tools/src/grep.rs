use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, SearcherBuilder, Sink, SinkContext, SinkMatch};
use ignore::WalkBuilder;
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::args::Args;
use crate::aside::aside;
use crate::pattern::{self, REGEX_CACHE, REGEX_SIZE};
use crate::places::Place;
use crate::schema::schema_of;
use crate::tool::{Input, Outcome, Running, Spec, Tool, Touch};
use crate::walk::Ground;
use crate::workspace::{Workspace, shown_from};

/// Lines or files returned when the call sets no limit.
const DEFAULT_LIMIT: usize = 250;
/// A longer line is cut.
const LONGEST_LINE: usize = 500;
/// Between lines that do not follow each other.
const BREAK: &str = "--";
const PATIENCE: Duration = Duration::from_secs(20);
/// The most text that one search gathers; far more than is shown of it.
const MOST_TEXT: usize = 32 << 20;
/// What a line costs beside its text.
const LINE_COST: usize = 32;
/// A line that takes more memory than this is skipped with its file.
const LONGEST_READ: usize = 64 << 20;

/// Searches the content of files by a regular expression.
#[derive(Debug)]
pub struct Grep;

impl Tool for Grep {
    fn spec(&self) -> Spec {
        Spec {
            name: "Grep",
            description: "Searches files for a regular expression (ripgrep's syntax). output_mode: files_with_matches \
                          (default) lists files, content shows lines, count counts. Narrow it with glob, type or path. \
                          Files that git ignores are left out.",
            input_schema: schema_of::<pilothouse_proto::tool::GrepInput>(),
        }
    }

    fn runs_in_parallel(&self) -> bool {
        true
    }

    fn touches(&self, input: &Input, workspace: &Workspace) -> Vec<Touch> {
        vec![Touch::Read(
            crate::schema::path_argument(input, "path", workspace).unwrap_or_else(|| workspace.cwd()),
        )]
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Files,
    Content,
    Count,
}

struct Query {
    matcher: RegexMatcher,
    mode: Mode,
    before: usize,
    after: usize,
    numbers: bool,
    only_matching: bool,
    multiline: bool,
    /// How many bytes of lines may still be kept.
    room: Cell<usize>,
}

/// What one file had.
struct Hits {
    path: PathBuf,
    lines: Vec<String>,
    matches: usize,
}

/// A search that can be made.
struct Search {
    cwd: PathBuf,
    ground: Ground,
    walk: WalkBuilder,
    query: Query,
    window: Window,
}

impl Search {
    fn of(input: Input, workspace: &Workspace) -> Result<Self, Outcome> {
        let mut args = Args::new("Grep", input);
        let root = args.maybe_text("path").map_or_else(|| workspace.cwd(), |path| workspace.resolve(&path));
        let glob = args.maybe_text("glob");
        let kind = args.maybe_text("type");
        let limit = args.maybe_count("head_limit").map_or(DEFAULT_LIMIT, |n| n as usize);
        let limit = if limit == 0 { usize::MAX } else { limit };
        let offset = args.maybe_count("offset").unwrap_or(0) as usize;
        let query = query(&mut args);
        let ground = Ground::of(&root, workspace);
        let real = ground.as_ref().map_or(root.as_path(), Ground::real);
        let choice = Choice::of(real, glob.as_deref(), kind.as_deref());
        if let Err(problem) = &choice {
            args.problem(problem.clone());
        }
        args.check()?;
        let (Some(query), Ok(choice)) = (query, choice) else {
            return Err(Outcome::misuse("the search is not valid"));
        };
        let ground = ground?;
        let walk = choice.among(ground.walk());
        Ok(Self { cwd: workspace.cwd(), ground, walk, query, window: Window { offset, limit } })
    }

    fn run(self, stop: &CancellationToken) -> Outcome {
        let Self { cwd, ground, walk, query, window } = self;
        let started = Instant::now();
        let mut timed_out = false;
        let mut hits = Vec::new();
        for entry in walk.build() {
            if stop.is_cancelled() {
                return Outcome::Stopped { partial: String::new() };
            }
            if started.elapsed() > PATIENCE || query.is_full() {
                timed_out = true;
                break;
            }
            let Ok(entry) = entry else { continue };
            if entry.file_type().is_some_and(|kind| kind.is_file()) {
                let file = ground.found(entry.path());
                // A search in one file need not name it.
                let name = if ground.is_dir() { shown_from(&cwd, &file.path) } else { String::new() };
                let limits = Limits { stop, until: started + PATIENCE };
                hits.extend(query.search(&file, &name, limits));
            }
        }
        // The last file may have been left in the middle.
        if stop.is_cancelled() {
            return Outcome::Stopped { partial: String::new() };
        }
        timed_out |= started.elapsed() > PATIENCE || query.is_full();
        hits.sort_by(|a, b| a.path.cmp(&b.path));
        report(&query, hits, window, timed_out, &cwd)
    }
}

fn query(args: &mut Args) -> Option<Query> {
    let regex = args.text("pattern");
    let multiline = args.flag("multiline");
    let around = args.maybe_count("-C").or_else(|| args.maybe_count("context")).unwrap_or(0) as usize;
    let mode = match args.maybe_text("output_mode").as_deref() {
        None | Some("files_with_matches") => Mode::Files,
        Some("content") => Mode::Content,
        Some("count") => Mode::Count,
        Some(_) => {
            args.problem("the parameter `output_mode` must be content, files_with_matches or count");
            Mode::Files
        }
    };
    let before = args.maybe_count("-B").map_or(around, |n| n as usize);
    let after = args.maybe_count("-A").map_or(around, |n| n as usize);
    let numbers = args.maybe_flag("-n").unwrap_or(true);
    let only_matching = args.flag("-o");
    if !pattern::is_short_regex(args, "pattern", &regex) {
        return None;
    }
    let matcher = RegexMatcherBuilder::new()
        .size_limit(REGEX_SIZE)
        .dfa_size_limit(REGEX_CACHE)
        .case_insensitive(args.flag("-i"))
        .multi_line(true)
        .dot_matches_new_line(multiline)
        .line_terminator((!multiline).then_some(b'\n'))
        .build(&regex);
    match matcher {
        Ok(matcher) => Some(Query {
            matcher,
            mode,
            before,
            after,
            numbers,
            only_matching,
            multiline,
            room: Cell::new(MOST_TEXT),
        }),
        Err(e) => {
            args.problem(format!("the parameter `pattern` is not a valid regular expression: {e}"));
            None
        }
    }
}

/// Which files a search looks at, of those that there are.
struct Choice {
    globs: Option<Override>,
    types: Option<Types>,
}

impl Choice {
    fn of(root: &Path, glob: Option<&str>, kind: Option<&str>) -> Result<Self, String> {
        if let Some(problem) = glob.and_then(|glob| pattern::glob_problem("glob", glob)) {
            return Err(problem);
        }
        let globs = glob.map(|glob| overrides(root, glob)).transpose();
        let types = kind.map(|kind| {
            let types = TypesBuilder::new().add_defaults().select(kind).build();
            types.map_err(|_| format!("the parameter `type` is not a known file type: {kind}"))
        });
        Ok(Self {
            globs: globs.map_err(|e| format!("the parameter `glob` is not valid: {e}"))?,
            types: types.transpose()?,
        })
    }

    fn among(self, mut walk: WalkBuilder) -> WalkBuilder {
        if let Some(globs) = self.globs {
            walk.overrides(globs);
        }
        if let Some(types) = self.types {
            walk.types(types);
        }
        walk
    }
}

fn overrides(root: &Path, globs: &str) -> Result<Override, ignore::Error> {
    let mut overrides = OverrideBuilder::new(root);
    for glob in split_globs(globs) {
        overrides.add(&glob)?;
    }
    overrides.build()
}

/// Several patterns may be given, separated by spaces or commas outside braces.
fn split_globs(globs: &str) -> Vec<String> {
    let mut depth = 0usize;
    let mut out = vec![String::new()];
    for c in globs.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ' ' | ',' if depth == 0 => {
                out.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = out.last_mut() {
            last.push(c);
        }
    }
    out.retain(|glob| !glob.is_empty());
    out
}

impl Query {
    fn shows_context(&self) -> bool {
        self.mode == Mode::Content && (self.before > 0 || self.after > 0)
    }

    fn search(&self, place: &Place, name: &str, limits: Limits<'_>) -> Option<Hits> {
        let mut lines = Lines { query: self, name, shown: Vec::new(), matches: 0 };
        // A file that cannot be read has no matches; the walk goes on. So it does where no file is any more.
        let file = place.open().ok().filter(|file| file.metadata().is_ok_and(|meta| meta.is_file()))?;
        SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .before_context(self.before)
            .after_context(self.after)
            .multi_line(self.multiline)
            .heap_limit(Some(LONGEST_READ))
            .line_number(true)
            .build()
            .search_reader(&self.matcher, Bounded { file, limits }, &mut lines)
            .ok()?;
        if lines.matches == 0 {
            return None;
        }
        self.took(place.path.as_os_str().len());
        Some(Hits { path: place.path.clone(), lines: lines.shown, matches: lines.matches })
    }

    /// Counts what is kept of so many bytes.
    fn took(&self, bytes: usize) {
        self.room.set(self.room.get().saturating_sub(bytes + LINE_COST));
    }

    fn is_full(&self) -> bool {
        self.room.get() == 0
    }
}

/// When a search ends before it is through.
#[derive(Clone, Copy)]
struct Limits<'a> {
    stop: &'a CancellationToken,
    until: Instant,
}

/// A file that ends when the search must: one alone can take longer than anybody waits.
struct Bounded<'a> {
    file: std::fs::File,
    limits: Limits<'a>,
}

impl std::io::Read for Bounded<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        if self.limits.stop.is_cancelled() || Instant::now() > self.limits.until {
            return Ok(0);
        }
        self.file.read(into)
    }
}

struct Lines<'a> {
    query: &'a Query,
    name: &'a str,
    shown: Vec<String>,
    matches: usize,
}

impl Lines<'_> {
    fn push(&mut self, number: Option<u64>, mark: char, line: &[u8]) {
        for (at, line) in trimmed(line).split(|byte| *byte == b'\n').enumerate() {
            if self.query.is_full() {
                return;
            }
            // No character has more than four bytes, so what is cut here would be cut below.
            let start = line.get(..4 * (LONGEST_LINE + 1)).unwrap_or(line);
            let line = String::from_utf8_lossy(start);
            let line = match line.char_indices().nth(LONGEST_LINE) {
                Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
                None => line.into_owned(),
            };
            let number = number.filter(|_| self.query.numbers).map(|n| format!("{}{mark}", n + at as u64));
            let name = if self.name.is_empty() { String::new() } else { format!("{}{mark}", self.name) };
            let line = format!("{name}{}{line}", number.unwrap_or_default());
            self.query.took(line.len());
            self.shown.push(line);
        }
    }
}

impl Sink for &mut Lines<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &grep_searcher::Searcher, hit: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        use grep_searcher::SinkError as _;
        self.matches += 1;
        if self.query.mode == Mode::Files {
            return Ok(false);
        }
        if self.query.mode == Mode::Content && self.query.only_matching {
            let query = self.query;
            let each = |part: grep_matcher::Match| {
                self.push(
                    hit.line_number(),
                    ':',
                    hit.bytes().get(part.start()..part.end()).unwrap_or_default(),
                );
                !query.is_full()
            };
            grep_matcher::Matcher::find_iter(&query.matcher, hit.bytes(), each)
                .map_err(|_| std::io::Error::error_message("the search failed"))?;
        } else if self.query.mode == Mode::Content {
            self.push(hit.line_number(), ':', hit.bytes());
        }
        // What is more than anybody reads is not gathered.
        Ok(!self.query.is_full())
    }

    fn context_break(&mut self, _: &grep_searcher::Searcher) -> Result<bool, Self::Error> {
        if self.query.mode == Mode::Content {
            self.query.took(BREAK.len());
            self.shown.push(BREAK.to_owned());
        }
        Ok(!self.query.is_full())
    }

    fn context(&mut self, _: &grep_searcher::Searcher, line: &SinkContext<'_>) -> Result<bool, Self::Error> {
        if self.query.mode == Mode::Content {
            self.push(line.line_number(), '-', line.bytes());
        }
        Ok(!self.query.is_full())
    }
}

/// A line, or several, without the end of the last.
fn trimmed(mut lines: &[u8]) -> &[u8] {
    while let [rest @ .., b'\n' | b'\r'] = lines {
        lines = rest;
    }
    lines
}

struct Window {
    offset: usize,
    limit: usize,
}

impl Window {
    fn of<T>(&self, all: Vec<T>) -> (Vec<T>, usize) {
        let total = all.len();
        (all.into_iter().skip(self.offset).take(self.limit).collect(), total)
    }

    /// What of the whole is shown, when it is not all.
    fn described(&self, total: usize) -> Option<String> {
        let limit =
            (total > self.offset.saturating_add(self.limit)).then(|| format!("limit: {}", self.limit));
        let offset = (self.offset > 0).then(|| format!("offset: {}", self.offset));
        let words: Vec<String> = limit.into_iter().chain(offset).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

/// A number of things, in words.
fn counted(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

fn report(query: &Query, hits: Vec<Hits>, window: Window, timed_out: bool, cwd: &Path) -> Outcome {
    let files = hits.len();
    let matches: usize = hits.iter().map(|hit| hit.matches).sum();
    let (mut text, mut structured, total) = match query.mode {
        Mode::Files => {
            let (names, total) = window.of(hits.iter().map(|hit| shown_from(cwd, &hit.path)).collect());
            let count = names.len();
            let place = window.described(total).map(|place| format!(" {place}")).unwrap_or_default();
            let text = match total {
                0 => "No files found".to_owned(),
                _ => format!("Found {}{place}\n{}", counted(count, "file"), names.join("\n")),
            };
            (
                text,
                json!({ "mode": "files_with_matches", "filenames": names, "numFiles": count, "totalFiles": total }),
                total,
            )
        }
        Mode::Content => {
            let mut all: Vec<String> = Vec::new();
            for hit in hits {
                if query.shows_context() && !all.is_empty() {
                    all.push(BREAK.to_owned());
                }
                all.extend(hit.lines);
            }
            let (lines, total) = window.of(all);
            let mut text = if total == 0 { "No matches found".to_owned() } else { lines.join("\n") };
            if let Some(place) = window.described(total) {
                text.push_str(&format!("\n\n[Showing results with pagination = {place}]"));
            }
            let count = lines.len();
            let structured = json!({
                "mode": "content", "numFiles": 0, "filenames": [], "content": text, "numLines": count, "totalLines": total,
            });
            (text, structured, total)
        }
        Mode::Count => {
            let rows =
                hits.iter().map(|hit| format!("{}:{}", shown_from(cwd, &hit.path), hit.matches)).collect();
            let (rows, total) = window.of::<String>(rows);
            let shown = if total == 0 { "No matches found".to_owned() } else { rows.join("\n") };
            let place = window
                .described(total)
                .map(|place| format!(" with pagination = {place}"))
                .unwrap_or_default();
            let (found, across) = (counted(matches, "total occurrence"), counted(files, "file"));
            let text = format!("{shown}\n\nFound {found} across {across}{place}.");
            let structured = json!({
                "mode": "count", "numFiles": files, "filenames": [], "content": rows.join("\n"), "numMatches": matches,
            });
            (text, structured, total)
        }
    };
    let mut add = |name: &str, value: Value| {
        if let Some(map) = structured.as_object_mut() {
            map.insert(name.to_owned(), value);
        }
    };
    if total > window.offset.saturating_add(window.limit) {
        add("appliedLimit", window.limit.into());
    }
    if window.offset > 0 {
        add("appliedOffset", window.offset.into());
    }
    if timed_out {
        add("timedOut", true.into());
        text.push_str("\n(stopped early: the search took too long or found too much; narrow it)");
    }
    Outcome::text(text, structured)
}
