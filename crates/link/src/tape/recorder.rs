use std::fmt;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use pilothouse_proc::{Exit, Spawn};
use serde_json::{Map, Value, json};

use super::mask::{mask_json, mask_text};
use super::tap::{Direction, Tap};

/// Writes a tape. Keys, tokens and passwords are masked before they reach it.
///
/// ```
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("tape.ndjson");
/// use std::sync::Arc;
/// use pilothouse_link::tape::{Recorder, Tape};
/// use pilothouse_link::{Connect, Host, Transport};
///
/// let (here, _there) = Transport::memory();
/// let recorder = Arc::new(Recorder::create(&path)?);
/// let (host, _events) = Connect::<Host>::new().tap(recorder.clone()).over(here);
/// host.send_raw(r#"{"type":"keep_alive"}"#).await.unwrap();
/// recorder.result()?;
///
/// let (tape, problems) = Tape::load(&path)?;
/// assert_eq!((tape.entries.len(), problems.len()), (1, 0));
/// # Ok::<(), std::io::Error>(()) }).unwrap();
/// ```
pub struct Recorder {
    begun: Instant,
    out: Mutex<Out>,
}

struct Out {
    stream: Box<dyn Write + Send>,
    /// The first failure; nothing is written after it.
    failure: Option<io::Error>,
}

impl Recorder {
    /// Records to a file, which only its owner may read: conversations hold more than masking can know.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        let file: File = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
        // The mode above is only for one that was not there.
        file.set_permissions(Permissions::from_mode(0o600))?;
        Ok(Self::to(BufWriter::new(file)))
    }

    /// Records to any stream.
    pub fn to(stream: impl Write + Send + 'static) -> Self {
        Self { begun: Instant::now(), out: Mutex::new(Out { stream: Box::new(stream), failure: None }) }
    }

    /// Whether everything so far was written.
    ///
    /// # Errors
    /// The first error, once; the tape ends there.
    pub fn result(&self) -> io::Result<()> {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        out.failure.take().map_or(Ok(()), Err)
    }

    fn write(&self, dir: &str, key: &str, text: &str) {
        let t = self.begun.elapsed().as_millis();
        self.write_line(&format!("{{\"t\":{t},\"dir\":\"{dir}\",\"{key}\":{text}}}\n"));
    }

    fn write_meta(&self, fields: Value) {
        let mut line = Map::new();
        let t = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        line.insert("t".into(), t.into());
        line.insert("dir".into(), "meta".into());
        if let Value::Object(fields) = fields {
            line.extend(fields);
        }
        self.write_line(&format!("{}\n", Value::Object(line)));
    }

    /// Each line reaches the file at once: the end of a tape matters most when the process did not end well.
    fn write_line(&self, line: &str) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        if out.failure.is_none()
            && let Err(error) = out.stream.write_all(line.as_bytes()).and_then(|()| out.stream.flush())
        {
            tracing::warn!(%error, "the tape ends here");
            out.failure = Some(error);
        }
    }
}

impl Tap for Recorder {
    fn line(&self, direction: Direction, line: &[u8]) {
        let dir = match direction {
            Direction::In => "in",
            Direction::Out => "out",
        };
        match mask_json(line) {
            Some(text) => self.write(dir, "msg", &text),
            None => self.write(dir, "raw", &quoted(&String::from_utf8_lossy(line))),
        }
    }

    fn started(&self, spawn: &Spawn) {
        let text = |text: &std::ffi::OsStr| mask_text(&text.to_string_lossy()).into_owned();
        let args: Vec<_> = spawn.get_args().iter().map(|arg| text(arg)).collect();
        let env = spawn.get_env().iter().map(|(name, value)| {
            let value = value.as_ref().map_or(Value::Null, |value| value.to_string_lossy().into());
            (name.to_string_lossy().into_owned(), value)
        });
        let mut fields = json!({ "spawn": args, "env": env.collect::<Map<_, _>>() });
        if let Some(masked) =
            mask_json(fields.to_string().as_bytes()).and_then(|text| serde_json::from_str(&text).ok())
        {
            fields = masked;
        }
        self.write_meta(fields);
    }

    fn stderr(&self, line: &str) {
        self.write("err", "raw", &quoted(line));
    }

    fn input_closed(&self) {
        self.write_meta(json!({ "stdin": "closed" }));
    }

    fn ended(&self, exit: Option<Exit>) {
        let Some(status) = exit.and_then(|exit| exit.status) else {
            return;
        };
        // A signal stands as a negative number.
        let code = status.code().or_else(|| status.signal().map(|signal| -signal));
        self.write_meta(json!({ "exit": code, "ended_by": null }));
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("begun", &self.begun).finish_non_exhaustive()
    }
}

fn quoted(text: &str) -> String {
    Value::from(mask_text(text)).to_string()
}
