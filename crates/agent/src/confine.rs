//! The sandbox of the commands that an agent runs: what the command line and the settings ask for.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pilothouse_sandbox::{Confinement, Hidden, Policy};
use pilothouse_settings::{Layer, Settings};
use pilothouse_tools::{ConfinedCommands, Egress};

use crate::launch::{Launch, Refused};

const FLAG: &str = "--sandbox";

/// Files whose contents run later outside of the sandbox, so commands inside get them read-only.
const RUN_LATER: [&str; 4] =
    [".claude/settings.json", ".claude/settings.local.json", ".mcp.json", ".git/hooks"];

/// The `--sandbox` flag for Bash commands, and the program that enters the sandbox.
#[derive(Clone, Debug, Default)]
pub struct SandboxChoice {
    /// The value of the flag.
    pub mode: SandboxMode,
    /// The program that enters it: one that calls [`pilothouse_sandbox::main`]. Without one, commands that would run in a
    /// sandbox are refused.
    pub helper: Option<PathBuf>,
}

/// The sandbox mode of Bash commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SandboxMode {
    /// As the settings say: `sandbox.enabled`.
    #[default]
    Settings,
    /// They do not.
    Off,
    /// They do, and no setting lets them out.
    Strict,
    /// The same inside of a sandbox that hides secrets and confines writes already, and in which nothing can be mounted.
    Inner,
}

/// Takes `--sandbox` out of a command line: it is none of the real CLI's flags.
///
/// # Errors
/// When its value is none of `off` and `strict`.
pub fn take_sandbox_flag(
    tokens: impl IntoIterator<Item = String>,
) -> Result<(SandboxMode, Vec<String>), Refused> {
    let mut mode = SandboxMode::default();
    let mut rest = Vec::new();
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        let value = match token.strip_prefix(FLAG) {
            Some("") => tokens.next().unwrap_or_default(),
            Some(value) if value.starts_with('=') => value.trim_start_matches('=').to_owned(),
            _ => {
                let ends = token == "--";
                rest.push(token);
                if ends {
                    rest.extend(tokens);
                    break;
                }
                continue;
            }
        };
        mode = match value.as_str() {
            "off" => SandboxMode::Off,
            "strict" => SandboxMode::Strict,
            "inner" => SandboxMode::Inner,
            other => {
                let text = format!(
                    "error: option '{FLAG} <mode>' argument '{other}' is invalid. Allowed choices are off, strict."
                );
                return Err(Refused(text));
            }
        };
    }
    Ok((mode, rest))
}

/// The sandbox that commands run in, if any.
pub(crate) fn commands(launch: &Launch, settings: &Settings, output_dir: &Path) -> Option<ConfinedCommands> {
    let mode = launch.sandbox.mode;
    let is_on = match mode {
        SandboxMode::Off => false,
        SandboxMode::Strict | SandboxMode::Inner => true,
        SandboxMode::Settings => enabled(settings),
    };
    if !is_on {
        return None;
    }
    let home = launch.env.home().unwrap_or_else(|| launch.cwd.clone());
    let absolute = |path: &str| match path.strip_prefix("~/") {
        Some(rest) => home.join(rest),
        None => launch.cwd.join(path),
    };
    let projects: Vec<PathBuf> =
        std::iter::once(launch.cwd.clone()).chain(launch.add_dirs.iter().map(|dir| absolute(dir))).collect();
    let mut writable = projects.clone();
    writable.push(std::env::temp_dir());
    writable.extend(
        trusted_list(settings, &["sandbox", "filesystem", "allowWrite"]).iter().map(|path| absolute(path)),
    );
    let mut policy = Policy {
        writable: Some(writable),
        no_network: true,
        filter: true,
        unix_sockets: trusted_flag(settings, &["sandbox", "network", "allowAllUnixSockets"]) == Some(true),
        ..Policy::default()
    };
    if mode != SandboxMode::Inner {
        let hidden = hidden(&home, launch, &projects);
        policy.hide = hidden.hide;
        // Anybody may hide more.
        policy.hide.extend(
            list(settings, &["sandbox", "filesystem", "denyRead"], |_| true)
                .iter()
                .map(|path| absolute(path)),
        );
        policy.keep = hidden.keep;
        policy.freeze = RUN_LATER.iter().map(|name| launch.cwd.join(name)).collect();
    }
    // Only settings that turned the sandbox on may loosen it.
    let from_settings = mode == SandboxMode::Settings;
    policy.best_effort =
        from_settings && trusted_flag(settings, &["sandbox", "failIfUnavailable"]) == Some(false);
    let excluded = trusted_list(settings, &["sandbox", "excludedCommands"]);
    let hosts = trusted_list(settings, &["sandbox", "network", "allowedDomains"]);
    let egress = way_out(output_dir, hosts);
    policy.proxy = egress.as_ref().map(|egress| egress.path().to_owned());
    // A program that is not there refuses every command, with its name.
    let helper = launch.sandbox.helper.clone().unwrap_or_else(|| PathBuf::from("pilothouse-sandbox-helper"));
    Some(ConfinedCommands {
        confinement: Confinement { helper, policy },
        excluded: if from_settings { excluded } else { Vec::new() },
        egress,
    })
}

