//! The edits that are safe while a CLI has the file open: appending a line, or removing it all.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde::Serialize;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use crate::error::StoreError;
use crate::id::SessionId;
use crate::no_follow;
use crate::store::Store;

impl Store {
    /// Gives a session a title.
    pub fn rename(&self, id: SessionId, project: Option<&Path>, title: &str) -> Result<(), StoreError> {
        let title = title.trim();
        if title.is_empty() {
            return Err(StoreError::EmptyText("title"));
        }
        append(&self.transcript(id, project)?, &CustomTitle::new(title, id))
    }

    /// Gives a session a tag, in place of the one it had; `None` takes the tag away.
    pub fn tag(&self, id: SessionId, project: Option<&Path>, tag: Option<&str>) -> Result<(), StoreError> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Tag<'a> {
            // Readers look for lines that begin with this member.
            r#type: &'static str,
            tag: &'a str,
            session_id: SessionId,
        }
        let tag = match tag.map(cleaned) {
            Some(tag) if tag.is_empty() => return Err(StoreError::EmptyText("tag")),
            tag => tag.unwrap_or_default(),
        };
        append(&self.transcript(id, project)?, &Tag { r#type: "tag", tag: &tag, session_id: id })
    }

    /// Deletes a session with all that belongs to it. A running CLI would go on writing to the deleted file.
    pub fn delete(&self, id: SessionId, project: Option<&Path>) -> Result<(), StoreError> {
        let path = self.transcript(id, project)?;
        fs::remove_file(&path)?;
        for rest in [fs::remove_dir_all(path.with_extension("")), fs::remove_file(archive_mark(&path))] {
            match rest {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
        }
        Ok(())
    }

    /// Puts a session aside; its transcript stays as it is.
    pub fn archive(&self, id: SessionId, project: Option<&Path>) -> Result<(), StoreError> {
        Ok(no_follow::write(&archive_mark(&self.transcript(id, project)?), b"")?)
    }

    /// Takes a session back that was put aside.
    pub fn unarchive(&self, id: SessionId, project: Option<&Path>) -> Result<(), StoreError> {
        match fs::remove_file(archive_mark(&self.transcript(id, project)?)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }
}

/// The file beside a transcript that says it was put aside.
pub(crate) fn archive_mark(transcript: &Path) -> PathBuf {
    transcript.with_extension("archived")
}

/// The entry that gives a session its title.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CustomTitle<'a> {
    r#type: &'static str,
    custom_title: &'a str,
    session_id: SessionId,
}

impl<'a> CustomTitle<'a> {
    pub(crate) fn new(custom_title: &'a str, session_id: SessionId) -> Self {
        Self { r#type: "custom-title", custom_title, session_id }
    }
}

/// Appends an entry in one write, so that it cannot mix with what a CLI appends at the same time.
fn append(path: &Path, entry: &impl Serialize) -> Result<(), StoreError> {
    let mut file = no_follow::options().read(true).append(true).open(path)?;
    let mut text = Vec::new();
    // A line that breaks off must not swallow ours.
    if file.metadata()?.len() > 0 {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            text.push(b'\n');
        }
    }
    serde_json::to_writer(&mut text, entry).map_err(io::Error::from)?;
    text.push(b'\n');
    Ok(file.write_all(&text)?)
}

/// The tag without what cannot be seen: people and programs compare tags, so equal looks must mean equal text.
fn cleaned(tag: &str) -> String {
    let visible = |c: &char| {
        !matches!(
            c.general_category(),
            GeneralCategory::Control
                | GeneralCategory::Format
                | GeneralCategory::PrivateUse
                | GeneralCategory::Unassigned
                | GeneralCategory::Surrogate
        )
    };
    let tag: String = tag.nfkc().filter(visible).collect();
    tag.trim().nfkc().collect()
}
