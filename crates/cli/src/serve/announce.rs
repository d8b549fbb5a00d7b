//! What the user is told when the bridge starts and when it ends.

use anyhow::Context as _;
use pilothouse_bridge::api::{AgentKind, SessionId};
use pilothouse_bridge::server::Bridge;
use pilothouse_bridge::session::Hub;
use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;
use serde_json::json;

use crate::printer::{BOLD, DIM, NAME, Printer, one_line, plain};

use super::choice::Choice;

/// What there is to say once the bridge listens.
pub(super) struct Announcement<'a> {
    choice: &'a Choice,
    url: String,
    ws_url: String,
    pairing_url: String,
    token_file: String,
    is_reachable: bool,
}

impl<'a> Announcement<'a> {
    pub(super) fn of(bridge: &Bridge, choice: &'a Choice) -> anyhow::Result<Self> {
        Ok(Self {
            choice,
            url: bridge.url().to_owned(),
            ws_url: bridge.ws_url(),
            pairing_url: bridge.pairing_url()?,
            token_file: bridge.token_file().to_string_lossy().into_owned(),
            is_reachable: bridge.is_reachable(),
        })
    }

    pub(super) fn print(&self, as_json: bool, printer: &mut Printer) -> anyhow::Result<()> {
        if as_json {
            let line = json!({
                "url": self.url, "ws_url": self.ws_url, "pairing_url": self.pairing_url,
                "token_file": self.token_file, "agent": self.choice.info,
            });
            return Ok(printer.line(line)?);
        }
        let (what, info) = (self.agent(), &self.choice.info);
        printer.line(format_args!("{DIM}agent{DIM:#}   {what} {DIM}({}){DIM:#}", plain(&info.note)))?;
        printer.line(format_args!("{DIM}bridge{DIM:#}  {}", self.url))?;
        printer.line(format_args!("{DIM}token{DIM:#}   {} {DIM}(for programs){DIM:#}", self.token_file))?;
        if self.is_reachable {
            printer.line(format_args!("\n{}", qr(&self.pairing_url)?))?;
        }
        printer.line(format_args!(
            "\n{BOLD}Open{BOLD:#}    {NAME}{}{NAME:#}\n        {DIM}good once, for two minutes; `pilothouse serve pair` gives another{DIM:#}",
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

/// Says which sessions were ended, and how to go on with each.
pub(super) fn farewell(ended: &[SessionId], hub: &Hub, printer: &mut Printer) -> anyhow::Result<()> {
    let views = hub.list(true);
    for view in views.iter().filter(|view| ended.contains(&view.session_id)) {
        let title = view.title.as_deref().or(view.last_line.as_deref()).unwrap_or("nothing was said");
        let title = one_line(title, 60);
        let on = match &view.claude_session_id {
            Some(id) => format!("go on in the browser, or with `claude --resume {}`", plain(id)),
            None => "nothing to go on with".to_owned(),
        };
        printer.note(format_args!(
            "ended {NAME}{}{NAME:#} in {}: {title} {DIM}({on}){DIM:#}",
            view.session_id,
            plain(&view.project_path)
        ))?;
    }
    if ended.is_empty() {
        printer.note("no session was running")?;
    }
    Ok(())
}
