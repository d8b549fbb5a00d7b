//! Reads the layers.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::document::{LineIndex, Node, Position, parse};
use crate::problem::{Problem, ProblemKind};
use crate::{Layer, Locations, Sources, Trust, permissions, schema};

/// More than this is no settings file; it is reported and not read.
const LARGEST_FILE: u64 = 8 * 1024 * 1024;

/// Where a value was written: the layer, the file unless it came from the command line, and the place in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The layer.
    pub layer: Layer,
    /// The file; none for JSON given on the command line.
    pub file: Option<Arc<Path>>,
    /// The place in the file.
    pub at: Option<Position>,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.layer) {
            (Some(file), _) => write!(f, "{}", file.display())?,
            (None, Layer::Policy) => f.write_str("--managed-settings")?,
            (None, _) => f.write_str("--settings")?,
        }
        match self.at {
            Some(at) => write!(f, ":{}:{}", at.line, at.column),
            None => Ok(()),
        }
    }
}

/// What `--settings` was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlagSettings {
    /// JSON text on the command line itself.
    Json(String),
    /// A file.
    File(PathBuf),
}

/// Why the argument of `--settings` cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("`--settings` is neither JSON nor a file that exists: {}", path.display())]
pub struct FlagError {
    /// The path that was looked for.
    pub path: PathBuf,
}

impl FlagSettings {
    /// Decides what an argument of `--settings` is: JSON if it parses as an object, else the path of a file.
    ///
    /// # Errors
    /// When it is not JSON and there is no such file.
    pub fn from_argument(argument: &str, cwd: &Path) -> Result<Self, FlagError> {
        if argument.trim_start().starts_with('{') && parse(argument).is_ok() {
            return Ok(FlagSettings::Json(argument.to_owned()));
        }
        let path = cwd.join(argument);
        if path.is_file() { Ok(FlagSettings::File(path)) } else { Err(FlagError { path }) }
    }
}

/// What to read besides the files at their usual places.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// Which files count.
    pub sources: Sources,
    /// What `--settings` was given.
    pub flag: Option<FlagSettings>,
    /// Policy as JSON, what `--managed-settings` was given.
    pub managed: Option<String>,
    /// Whether the workspace is trusted; looked up in the state file when absent.
    pub trust: Option<Trust>,
}

/// Everything that was read, layer by layer, lowest first.
#[derive(Debug, Clone)]
pub struct Settings {
    pub(crate) documents: Vec<Document>,
    pub(crate) locations: Locations,
    pub(crate) trust: Trust,
}

/// One file, or the text of one flag.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    pub(crate) layer: Layer,
    pub(crate) file: Option<Arc<Path>>,
    pub(crate) root: Node,
}

impl Document {
    pub(crate) fn origin(&self, at: Position) -> Origin {
        Origin { layer: self.layer, file: self.file.clone(), at: Some(at) }
    }
}

impl Settings {
    /// Reads every layer. Files that are absent are simply not there; everything else that is wrong is reported.
    pub fn load(locations: &Locations, options: &LoadOptions) -> (Settings, Vec<Problem>) {
        let mut problems = Vec::new();
        let mut documents = Vec::new();
        for layer in [Layer::User, Layer::Project, Layer::Local] {
            if let (true, Some(path)) = (options.sources.contains(layer), locations.file(layer)) {
                documents.extend(read_layer(layer, &path, &mut problems));
            }
        }
        match &options.flag {
            Some(FlagSettings::Json(text)) => {
                documents.extend(check(Layer::Flag, None, text, &mut problems));
            }
            Some(FlagSettings::File(path)) => {
                documents.extend(read_layer(Layer::Flag, path, &mut problems));
            }
            None => {}
        }
        let (policies, unlisted) = locations.policy_files();
        for path in policies {
            documents.extend(read_layer(Layer::Policy, &path, &mut problems));
        }
        if let Some((directory, error)) = unlisted {
            let origin = Origin { layer: Layer::Policy, file: Some(Arc::from(directory)), at: None };
            problems.push(Problem { origin, kind: ProblemKind::Unreadable(error.to_string()) });
        }
        if let Some(text) = &options.managed {
            documents.extend(check(Layer::Policy, None, text, &mut problems));
        }
        let trust = options.trust.unwrap_or_else(|| Trust::look_up(locations));
        let settings = Settings { documents, locations: locations.clone(), trust };
        problems.extend(permissions::collect(&settings).1);
        (settings, problems)
    }

