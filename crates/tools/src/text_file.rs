//! Text files as the tools read and write them.

use std::borrow::Cow;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use crate::places::Place;

/// No tool takes in more of a file than this; larger ones are read in parts or searched.
pub(crate) const LARGEST: u64 = 64 << 20;

/// No model takes more of a picture than this, which is 5 MB in base64.
pub(crate) const LARGEST_IMAGE: usize = 3_750_000;

/// Some programs begin their texts with it.
const MARK: char = '\u{feff}';

/// The same mark as UTF-16 has it, low byte first.
const UTF16_MARK: &[u8] = &[0xff, 0xfe];

/// The text of a file, and what has to be kept when it is written back.
#[derive(Debug)]
pub(crate) struct TextFile {
    /// With `\n` line ends, unless the file has both kinds.
    pub(crate) text: String,
    pub(crate) form: Form,
    /// How many bytes it has.
    pub(crate) size: u64,
    /// False when some bytes are no UTF-8 and were replaced: then it must not be written back.
    pub(crate) is_exact: bool,
}

/// How a text lies in its file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Form {
    /// Whether every line ends in `\r\n`.
    pub(crate) crlf: bool,
    /// Whether it begins with a byte order mark.
    pub(crate) mark: bool,
    /// Whether it is UTF-16, low byte first, which is known by its mark.
    pub(crate) utf16: bool,
}

impl TextFile {
    /// Refuses a file that cannot be changed in part without changing the rest.
    pub(crate) fn changeable(self, place: &Place) -> Result<Self, TextError> {
        if self.is_exact { Ok(self) } else { Err(TextError::OtherEncoding(place.path.display().to_string())) }
    }
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
        "{path} is too large ({size} bytes; the limit is {LARGEST}); search it, or read a part of it with Bash (`sed -n`)"
    )]
    TooLarge { path: String, size: u64 },
    #[error(
        "{0} is not UTF-8, and an edit would change more than it says; use Bash with a tool that knows its encoding"
    )]
    OtherEncoding(String),
    #[error(
        "{path} has {size} bytes, more than a model takes of a picture ({LARGEST_IMAGE}); make it smaller with Bash first"
    )]
    LargeImage { path: String, size: usize },
    #[error(
        "{0} is named like a picture, but its bytes are no PNG, JPEG, GIF or WebP; look at it with Bash (`file`, `head -c`)"
    )]
    NoImage(String),
    #[error(
        "{path} is {width} by {height} pixels, and models take no more than {limit} a side; make it smaller with Bash first"
    )]
    WideImage { path: String, width: u32, height: u32, limit: u32 },
    #[error("{0} is named like a PDF, but it is none; look at it with Bash (`file`, `head -c`)")]
    NoPdf(String),
    #[error("{path} is not a valid notebook: {problem}; it may be cut off, or still being written")]
    Notebook { path: String, problem: String },
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
    let size = bytes.len() as u64;
    let (text, is_exact, utf16) = match bytes.strip_prefix(UTF16_MARK) {
        Some(units) => {
            let (text, is_exact) = from_utf16(units);
            (text, is_exact, true)
        }
        None if bytes.iter().take(8192).any(|byte| *byte == 0) => {
            return Err(TextError::Binary(place.path.display().to_string()));
        }
        None => match String::from_utf8(bytes) {
            Ok(text) => (text, true, false),
            Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), false, false),
        },
    };
    let (text, mark) = match text.strip_prefix(MARK) {
        Some(rest) => (rest.to_owned(), true),
        None => (text, false),
    };
    let ends = text.matches("\r\n").count();
    let crlf = ends > 0 && ends == text.matches('\n').count();
    let text = if crlf { text.replace("\r\n", "\n") } else { text };
    Ok(TextFile { text, size, form: Form { crlf, mark, utf16 }, is_exact })
}

fn from_utf16(bytes: &[u8]) -> (String, bool) {
    let units: Vec<u16> =
        bytes.chunks_exact(2).map(|unit| unit.iter().rev().fold(0, |n, b| n << 8 | u16::from(*b))).collect();
    match String::from_utf16(&units) {
        Ok(text) if bytes.len().is_multiple_of(2) => (text, true),
        _ => (String::from_utf16_lossy(&units), false),
    }
}

/// Puts `text` in the place of a file in one step: whoever reads it sees the old or the new content, never a half.
///
/// A link was followed, so that it stays a link; missing folders are made; the file keeps its permissions.
pub(crate) fn replace(place: &Place, text: &str, form: Form) -> io::Result<()> {
    let name = place.real.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    let (_open, folder) = place.folder()?;
    let target = folder.join(name);
    let mut scratch = tempfile::Builder::new().prefix(".pilothouse-").tempfile_in(&folder)?;
    let lines = if form.crlf { Cow::Owned(text.replace('\n', "\r\n")) } else { Cow::Borrowed(text) };
    if form.utf16 {
        scratch.write_all(UTF16_MARK)?;
        let units: Vec<u8> = lines.encode_utf16().flat_map(u16::to_le_bytes).collect();
        scratch.write_all(&units)?;
    } else {
        if form.mark {
            scratch.write_all(MARK.encode_utf8(&mut [0; 4]).as_bytes())?;
        }
        scratch.write_all(lines.as_bytes())?;
    }
    let permissions = match std::fs::symlink_metadata(&target) {
        Ok(meta) if meta.is_file() => meta.permissions(),
        _ => fresh_permissions(),
    };
    keep_owner(&scratch, &target);
    scratch.as_file().set_permissions(permissions)?;
    scratch.persist(&target).map_err(|e| e.error)?;
    Ok(())
}

/// A file of somebody else's stays theirs, where this process may say so.
fn keep_owner(scratch: &tempfile::NamedTempFile, target: &Path) {
    use std::os::unix::fs::MetadataExt as _;
    if let (Ok(old), Ok(new)) = (std::fs::symlink_metadata(target), scratch.as_file().metadata())
        && (old.uid(), old.gid()) != (new.uid(), new.gid())
    {
        let _ = std::os::unix::fs::fchown(scratch.as_file(), Some(old.uid()), Some(old.gid()));
    }
}

/// Temporary files are private; a new file of the project is not.
fn fresh_permissions() -> std::fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o644)
}
