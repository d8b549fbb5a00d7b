//! The disk of the recordings, from the same list of files that the recorder lays out.

use std::collections::BTreeMap;

use pilothouse_rules::{DirectoryEntry, EntryKind, Files, Listing};

const LAYOUT: &str = include_str!("../real/layout.txt");

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Directory,
    File,
    Link(String),
}

/// Files, directories and links by their absolute paths.
#[derive(Debug)]
pub(crate) struct LaidOut(BTreeMap<String, Node>);

impl LaidOut {
    pub(crate) fn new() -> Self {
        let mut nodes = BTreeMap::new();
        for line in LAYOUT.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (path, node) = match line.split_once(" -> ") {
                Some((path, target)) => (path, Node::Link(target.to_owned())),
                None if line.ends_with('/') => (line, Node::Directory),
                None => (line, Node::File),
            };
            let path = format!("/home/{}", path.trim_end_matches('/'));
            for (at, _) in path.match_indices('/').skip(1) {
                nodes.entry(path[..at].to_owned()).or_insert(Node::Directory);
            }
            nodes.insert(path, node);
        }
        Self(nodes)
    }

    /// The path without links, as long as it exists.
    fn real(&self, path: &str, hops: usize) -> Option<String> {
        let mut real = String::new();
        for segment in path.split('/').filter(|segment| !matches!(*segment, "" | ".")) {
            if segment == ".." {
                real.truncate(real.rfind('/').unwrap_or(0));
                continue;
            }
            let next = format!("{real}/{segment}");
            real = match self.0.get(&next) {
                Some(Node::Link(_)) if hops > 8 => return Some("/".to_owned()),
                Some(Node::Link(target)) if target.starts_with('/') => self.real(target, hops + 1)?,
                Some(Node::Link(target)) => self.real(&format!("{real}/{target}"), hops + 1)?,
                _ => next,
            };
        }
        Some(real)
    }
}

impl Files for LaidOut {
    fn is_dir(&self, path: &str) -> Option<bool> {
        self.0.get(&self.real(path, 0)?).map(|node| *node == Node::Directory)
    }

    fn resolve(&self, path: &str) -> Option<String> {
        self.real(path, 0)
    }

    fn list(&self, directory: &str, most: usize) -> Option<Listing> {
        let directory = self.real(directory, 0)?;
        if self.0.get(&directory) != Some(&Node::Directory) {
            return Some(Listing::Absent);
        }
        let inside = |(path, node): (&String, &Node)| {
            let name = path.strip_prefix(&directory)?.strip_prefix('/').filter(|name| !name.contains('/'))?;
            let kind = match node {
                Node::Directory => EntryKind::Directory,
                Node::Link(_) => EntryKind::Link,
                Node::File => EntryKind::Other,
            };
            Some(DirectoryEntry { name: name.to_owned(), kind })
        };
        let entries: Vec<_> = self.0.iter().filter_map(inside).collect();
        Some(if entries.len() > most { Listing::Unreadable } else { Listing::Entries(entries) })
    }
}
