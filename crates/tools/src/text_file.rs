//! Text files as the tools read and write them.

use std::io::{self, Read as _, Write as _};

use crate::places::Place;

/// No tool takes in more of a file than this; larger ones are read in parts or searched.
pub(crate) const LARGEST: u64 = 64 << 20;

/// The text of a file, and what has to be kept when it is written back.
#[derive(Debug)]
pub(crate) struct TextFile {
    /// With `\n` line ends.
    pub(crate) text: String,
    /// Whether the lines ended in `\r\n`.
    pub(crate) crlf: bool,
}

/// Why a file could not be taken as text.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TextError {
    #[error("{0} does not exist")]
    Missing(String),
    #[error("{0} is a directory, not a file")]
    Directory(String),
    #[error("{0} is not a regular file; devices, pipes and sockets cannot be read")]
    Special(String),
    #[error(
        "{path} is too large ({size} bytes; the limit is {LARGEST}); read a part of it with offset and limit, or search it"
    )]
    TooLarge { path: String, size: u64 },
    #[error("{0} looks like a binary file; use Bash with a tool that understands its format")]
    Binary(String),
    #[error("cannot read {path}: {source}")]
    Io { path: String, source: io::Error },
}

/// Reads the bytes of a regular file. What was opened is looked at, not what the path leads to a moment later.
pub(crate) fn read_bytes(place: &Place) -> Result<Vec<u8>, TextError> {
    let name = || place.path.display().to_string();
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => TextError::Missing(name()),
        _ => TextError::Io { path: name(), source },
    };
    let file = match place.open() {
        // A socket cannot even be opened.
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => {
            return Err(TextError::Special(name()));
        }
        opened => opened.map_err(failed)?,
    };
    let meta = file.metadata().map_err(failed)?;
    if meta.is_dir() {
        return Err(TextError::Directory(name()));
    }
    if !meta.is_file() {
        return Err(TextError::Special(name()));
    }
    if meta.len() > LARGEST {
        return Err(TextError::TooLarge { path: name(), size: meta.len() });
    }
    let mut bytes = Vec::new();
    // The length above may lie: files under /proc have none, and a file can grow.
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LARGEST {
        return Err(TextError::TooLarge { path: name(), size: bytes.len() as u64 });
    }
    Ok(bytes)
}

/// Reads a file as text; invalid UTF-8 in an otherwise textual file becomes U+FFFD.
pub(crate) fn read(place: &Place) -> Result<TextFile, TextError> {
    let bytes = read_bytes(place)?;
    if bytes.iter().take(8192).any(|byte| *byte == 0) {
        return Err(TextError::Binary(place.path.display().to_string()));
    }
    let text =
        String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned());
    let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
    let crlf = text.contains("\r\n");
    Ok(TextFile { text: if crlf { text.replace("\r\n", "\n") } else { text }, crlf })
}

/// Puts `text` in the place of a file in one step: whoever reads it sees the old or the new content, never a half.
///
/// A link was followed, so that it stays a link; missing folders are made; the file keeps its permissions.
pub(crate) fn replace(place: &Place, text: &str, crlf: bool) -> io::Result<()> {
    let name = place.real.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    let (_open, folder) = place.folder()?;
    let target = folder.join(name);
    let mut scratch = tempfile::Builder::new().prefix(".pilothouse-").tempfile_in(&folder)?;
    if crlf {
        scratch.write_all(text.replace('\n', "\r\n").as_bytes())?;
    } else {
        scratch.write_all(text.as_bytes())?;
    }
    let permissions = match std::fs::symlink_metadata(&target) {
        Ok(meta) if meta.is_file() => meta.permissions(),
        _ => fresh_permissions(),
    };
    scratch.as_file().set_permissions(permissions)?;
    scratch.persist(&target).map_err(|e| e.error)?;
    Ok(())
}

/// Temporary files are private; a new file of the project is not.
fn fresh_permissions() -> std::fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o644)
}
