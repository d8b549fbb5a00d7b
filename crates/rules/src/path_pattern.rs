//! Path rules in the style of gitignore.
//!
//! `//abs` starts at the root of the disk, `~/x` at home, `/x` at the directory of the settings file, anything
//! else at the working directory. A pattern without an inner slash matches at any depth, also when it starts with
//! `./`. What matches a directory also matches all that is below it. Upper and lower case are the same.

use crate::glob::Glob;

/// Where relative patterns start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bases<'a> {
    pub(crate) cwd: &'a str,
    pub(crate) settings: &'a str,
    pub(crate) home: &'a str,
}

/// A compiled path pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathPattern {
    root: Vec<String>,
    segments: Vec<Segment>,
    /// A pattern that starts with `**` names files wherever they are; a deny then means the whole disk.
    floating: bool,
    /// A lone `dir/**`: a deny means every directory of that name below the base.
    lone_directory: bool,
    /// Leads out of its base by `..`, or is a comment or an exception in a file of patterns: only a deny still follows it.
    only_forbids: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    AnyDepth,
    Name(String),
    Glob(Glob),
}

impl Segment {
    fn matches(&self, name: &str) -> bool {
        match self {
            Self::AnyDepth => true,
            // Patterns are in lower case; a copy of the name is made only where it is not.
            Self::Name(own) => {
                own.eq_ignore_ascii_case(name) || !name.is_ascii() && *own == name.to_lowercase()
            }
            Self::Glob(glob) if name.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase()) => {
                glob.matches(name)
            }
            Self::Glob(glob) => glob.matches(&name.to_lowercase()),
        }
    }
}

impl PathPattern {
    /// Compiles the content of a path rule.
    pub(crate) fn compile(content: &str, bases: Bases<'_>) -> Self {
        let content = content.trim_end();
        let (root, rest, anchored) = if let Some(rest) = content.strip_prefix("//") {
            ("/", rest, true)
        } else if content == "~" {
            (bases.home, "", true)
        } else if let Some(rest) = content.strip_prefix("~/") {
            (bases.home, rest, true)
        } else if let Some(rest) = content.strip_prefix('/') {
            (bases.settings, rest, true)
        } else {
            let rest = content.strip_prefix("./").unwrap_or(content);
            (bases.cwd, rest, rest.trim_end_matches('/').contains('/'))
        };
        let is_relative = !content.starts_with(['/', '~']);
        let rest = rest.to_lowercase();
        let mut root: Vec<String> =
            root.split('/').filter(|s| !s.is_empty()).map(ToOwned::to_owned).collect();
        let mut segments = Vec::new();
        let mut only_forbids = content.starts_with(['#', '!']);
        if !anchored {
            segments.push(Segment::AnyDepth);
        }
        for name in rest.split('/').filter(|s| !s.is_empty() && *s != ".") {
            match name {
                ".." if segments.is_empty() => {
                    only_forbids = true;
                    root.pop();
                }
                "**" => segments.push(Segment::AnyDepth),
                name => segments.push(match Glob::parse(name) {
                    Some(glob) => Segment::Glob(glob),
                    None => Segment::Name(crate::glob::unescape(name)),
                }),
            }
        }
        // `dir/**` is meant to cover the directory as well: a listing of it shows nothing else.
        while segments.len() > 1 && segments.last() == Some(&Segment::AnyDepth) {
            segments.pop();
        }
        let floating = segments.first() == Some(&Segment::AnyDepth) && segments.len() > 1;
        let lone_directory = is_relative && anchored && segments.len() == 1;
        Self { root, segments, floating, lone_directory, only_forbids }
    }

