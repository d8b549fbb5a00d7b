//! The terminal that people sit at.

/// How many characters fit on the screen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

/// The size of the terminal that questions are shown in; 80 by 24 if it does not tell.
pub(crate) fn size() -> Size {
    let size = rustix::termios::tcgetwinsize(std::io::stderr()).ok();
    let size = size.filter(|size| size.ws_col > 0 && size.ws_row > 0);
    size.map_or(Size { columns: 80, rows: 24 }, |size| Size {
        columns: size.ws_col.into(),
        rows: size.ws_row.into(),
    })
}

/// Whether the terminal understands no escape sequences: it can neither wipe a line nor tell where its cursor is.
pub(crate) fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|kind| kind == "dumb")
}