    /// Settings of one layer from a text, for a program that keeps them elsewhere.
    pub fn from_text(
        layer: Layer,
        text: &str,
        locations: &Locations,
        trust: Trust,
    ) -> (Settings, Vec<Problem>) {
        let mut problems = Vec::new();
        let documents = check(layer, None, text, &mut problems).into_iter().collect();
        let settings = Settings { documents, locations: locations.clone(), trust };
        problems.extend(permissions::collect(&settings).1);
        (settings, problems)
    }

    /// The files and flags that were read and are in use, lowest layer first.
    pub fn documents(&self) -> impl Iterator<Item = (Origin, &Node)> {
        self.documents.iter().map(|document| {
            (Origin { layer: document.layer, file: document.file.clone(), at: None }, &document.root)
        })
    }

    /// Whether the workspace is trusted.
    pub fn trust(&self) -> Trust {
        self.trust
    }

    /// The places these settings came from.
    pub fn locations(&self) -> &Locations {
        &self.locations
    }
}

fn read_layer(layer: Layer, path: &Path, problems: &mut Vec<Problem>) -> Option<Document> {
    let file: Arc<Path> = Arc::from(path);
    let mut report = |kind, at| {
        problems.push(Problem { origin: Origin { layer, file: Some(file.clone()), at }, kind });
        None
    };
    let bytes = match read_capped(path) {
        Ok(Some(Ok(bytes))) => bytes,
        Ok(Some(Err(size))) => {
            let kind = ProblemKind::TooLarge { bytes: size, limit: LARGEST_FILE };
            return report(kind, None);
        }
        Ok(None) => return None,
        Err(error) => return report(ProblemKind::Unreadable(error.to_string()), None),
    };
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let good = error.utf8_error().valid_up_to();
            let before = error.as_bytes().get(..good).unwrap_or_default();
            let before = String::from_utf8_lossy(before);
            let at = LineIndex::new(&before).position(before.len());
            return report(ProblemKind::NotUtf8, Some(at));
        }
    };
    check(layer, Some(file), &text, problems)
}

/// The bytes of a file, or its size if it is too large, or nothing if it is not there. Only regular files are opened:
/// a pipe or a device under this name would block or never end.
fn read_capped(path: &Path) -> std::io::Result<Option<Result<Vec<u8>, u64>>> {
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    if !metadata.is_file() {
        return Err(std::io::Error::other("not a regular file"));
    }
    if metadata.len() > LARGEST_FILE {
        return Ok(Some(Err(metadata.len())));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    Ok(Some(if length > LARGEST_FILE { Err(length) } else { Ok(bytes) }))
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

fn check(layer: Layer, file: Option<Arc<Path>>, text: &str, problems: &mut Vec<Problem>) -> Option<Document> {
    let mut report = |kind, at| {
        problems.push(Problem { origin: Origin { layer, file: file.clone(), at: Some(at) }, kind });
    };
    let (root, repeated) = match parse(text) {
        Ok(parsed) => parsed,
        Err(error) => {
            report(ProblemKind::Syntax(error.message), error.at);
            return None;
        }
    };
    for (key, at) in repeated {
        report(ProblemKind::DuplicateKey(key), at);
    }
    let found = schema::check(&root);
    let aside = found.iter().any(|(kind, _)| kind.sets_file_aside());
    for (kind, at) in found {
        report(kind, at);
    }
    (!aside).then_some(Document { layer, file, root })
}
