//! Web pages as text.

/// No more Markdown of a page is made than this.
const LONGEST: usize = 16 << 20;

/// Elements whose content is not for readers.
const SKIPPED: [&str; 6] = ["script", "style", "noscript", "iframe", "svg", "template"];

/// A page as Markdown. The converter calls itself for each level of elements, and its memory has no bound: it runs in the parser
/// process.
pub(crate) fn markdown(html: &str) -> Result<String, String> {
    let converter = htmd::HtmlToMarkdown::builder().skip_tags(SKIPPED.to_vec()).build();
    let mut markdown = converter.convert(html).map_err(|error| error.to_string())?;
    markdown.truncate(markdown.floor_char_boundary(LONGEST));
    Ok(markdown)
}

/// A page without its tags, in time and memory linear in its length: for pages that cannot be converted.
pub(crate) fn without_tags(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        text.push(' ');
        rest = match tag.strip_prefix("!--") {
            Some(comment) => comment.split_once("-->").map_or("", |(_, after)| after),
            None => after_tag(tag),
        };
    }
    text.push_str(rest);
    // Tags leave long gaps behind.
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text after a tag, or after its whole element where that is not for readers.
fn after_tag(tag: &str) -> &str {
    let Some((_, after)) = tag.split_once('>') else { return "" };
    let name = tag.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    // Only the content of these two is not markup, so that the next end tag is theirs.
    if !["script", "style"].iter().any(|skipped| name.eq_ignore_ascii_case(skipped)) {
        return after;
    }
    let is_end = |at: &usize| {
        let end = after.as_bytes().get(at + 2..at + 2 + name.len());
        end.is_some_and(|end| end.eq_ignore_ascii_case(name.as_bytes()))
    };
    let ends = after.match_indices("</").map(|(at, _)| at);
    // The tag itself is taken away by the caller.
    ends.into_iter().find(is_end).and_then(|at| after.get(at..)).unwrap_or_default()
}

#[cfg(test)]
#[path = "html_tests.rs"]
mod tests;
