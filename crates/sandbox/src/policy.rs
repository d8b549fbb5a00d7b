use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

/// What a confined program may reach. The default confines nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Files and folders that are covered by empty ones. Missing ones are passed over.
    pub hide: Vec<PathBuf>,
    /// Files and folders that stay as they are although a folder above them is hidden.
    pub keep: Vec<PathBuf>,
    /// Files and folders that can be read but not written.
    pub freeze: Vec<PathBuf>,
    /// The only folders beneath which anything may be written; `None` leaves writing as it is.
    pub writable: Option<Vec<PathBuf>>,
    /// Gives the program a network of its own, with nothing but loopback.
    pub no_network: bool,
    /// Receives a listening socket of that network, by `SCM_RIGHTS`: a proxy serves it from outside.
    pub proxy: Option<PathBuf>,
    /// Refuses system calls that ordinary programs do not need, and any gain of privileges by exec.
    pub filter: bool,
    /// Lets the filter pass sockets of the Unix domain.
    pub unix_sockets: bool,
    /// Goes on without a layer that the kernel lacks.
    pub best_effort: bool,
    /// Layers that count as missing: for tests.
    pub without: Vec<Layer>,
    /// Variables that only the program gets, because the dynamic linker would obey them in the helper already.
    pub variables: Vec<(OsString, OsString)>,
}

/// One of the things that a kernel may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// User, mount and network namespaces.
    Namespaces,
    /// Landlock.
    Landlock,
    /// Filters of system calls.
    Seccomp,
}

impl Layer {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Namespaces, Self::Landlock, Self::Seccomp];

    /// The name on command lines.
    pub fn name(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::Landlock => "landlock",
            Self::Seccomp => "seccomp",
        }
    }

    /// The layer of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layer| layer.name() == name)
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Namespaces => "user namespaces",
            Self::Landlock => "Landlock",
            Self::Seccomp => "seccomp",
        })
    }
}

/// The helper was called with arguments that this version does not write.
#[derive(Debug, thiserror::Error)]
#[error("the sandbox does not know the argument {0:?}: the helper is of another version")]
pub struct BadArguments(OsString);

impl Policy {
    /// Whether a mount namespace is needed.
    pub(crate) fn mounts(&self) -> bool {
        !self.hide.is_empty() || !self.freeze.is_empty()
    }

    /// The layers that this policy needs.
    pub fn needs(&self) -> Vec<Layer> {
        let needs = |layer: &Layer| match layer {
            Layer::Namespaces => self.mounts() || self.no_network,
            Layer::Landlock => self.writable.is_some(),
            Layer::Seccomp => self.filter,
        };
        Layer::ALL.into_iter().filter(needs).collect()
    }

    /// The arguments of the helper, up to and with `--`.
    pub fn arguments(&self) -> Vec<OsString> {
        let mut out: Vec<OsString> = Vec::new();
        let mut pair = |name: &str, value: &OsStr| out.extend([name.into(), value.to_owned()]);
        for (name, paths) in [("--hide", &self.hide), ("--keep", &self.keep), ("--freeze", &self.freeze)] {
            paths.iter().for_each(|path| pair(name, path.as_os_str()));
        }
        self.writable.iter().flatten().for_each(|path| pair("--writable", path.as_os_str()));
        self.proxy.iter().for_each(|path| pair("--proxy", path.as_os_str()));
        self.without.iter().for_each(|layer| pair("--without", layer.name().as_ref()));
        for (name, value) in &self.variables {
            let mut variable = name.clone();
            variable.push("=");
            variable.push(value);
            pair("--set", &variable);
        }
        let switches = [
            ("--confine-writes", self.writable.is_some()),
            ("--no-network", self.no_network),
            ("--filter", self.filter),
            ("--unix-sockets", self.unix_sockets),
            ("--best-effort", self.best_effort),
        ];
        out.extend(switches.into_iter().filter(|(_, on)| *on).map(|(name, _)| name.into()));
        out.push("--".into());
        out
    }

    /// Reads what [`Policy::arguments`] wrote; what follows is the program with its arguments.
    ///
    /// # Errors
    /// [`BadArguments`] for anything else.
    pub fn read(arguments: &mut impl Iterator<Item = OsString>) -> Result<Self, BadArguments> {
        let mut policy = Self::default();
        loop {
            let name = arguments.next().ok_or_else(|| BadArguments(OsString::new()))?;
            let mut value = || arguments.next().ok_or_else(|| BadArguments(name.clone()));
            match name.to_str().unwrap_or_default() {
                "--" => return Ok(policy),
                "--hide" => policy.hide.push(value()?.into()),
                "--keep" => policy.keep.push(value()?.into()),
                "--freeze" => policy.freeze.push(value()?.into()),
                "--writable" => policy.writable.get_or_insert_default().push(value()?.into()),
                "--confine-writes" => drop(policy.writable.get_or_insert_default()),
                "--proxy" => policy.proxy = Some(value()?.into()),
                "--no-network" => policy.no_network = true,
                "--filter" => policy.filter = true,
                "--unix-sockets" => policy.unix_sockets = true,
                "--best-effort" => policy.best_effort = true,
                "--without" => {
                    let value = value()?;
                    let layer = value.to_str().and_then(Layer::named);
                    policy.without.push(layer.ok_or(BadArguments(value))?);
                }
                "--set" => {
                    let value = value()?;
                    policy.variables.push(variable(&value).ok_or(BadArguments(value))?);
                }
                _ => return Err(BadArguments(name)),
            }
        }
    }
}

fn variable(text: &OsStr) -> Option<(OsString, OsString)> {
    use std::os::unix::ffi::OsStrExt as _;
    let bytes = text.as_bytes();
    let at = bytes.iter().position(|byte| *byte == b'=')?;
    let (name, value) = bytes.split_at_checked(at)?;
    Some((OsStr::from_bytes(name).to_owned(), OsStr::from_bytes(value.get(1..)?).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_survives_its_arguments() {
        let policy = Policy {
            hide: vec!["/a b".into(), "/c".into()],
            keep: vec!["/c/d".into()],
            freeze: vec!["--filter".into()],
            writable: Some(Vec::new()),
            no_network: true,
            proxy: Some("/p".into()),
            filter: true,
            unix_sockets: true,
            best_effort: true,
            without: Layer::ALL.to_vec(),
            variables: vec![("LD_PRELOAD".into(), "a=b".into())],
        };
        let rest = ["--hide".into(), "x".into()];
        let mut arguments = policy.arguments().into_iter().chain(rest.clone());
        assert_eq!(Policy::read(&mut arguments).unwrap(), policy);
        assert_eq!(arguments.collect::<Vec<OsString>>(), rest, "the program's own arguments are its own");
        let mut none = Policy::default().arguments().into_iter();
        assert_eq!(Policy::read(&mut none).unwrap(), Policy::default());
        for wrong in
            [&["--hide"][..], &["--unknown", "--"], &["--without", "x", "--"], &["--set", "x", "--"], &[]]
        {
            let mut wrong = wrong.iter().map(OsString::from);
            assert!(Policy::read(&mut wrong).is_err());
        }
    }
}
