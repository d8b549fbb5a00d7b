//! What sessions are kept from: the policy of `--sandbox`, and whether this system can enforce it.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use pilothouse_bridge::api::{AgentKind, SandboxInfo, SandboxMode as ShownMode};
use pilothouse_sandbox::{Confinement, Hidden, Layer, Policy};

use crate::sandboxes;

use super::absolute;
use super::choice::Choice;
use super::config::Config;
use super::flags::SandboxMode;

/// Files whose contents run later outside of the sandbox, so sessions get them read-only. The settings files are not among
/// them, because the CLI itself writes them.
const RUN_LATER: [&str; 2] = [".git/hooks", ".mcp.json"];

/// The sandbox of the bridge's sessions.
#[derive(Debug)]
pub(super) struct SessionSandbox {
    pub(super) confinement: Confinement,
    pub(super) info: SandboxInfo,
}

impl SessionSandbox {
    /// None if it is off.
    ///
    /// # Errors
    /// When this system lacks what the mode needs, and nobody said to go on without.
    pub(super) fn make(config: &Config, choice: &Choice, roots: &[PathBuf]) -> anyhow::Result<Option<Self>> {
        let wanted = &config.sandbox;
        let mode = match wanted.mode {
            SandboxMode::Off => return Ok(None),
            SandboxMode::Hide => ShownMode::Hide,
            SandboxMode::Strict => ShownMode::Strict,
        };
        let mut hidden = sandboxes::hidden_from_user()?;
        wanted.hide.iter().for_each(|path| hidden.hide(path));
        wanted.allow.iter().for_each(|path| hidden.allow(path));
        hide_state(&mut hidden, config, choice)?;
        // A root is allowed by being one.
        for root in roots {
            hidden.keep.push(absolute(root)?);
        }
        let mut policy = Policy {
            hide: hidden.hide,
            keep: hidden.keep,
            best_effort: wanted.best_effort,
            without: wanted.without.clone(),
            ..Policy::default()
        };
        if mode == ShownMode::Strict {
            let config_home = choice.config_home.clone().or_else(|| sandboxes::config_home().ok());
            policy.freeze = RUN_LATER.iter().map(PathBuf::from).collect();
            policy.writable =
                Some([".".into(), std::env::temp_dir()].into_iter().chain(config_home).collect());
            policy.filter = true;
            policy.unix_sockets = true;
        }
        let confinement = Confinement::by_this_program(policy).context("cannot find this program itself")?;
        let available = sandboxes::available(&wanted.without)?;
        let lacks = available.lacks(&confinement.policy);
        if !lacks.is_empty() && !wanted.best_effort {
            bail!(
                "--sandbox {} needs {}, which this system does not offer (it has {available}): `pilothouse doctor` says why; \
                 --sandbox-best-effort goes on with the rest, --sandbox off without any",
                name(mode),
                list(&lacks),
            );
        }
        let missing = lacks.iter().map(ToString::to_string).collect();
        Ok(Some(Self { confinement, info: SandboxInfo { mode, missing } }))
    }

    /// What the built-in agent does for the commands that it runs.
    pub(super) fn agent_argument(&self, kind: AgentKind) -> Option<&'static str> {
        let is_ours = kind != AgentKind::Claude;
        (is_ours && self.info.mode == ShownMode::Strict).then_some("--sandbox=inner")
    }
}

/// What people are told when the bridge starts.
pub(super) fn told(info: &SandboxInfo) -> String {
    match info.missing.is_empty() {
        true => name(info.mode).to_owned(),
        false => {
            format!("{}, but without {}: sessions can get round it", name(info.mode), info.missing.join(", "))
        }
    }
}

fn name(mode: ShownMode) -> &'static str {
    match mode {
        ShownMode::Hide => "hide",
        ShownMode::Strict => "strict",
    }
}

fn list(layers: &[Layer]) -> String {
    layers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")
}

/// The state directory is always hidden, except for what the agent keeps there and the demo's project.
fn hide_state(hidden: &mut Hidden, config: &Config, choice: &Choice) -> anyhow::Result<()> {
    let state = &config.state_dir;
    hidden.keep.retain(|kept| !kept.starts_with(state));
    hidden.hide(state);
    for place in [&choice.config_home, &choice.scratch].into_iter().flatten() {
        make_folder(place).with_context(|| format!("cannot make {}", place.display()))?;
        hidden.keep.push(place.clone());
    }
    Ok(())
}

/// What is to stay must be there before the rest is hidden.
fn make_folder(path: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}
