//! What the user is told when the bridge starts and when it ends.

use anyhow::Context as _;
use pilothouse_bridge::api::{AgentKind, SessionId, SessionView};
use pilothouse_bridge::server::Bridge;
use pilothouse_bridge::session::Hub;
use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;
use serde_json::json;

use crate::printer::{BOLD, DIM, NAME, Printer, one_line, plain};

use super::choice::Choice;
use super::sandbox;

/// What there is to say once the bridge listens.
pub(super) struct Announcement<'a> {
    choice: &'a Choice,
    url: String,
    ws_url: String,
    pairing_url: String,
    state_dir: String,
    wants_owner: bool,
    is_reachable: bool,
    taken_over: &'a [SessionView],
}

impl<'a> Announcement<'a> {
    pub(super) fn of(
        bridge: &Bridge,
        choice: &'a Choice,
        taken_over: &'a [SessionView],
    ) -> anyhow::Result<Self> {
        Ok(Self {
            choice,
            url: bridge.url().to_owned(),
            ws_url: bridge.ws_url(),
            pairing_url: bridge.pairing_url()?,
            state_dir: bridge.state_dir().to_string_lossy().into_owned(),
            wants_owner: bridge.wants_owner(),
            is_reachable: bridge.is_reachable(),
            taken_over,
        })
    }

    pub(super) fn print(&self, as_json: bool, printer: &mut Printer) -> anyhow::Result<()> {
        if as_json {
            let taken_over: Vec<&SessionId> = self.taken_over.iter().map(|view| &view.session_id).collect();
            let line = json!({
                "url": self.url, "ws_url": self.ws_url, "pairing_url": self.pairing_url,
                "state_dir": self.state_dir, "agent": self.choice.info, "taken_over": taken_over,
            });
            return Ok(printer.line(line)?);
        }
        let (what, info) = (self.agent(), &self.choice.info);
        printer.line(format_args!("{DIM}agent{DIM:#}   {what} {DIM}({}){DIM:#}", plain(&info.note)))?;
        printer.line(format_args!("{DIM}bridge{DIM:#}  {}", self.url))?;
        let state_dir = plain(&self.state_dir);
        printer.line(format_args!(
            "{DIM}state{DIM:#}   {state_dir} {DIM}(programs: `pilothouse serve token`){DIM:#}"
        ))?;
        if let Some(sandbox) = &info.sandbox {
            printer.line(format_args!("{DIM}sandbox{DIM:#} {}", sandbox::told(sandbox)))?;
        }
        for view in self.taken_over {
            printer.line(format_args!(
                "{DIM}session{DIM:#} {} {DIM}goes on: the last bridge was shut down while it worked{DIM:#}",
                named(view)
            ))?;
        }
        if self.is_reachable {
            printer.line(format_args!("\n{}", qr(&self.pairing_url)?))?;
        }
        let owner = if self.wants_owner { "for the owner's device, " } else { "" };
        printer.line(format_args!(
            "\n{BOLD}Open{BOLD:#}    {NAME}{}{NAME:#}\n        {DIM}{owner}good once, for two minutes; `pilothouse serve pair` gives another{DIM:#}",
            self.pairing_url
        ))?;
        Ok(())
    }

    fn agent(&self) -> String {
        let version = plain(&self.choice.info.version);
        match self.choice.info.kind {
            AgentKind::Claude => format!("Claude Code {version}"),
            AgentKind::Embedded => format!("the built-in one {version}, on the Messages API"),
            AgentKind::Demo => format!("the built-in one {version}, with a script instead of a model"),
        }
    }
}

/// The address as a picture for a phone's camera, drawn for a dark terminal.
pub(super) fn qr(url: &str) -> anyhow::Result<String> {
    let code = QrCode::new(url).context("the address is too long for a QR code")?;
    let colours = (Dense1x2::Light, Dense1x2::Dark);
    Ok(code.render::<Dense1x2>().dark_color(colours.0).light_color(colours.1).build())
}

/// A session as people know it: what it is called, and where it works.
fn named(view: &SessionView) -> String {
    let title = view.title.as_deref().or(view.last_line.as_deref()).unwrap_or("nothing was said");
    format!("{NAME}{}{NAME:#} in {}: {}", view.session_id, plain(&view.project_path), one_line(title, 60))
}

/// Says which sessions were ended and which handed over, and how to go on with each.
pub(super) fn farewell(
    ended: &[SessionId],
    hub: &Hub,
    choice: &Choice,
    printer: &mut Printer,
) -> anyhow::Result<()> {
    let views = hub.list(true);
    // What a script played is not among the sessions that Claude Code knows.
    let or_resume = |view: &SessionView| match &view.claude_session_id {
        Some(id) if choice.info.kind != AgentKind::Demo => {
            format!(", or with `claude --resume {}`", plain(id))
        }
        _ => String::new(),
    };
    for view in views.iter().filter(|view| ended.contains(&view.session_id)) {
        let (what, on) = if view.handed_over {
            ("handed over", "it was at work: the next `pilothouse serve` goes on with it")
        } else {
            ("ended", "go on in the browser")
        };
        printer.note(format_args!("{what} {} {DIM}({on}{}){DIM:#}", named(view), or_resume(view)))?;
    }
    if ended.is_empty() {
        printer.note("no session was running")?;
    }
    Ok(())
}
