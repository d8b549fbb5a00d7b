use super::{Flag, Takes};

/// A command line, without the program.
///
/// Hosts build one and write it as `--flag=value` tokens, so that no value can be taken for a flag. Agents read one in
/// either form.
///
/// ```
/// use pilothouse_proto::launch::{Argv, Flag};
///
/// let mut argv = Argv::stream_json();
/// argv.set(Flag::Model, "opus").set(Flag::SettingSources, "");
/// let tokens = argv.tokens();
/// assert_eq!(tokens[3..], ["--model=opus", "--setting-sources="]);
///
/// let read = Argv::parse(["--model", "opus", "--allowed-tools", "Read", "Bash(ls *)", "--verbose", "hi"])?;
/// assert_eq!(read.value(Flag::Model), Some("opus"));
/// assert_eq!(read.values(Flag::AllowedTools).collect::<Vec<_>>(), ["Read", "Bash(ls *)"]);
/// assert_eq!((read.has(Flag::Verbose), read.positionals()), (true, &["hi".to_owned()][..]));
/// # Ok::<(), pilothouse_proto::launch::LaunchError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Argv {
    flags: Vec<(Flag, Option<String>)>,
    passed_through: Vec<String>,
    positionals: Vec<String>,
}

/// Why a command line cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// There is no such flag.
    #[error("unknown option '{0}'")]
    Unknown(String),
    /// A flag lacks its value.
    #[error("option '{0}' needs a value")]
    NeedsValue(&'static str),
    /// A flag has a value that it does not take.
    #[error("option '{0}' takes no value")]
    TakesNoValue(&'static str),
}

impl Argv {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The three flags that every host passes first.
    pub fn stream_json() -> Self {
        let mut argv = Self::new();
        argv.set(Flag::OutputFormat, "stream-json")
            .switch(Flag::Verbose)
            .set(Flag::InputFormat, "stream-json");
        argv
    }

    /// Adds a flag without a value.
    pub fn switch(&mut self, flag: Flag) -> &mut Self {
        self.flags.push((flag, None));
        self
    }

    /// Adds a flag with a value; repeat it to add more.
    pub fn set(&mut self, flag: Flag, value: impl Into<String>) -> &mut Self {
        self.flags.push((flag, Some(value.into())));
        self
    }

    /// Adds tokens as they are, after all flags: for flags without a type here.
    pub fn pass_through(&mut self, tokens: impl IntoIterator<Item = impl Into<String>>) -> &mut Self {
        self.passed_through.extend(tokens.into_iter().map(Into::into));
        self
    }

    /// The tokens to start the CLI with.
    pub fn tokens(&self) -> Vec<String> {
        let flags = self.flags.iter().map(|(flag, value)| match value {
            Some(value) => format!("{}={value}", flag.name()),
            None => flag.name().to_owned(),
        });
        flags.chain(self.passed_through.iter().cloned()).chain(self.positionals.iter().cloned()).collect()
    }

    /// Whether a flag is there.
    pub fn has(&self, flag: Flag) -> bool {
        self.flags.iter().any(|(found, _)| *found == flag)
    }

    /// The value of a flag; the last one counts.
    pub fn value(&self, flag: Flag) -> Option<&str> {
        self.flags.iter().rev().find(|(found, _)| *found == flag)?.1.as_deref()
    }

    /// All values of a flag, in order.
    pub fn values(&self, flag: Flag) -> impl Iterator<Item = &str> {
        self.flags.iter().filter(move |(found, _)| *found == flag).filter_map(|(_, value)| value.as_deref())
    }

    /// What is no flag and no value of one.
    pub fn positionals(&self) -> &[String] {
        &self.positionals
    }

    /// Reads a command line in either form, `--flag=value` or `--flag value`.
    pub fn parse(tokens: impl IntoIterator<Item = impl Into<String>>) -> Result<Self, LaunchError> {
        let mut argv = Self::new();
        let mut tokens = tokens.into_iter().map(Into::into).peekable();
        while let Some(token) = tokens.next() {
            if token == "--" {
                argv.positionals.extend(tokens);
                break;
            }
            if !is_flag(&token) {
                argv.positionals.push(token);
                continue;
            }
            let (spelling, inline) = match token.split_once('=') {
                Some((spelling, value)) if spelling.starts_with("--") => (spelling, Some(value.to_owned())),
                _ => (token.as_str(), None),
            };
            let flag = Flag::find(spelling).ok_or_else(|| LaunchError::Unknown(spelling.to_owned()))?;
            match (flag.takes(), inline) {
                (Takes::Switch, Some(_)) => return Err(LaunchError::TakesNoValue(flag.name())),
                (Takes::Switch, None) => argv.flags.push((flag, None)),
                (_, Some(value)) => argv.flags.push((flag, Some(value))),
                (Takes::Value, None) => {
                    let value = tokens.next().ok_or(LaunchError::NeedsValue(flag.name()))?;
                    argv.flags.push((flag, Some(value)));
                }
                (Takes::Optional, None) => argv.flags.push((flag, tokens.next_if(|next| !is_flag(next)))),
                (Takes::List, None) => {
                    let first = tokens.next().ok_or(LaunchError::NeedsValue(flag.name()))?;
                    argv.flags.push((flag, Some(first)));
                    while let Some(value) = tokens.next_if(|next| !is_flag(next)) {
                        argv.flags.push((flag, Some(value)));
                    }
                }
            }
        }
        Ok(argv)
    }
}

fn is_flag(token: &str) -> bool {
    token.len() > 1 && token.starts_with('-')
}