    /// Whether a clean absolute path is covered. `anywhere` is for what forbids: patterns that start with `**` leave
    /// their base, and a lone directory counts at any depth.
    pub(crate) fn matches(&self, path: &[&str], anywhere: bool) -> bool {
        if self.only_forbids && !anywhere {
            return false;
        }
        let rest = if self.root.len() <= path.len() && self.root.iter().zip(path).all(|(a, b)| a == b) {
            &path[self.root.len()..]
        } else if anywhere && self.floating {
            path
        } else {
            return false;
        };
        self.covers(rest)
            || anywhere && self.lone_directory && (1..rest.len()).any(|from| self.covers(&rest[from..]))
    }

    /// Matches the segments against a path or any directory above it: greedy, going back to the last `**` only.
    fn covers(&self, path: &[&str]) -> bool {
        let (mut at, mut own) = (0, 0);
        let mut retry: Option<(usize, usize)> = None;
        loop {
            match self.segments.get(own) {
                None => return true,
                Some(Segment::AnyDepth) => {
                    retry = Some((at, own + 1));
                    own += 1;
                }
                Some(segment) => {
                    if path.get(at).is_some_and(|name| segment.matches(name)) {
                        at += 1;
                        own += 1;
                        continue;
                    }
                    match retry {
                        Some((from, resume)) if from < path.len() => {
                            retry = Some((from + 1, resume));
                            at = from + 1;
                            own = resume;
                        }
                        _ => return false,
                    }
                }
            }
        }
    }

    /// Whether shell globs in a path could make it name a covered file. `path` has globs in some segment.
    pub(crate) fn may_match_glob(&self, path: &[&str]) -> Possible {
        let Some(last) = path.last() else { return Possible::No };
        let Some(word) = Glob::parse(last) else { return Possible::No };
        match self.segments.last() {
            Some(Segment::Name(name)) if word.matches_file(name) => Possible::Yes,
            Some(Segment::Name(_)) => Possible::No,
            Some(Segment::Glob(_)) => Possible::Perhaps,
            Some(Segment::AnyDepth) | None => Possible::Perhaps,
        }
    }

    /// Whether it names files wherever they are.
    pub(crate) fn is_floating(&self) -> bool {
        self.floating
    }

    /// Whether a file below this directory could be covered.
    pub(crate) fn may_match_below(&self, directory: &[&str]) -> bool {
        let shared = self.root.len().min(directory.len());
        self.floating
            || self.root.iter().zip(directory).take(shared).all(|(a, b)| a == b) && {
                // Names after the root must agree as far as both go.
                directory.len() <= self.root.len()
                    || directory[self.root.len()..]
                        .iter()
                        .zip(&self.segments)
                        .take_while(|(_, segment)| **segment != Segment::AnyDepth)
                        .all(|(name, segment)| segment.matches(name))
            }
    }

    /// Whether every path that the other covers is covered by this one, as far as names alone can tell.
    pub(crate) fn covers_pattern(&self, other: &Self) -> bool {
        let literal = |segments: &[Segment]| -> Option<Vec<String>> {
            segments
                .iter()
                .map(|segment| match segment {
                    Segment::Name(name) => Some(name.clone()),
                    _ => None,
                })
                .collect()
        };
        if self == other {
            return true;
        }
        let Some(names) = literal(&other.segments) else { return false };
        let path: Vec<&str> = other.root.iter().chain(&names).map(String::as_str).collect();
        self.matches(&path, false)
    }

    /// Whether a directory of that name further below could be covered: a lone directory counts at any depth.
    pub(crate) fn may_match_deeper(&self, directory: &[&str]) -> bool {
        self.lone_directory && self.root.iter().zip(directory).all(|(a, b)| a == b)
    }

    /// Whether what it covers has a name on its way that starts with a dot.
    pub(crate) fn has_dot_name(&self) -> bool {
        self.segments.iter().any(|segment| match segment {
            Segment::AnyDepth => false,
            Segment::Name(name) => name.starts_with('.'),
            Segment::Glob(glob) => glob.starts_with('.'),
        })
    }
}

/// What can be said about a path that is not fully known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Possible {
    No,
    Perhaps,
    Yes,
}

#[cfg(test)]
#[path = "path_pattern_tests.rs"]
mod tests;
