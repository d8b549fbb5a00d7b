//! What a session has no business with, and why.

use std::path::{Path, PathBuf};

/// A file or folder that is hidden from sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Secret {
    /// Below the home directory, unless it is absolute. `{uid}` and `{run}` stand for the user's number and runtime folder.
    pub path: &'static str,
    /// Why.
    pub reason: &'static str,
    /// Names in it that stay, because programs need them and they are no secret.
    pub keep: &'static [&'static str],
    /// Whether only root's sessions could use it.
    pub root_only: bool,
}

const fn secret(path: &'static str, reason: &'static str) -> Secret {
    Secret { path, reason, keep: &[], root_only: false }
}

const fn root(path: &'static str, reason: &'static str) -> Secret {
    Secret { root_only: true, ..secret(path, reason) }
}

const KEYS: &str = "keys of a cloud account";
const LOGIN: &str = "passwords and tokens of services";
const BROWSER: &str = "cookies, the one that pairs this browser with the bridge among them";
const STARTS: &str = "starts programs outside of the sandbox";
const MEMORY: &str = "shows the memory of other processes";

/// The files and folders that are hidden, besides the state directory of the bridge.
pub const SECRETS: &[Secret] = &[
    Secret {
        keep: &["known_hosts", "known_hosts2", "config"],
        ..secret(".ssh", "private keys; ssh goes on with the agent's")
    },
    secret(".gnupg", "private keys"),
    secret(".aws", KEYS),
    secret(".azure", KEYS),
    secret(".config/gcloud", KEYS),
    secret(".config/doctl", KEYS),
    secret(".oci", KEYS),
    secret(".kube", "keys of clusters"),
    secret(".terraform.d/credentials.tfrc.json", LOGIN),
    secret(".vault-token", LOGIN),
    secret(".docker/config.json", "passwords of registries"),
    secret(".config/containers/auth.json", "passwords of registries"),
    secret(".netrc", LOGIN),
    secret(".git-credentials", LOGIN),
    secret(".config/git/credentials", LOGIN),
    secret(".config/gh", LOGIN),
    secret(".config/hub", LOGIN),
    secret(".pgpass", LOGIN),
    secret(".my.cnf", LOGIN),
    secret(".pypirc", LOGIN),
    secret(".cargo/credentials", LOGIN),
    secret(".cargo/credentials.toml", LOGIN),
    secret(".password-store", LOGIN),
    secret(".config/op", LOGIN),
    secret(".local/share/keyrings", LOGIN),
    secret(".mozilla", BROWSER),
    secret(".config/google-chrome", BROWSER),
    secret(".config/chromium", BROWSER),
    secret(".config/BraveSoftware", BROWSER),
    secret(".config/microsoft-edge", BROWSER),
    secret("/run/docker.sock", STARTS),
    secret("/run/containerd/containerd.sock", STARTS),
    secret("/run/podman", STARTS),
    secret("{run}/docker.sock", STARTS),
    secret("{run}/podman", STARTS),
    secret("{run}/systemd", STARTS),
    secret("{run}/bus", STARTS),
    secret("/tmp/tmux-{uid}", "types into the user's terminals"),
    secret("/run/screen", "types into the user's terminals"),
    root("/run/systemd/private", STARTS),
    root("/run/dbus/system_bus_socket", STARTS),
    root("/proc/kcore", MEMORY),
    root("/dev/mem", MEMORY),
    root("/sys/kernel/debug", MEMORY),
    root("/sys/kernel/tracing", MEMORY),
];

/// What root's sessions may read but not write: each starts a program as root, outside of every namespace.
pub(crate) const FROZEN_FOR_ROOT: &[&str] =
    &["/proc/sys", "/proc/sys/fs/binfmt_misc", "/proc/sysrq-trigger", "/sys", "/sys/fs/cgroup"];

/// The list for one user, with what the user has added and allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hidden {
    /// What is hidden.
    pub hide: Vec<PathBuf>,
    /// What stays although it is beneath a hidden folder.
    pub keep: Vec<PathBuf>,
}

impl Hidden {
    /// The table for the user with this home and this number.
    pub fn of_user(home: &Path, runtime: Option<&Path>, uid: u32) -> Self {
        let mut this = Self::default();
        let usual = PathBuf::from(format!("/run/user/{uid}"));
        let run = runtime.unwrap_or(&usual).to_string_lossy();
        for secret in SECRETS.iter().filter(|secret| !secret.root_only || uid == 0) {
            let path = secret.path.replace("{uid}", &uid.to_string()).replace("{run}", &run);
            let path = home.join(path);
            this.keep.extend(secret.keep.iter().map(|name| path.join(name)));
            this.hide.push(path);
        }
        this
    }

    /// Hides one more.
    pub fn hide(&mut self, path: impl Into<PathBuf>) {
        self.hide.push(path.into());
    }

    /// Leaves `path` as it is, whether it is a row of the table, beneath one, or above some.
    pub fn allow(&mut self, path: &Path) {
        self.hide.retain(|hidden| !hidden.starts_with(path));
        self.keep.push(path.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allowing_a_row_drops_it_and_allowing_below_one_keeps_that() {
        let mut hidden = Hidden::of_user(Path::new("/home/ann"), None, 1000);
        let has = |hidden: &Hidden, path: &str| hidden.hide.iter().any(|row| row == Path::new(path));
        assert!(
            has(&hidden, "/home/ann/.aws")
                && has(&hidden, "/run/user/1000/bus")
                && has(&hidden, "/tmp/tmux-1000")
        );
        assert!(!has(&hidden, "/dev/mem"), "only root could read it");
        assert!(has(&Hidden::of_user(Path::new("/root"), None, 0), "/dev/mem"));
        hidden.allow(Path::new("/home/ann/.config/gh"));
        hidden.allow(Path::new("/home/ann/.ssh/id_deploy"));
        assert!(!has(&hidden, "/home/ann/.config/gh") && has(&hidden, "/home/ann/.ssh"));
        assert!(hidden.keep.iter().any(|path| path == Path::new("/home/ann/.ssh/id_deploy")));
        assert!(hidden.keep.iter().any(|path| path == Path::new("/home/ann/.ssh/known_hosts")));
        hidden.allow(Path::new("/home/ann/.config"));
        assert!(!has(&hidden, "/home/ann/.config/gcloud"));
    }

    #[test]
    fn every_row_has_a_reason() {
        for secret in SECRETS {
            assert!(!secret.reason.is_empty() && !secret.path.ends_with('/'), "{secret:?}");
        }
    }
}