/// The proxy to the hosts that commands may reach; without any there is none.
fn way_out(output_dir: &Path, hosts: Vec<String>) -> Option<Arc<Egress>> {
    if hosts.is_empty() {
        return None;
    }
    let started = pilothouse_tools::make_private_folder(output_dir)
        .and_then(|_| Egress::start(output_dir.join("proxy"), hosts));
    match started {
        Ok(egress) => Some(Arc::new(egress)),
        Err(error) => {
            tracing::warn!(%error, "commands have no network: the proxy does not start");
            None
        }
    }
}

fn hidden(home: &Path, launch: &Launch, projects: &[PathBuf]) -> Hidden {
    let set = |name| launch.env.get(name).filter(|value| value.starts_with('/')).map(PathBuf::from);
    let mut hidden = Hidden::of_user(home, set("XDG_RUNTIME_DIR").as_deref(), pilothouse_sandbox::user());
    let state = set("XDG_STATE_HOME").unwrap_or_else(|| home.join(".local/state"));
    hidden.hide(state.join("pilothouse"));
    hidden.keep.extend(projects.iter().cloned());
    hidden
}

/// A project may turn the sandbox on; only the user, the command line and the organisation may turn it off.
fn enabled(settings: &Settings) -> bool {
    let path = ["sandbox", "enabled"];
    let anybody = || settings.find(&path).and_then(|found| found.node.as_bool());
    trusted_flag(settings, &path).or_else(anybody).unwrap_or(false)
}

fn is_trusted(layer: Layer) -> bool {
    matches!(layer, Layer::User | Layer::Flag | Layer::Policy)
}

fn trusted_flag(settings: &Settings, path: &[&str]) -> Option<bool> {
    let all = settings.find_all(path);
    all.iter().rev().filter(|found| is_trusted(found.origin.layer)).find_map(|found| found.node.as_bool())
}

fn trusted_list(settings: &Settings, path: &[&str]) -> Vec<String> {
    list(settings, path, is_trusted)
}

fn list(settings: &Settings, path: &[&str], counts: impl Fn(Layer) -> bool) -> Vec<String> {
    let all = settings.list(path).into_iter().filter(|element| counts(element.origin.layer));
    all.filter_map(|element| element.value.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_is_taken_out_of_the_command_line() {
        let take = |tokens: &[&str]| take_sandbox_flag(tokens.iter().map(|token| (*token).to_owned()));
        let (mode, rest) = take(&["--sandbox", "strict", "-p", "--", "--sandbox=off"]).unwrap();
        assert_eq!(
            (mode, rest),
            (SandboxMode::Strict, vec!["-p".into(), "--".into(), "--sandbox=off".into()])
        );
        assert_eq!(take(&["--sandbox=off"]).unwrap().0, SandboxMode::Off);
        assert_eq!(take(&["-p"]).unwrap().0, SandboxMode::Settings);
        assert_eq!(take(&["--sandboxed"]).unwrap().1, ["--sandboxed"]);
        assert!(take(&["--sandbox"]).is_err() && take(&["--sandbox=hide"]).is_err());
    }
}
