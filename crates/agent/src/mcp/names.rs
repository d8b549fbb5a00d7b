//! Names as the model sees them.

/// The name of a server's tool among all tools.
pub(crate) fn full_name(server: &str, tool: &str) -> String {
    format!("mcp__{}__{}", plain(server), plain(tool))
}

/// What a tool is called where people read it, if it does not say so itself: `read_file` becomes `Read file`.
pub(crate) fn display_name(tool: &str) -> String {
    let spaced = tool.replace(['_', '-'], " ");
    let mut letters = spaced.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// The API takes no other characters in names.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (server, tool, full, shown) in [
            ("calc", "add", "mcp__calc__add", "Add"),
            ("my server", "odd.name", "mcp__my_server__odd_name", "Odd.name"),
            ("a-b_c", "read_file", "mcp__a-b_c__read_file", "Read file"),
            ("é", "", "mcp_____", ""),
        ] {
            assert_eq!(full_name(server, tool), full);
            assert_eq!(display_name(tool), shown);
        }
    }
}
