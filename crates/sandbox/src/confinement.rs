use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::ARGUMENT;
use crate::policy::Policy;

/// Variables that the C library obeys before a program begins. A project's settings may set them for commands, and the helper
/// must not load a library of theirs while it is still outside. The list is glibc's own, for programs that change the user.
const LINKER: [&str; 12] = [
    "GCONV_PATH",
    "GETCONF_DIR",
    "GLIBC_TUNABLES",
    "HOSTALIASES",
    "LOCALDOMAIN",
    "LOCPATH",
    "NIS_PATH",
    "NLSPATH",
    "RESOLV_HOST_CONF",
    "RES_OPTIONS",
    "TZDIR",
    "BASH_ENV",
];

/// A path of the policy or the program is no text, so that it cannot be an argument of a CLI.
#[derive(Debug, thiserror::Error)]
#[error("{} is not UTF-8: the sandbox cannot be told about it", .0.display())]
pub struct NotUtf8(OsString);

/// A policy and the program that enters it.
#[derive(Clone, Debug)]
pub struct Confinement {
    /// The program that calls [`main`](crate::main) when its first argument is [`ARGUMENT`](crate::ARGUMENT).
    pub helper: PathBuf,
    /// What it enters.
    pub policy: Policy,
}

impl Confinement {
    /// With this program itself as the helper.
    ///
    /// # Errors
    /// When the system does not tell which program that is.
    pub fn by_this_program(policy: Policy) -> std::io::Result<Self> {
        Ok(Self { helper: std::env::current_exe()?, policy })
    }

    /// What comes before the program and its arguments, the helper left out.
    pub fn arguments(&self) -> Vec<OsString> {
        std::iter::once(ARGUMENT.into()).chain(self.policy.arguments()).collect()
    }

    /// The same as text.
    ///
    /// # Errors
    /// [`NotUtf8`] names what is none.
    pub fn text_arguments(&self) -> Result<Vec<String>, NotUtf8> {
        self.arguments().into_iter().map(|argument| argument.into_string().map_err(NotUtf8)).collect()
    }

    /// Takes a variable for the program if the helper must not have it. `false`: the helper passes it on.
    pub fn takes_variable(&mut self, name: &OsStr, value: &OsStr) -> bool {
        let text = name.to_string_lossy();
        let is_linkers = text.starts_with("LD_") || text.starts_with("MALLOC_") || LINKER.contains(&&*text);
        if is_linkers {
            self.policy.variables.push((name.to_owned(), value.to_owned()));
        }
        is_linkers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_helper_does_not_get_what_the_dynamic_linker_obeys() {
        let mut confinement = Confinement { helper: "/h".into(), policy: Policy::default() };
        for (name, kept) in
            [("LD_PRELOAD", false), ("GLIBC_TUNABLES", false), ("PATH", true), ("OLD_LD_X", true)]
        {
            assert_eq!(!confinement.takes_variable(name.as_ref(), "x".as_ref()), kept, "{name}");
        }
        let arguments = confinement.text_arguments().unwrap();
        assert_eq!(arguments, ["__sandbox", "--set", "LD_PRELOAD=x", "--set", "GLIBC_TUNABLES=x", "--"]);
    }
}
