//! Markdown to HTML that can do no harm.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::LazyLock;

use ammonia::Builder;
use pulldown_cmark::{
    CodeBlockKind, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, TextMergeStream, html::push_html,
};

use super::address;
use super::highlight::{self, CLASSES, Language};

/// Longer texts are shown as they are.
const LONGEST: usize = 64 * 1024;

/// Quotes, lists and the like beyond this depth add nothing but indentation.
const DEEPEST: usize = 24;

/// A short text can stand for a huge table; beyond so many parts it is shown as it is.
const MOST_PARTS: usize = 100_000;

/// What the end of a line means that does not end a paragraph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Breaks {
    /// A space, as Markdown has it.
    Joined,
    /// The end of a line, as people mean it who type.
    Kept,
}

/// Markdown as HTML.
pub(super) fn html(text: &str, breaks: Breaks) -> String {
    if text.len() > LONGEST {
        return plain(text);
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    // Terminal programs colour their text with escape sequences, which a page would print.
    let text = &*without_escapes(text);
    let parser = TextMergeStream::new(Parser::new_ext(text, options));
    let mut filter = Filter { parser, next: VecDeque::new(), open: Vec::new(), parts: 0, links: 0, breaks };
    let mut html = String::with_capacity(text.len() * 2);
    push_html(&mut html, &mut filter);
    if filter.parts > MOST_PARTS {
        return plain(text);
    }
    // Styles have no place on the page. No text has a `<` left at this point, so what looks like a cell is one.
    for cell in ["td", "th"] {
        for side in ["left", "center", "right"] {
            let styled = format!("<{cell} style=\"text-align: {side}\">");
            html = html.replace(&styled, &format!("<{cell} align=\"{side}\">"));
        }
    }
    SANITISER.clean(&html).to_string()
}

/// The words of one line, without what Markdown means by the signs between them.
pub(super) fn words(line: &str) -> String {
    let mut said = String::new();
    for event in Parser::new_ext(line, Options::ENABLE_STRIKETHROUGH) {
        if let Event::Text(text) | Event::Code(text) = event {
            said.push_str(&text);
        }
    }
    said.trim().to_owned()
}

fn without_escapes(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains('\u{1b}') { anstream::adapter::strip_str(text).to_string().into() } else { text.into() }
}

fn plain(text: &str) -> String {
    highlight::block(text, None)
}

/// What is left is what the writer above makes, and nothing that a text could have smuggled into it.
static SANITISER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let tags = [
        "a",
        "blockquote",
        "br",
        "code",
        "del",
        "em",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "li",
        "ol",
        "p",
        "pre",
        "span",
        "strong",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "tr",
        "ul",
    ];
    let languages: HashSet<&'static str> = Language::all().map(language_class).collect();
    let mut builder = Builder::empty();
    builder
        .tags(HashSet::from(tags))
        .tag_attributes(HashMap::from([
            ("a", HashSet::from(["href"])),
            ("ol", HashSet::from(["start"])),
            ("td", HashSet::from(["align"])),
            ("th", HashSet::from(["align"])),
        ]))
        .allowed_classes(HashMap::from([("span", HashSet::from(CLASSES)), ("code", languages)]))
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(ammonia::UrlRelative::Deny)
        .set_tag_attribute_value("a", "target", "_blank")
        .link_rel(Some("noopener noreferrer"));
    builder
});

/// Class names live as long as the program; there are as many as languages.
fn language_class(name: &'static str) -> &'static str {
    static NAMES: LazyLock<HashMap<&'static str, String>> =
        LazyLock::new(|| Language::all().map(|name| (name, format!("language-{name}"))).collect());
    NAMES.get(name).map_or("", String::as_str)
}

/// The parts of a text, without those that have no place on the page.
struct Filter<'a> {
    parser: TextMergeStream<'a, Parser<'a>>,
    /// Parts that one part became, and which come first.
    next: VecDeque<Event<'a>>,
    /// What each open part became; nothing when it was left out.
    open: Vec<Option<TagEnd>>,
    parts: usize,
    /// How many of the open parts are links.
    links: usize,
    breaks: Breaks,
}

impl<'a> Iterator for Filter<'a> {
    type Item = Event<'a>;

    fn next(&mut self) -> Option<Event<'a>> {
        loop {
            self.parts += 1;
            if self.parts > MOST_PARTS {
                return None;
            }
            if let Some(event) = self.next.pop_front() {
                return Some(event);
            }
            let event = self.parser.next()?;
            let event = match event {
                Event::Text(text) if self.links == 0 => Some(self.with_links(text)),
                Event::Start(Tag::CodeBlock(kind)) => Some(self.code(&kind)),
                Event::Start(tag) => self.begin(tag),
                Event::End(_) => {
                    let end = self.open.pop().flatten();
                    self.links -= usize::from(end == Some(TagEnd::Link));
                    end.map(Event::End)
                }
                // What looks like HTML is shown, not obeyed.
                Event::Html(text) | Event::InlineHtml(text) => Some(Event::Text(text)),
                Event::TaskListMarker(done) => Some(Event::Text(if done { "☑ " } else { "☐ " }.into())),
                Event::SoftBreak if self.breaks == Breaks::Kept => Some(Event::HardBreak),
                event => Some(event),
            };
            if event.is_some() {
                return event;
            }
        }
    }
}

impl<'a> Filter<'a> {
    fn begin(&mut self, tag: Tag<'a>) -> Option<Event<'a>> {
        let tag = if self.open.len() >= DEEPEST { None } else { self.allowed(tag) };
        self.links += usize::from(matches!(tag, Some(Tag::Link { .. })));
        self.open.push(tag.as_ref().map(Tag::to_end));
        tag.map(Event::Start)
    }

    /// A text whose bare addresses are links; the first of its parts.
    fn with_links(&mut self, text: CowStr<'a>) -> Event<'a> {
        let mut rest = text.as_ref();
        while let Some(found) = address::first(rest) {
            let (before, from) = rest.split_at(found.start);
            let (url, after) = from.split_at(found.len());
            let owned = |part: &str| CowStr::from(part.to_owned());
            let (dest_url, title, id) = (owned(url), CowStr::from(""), CowStr::from(""));
            self.next.push_back(Event::Text(owned(before)));
            let link = Tag::Link { link_type: LinkType::Autolink, dest_url, title, id };
            self.next.push_back(Event::Start(link));
            self.next.push_back(Event::Text(owned(url)));
            self.next.push_back(Event::End(TagEnd::Link));
            rest = after;
        }
        if self.next.is_empty() {
            return Event::Text(text);
        }
        self.next.push_back(Event::Text(CowStr::from(rest.to_owned())));
        self.next.pop_front().unwrap_or(Event::Text(text))
    }

    /// What may be shown of a part; its inside is shown in any case.
    fn allowed(&self, tag: Tag<'a>) -> Option<Tag<'a>> {
        match tag {
            Tag::HtmlBlock => Some(Tag::Paragraph),
            // Pictures from elsewhere would tell others who reads what: a link leaves it to the reader.
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                let is_safe = self.links == 0 && leads_out(&dest_url);
                let (title, id) = (CowStr::from(""), CowStr::from(""));
                is_safe.then_some(Tag::Link { link_type: LinkType::Inline, dest_url, title, id })
            }
            tag => Some(tag),
        }
    }

    /// A block of code, as a whole.
    fn code(&mut self, kind: &CodeBlockKind<'_>) -> Event<'a> {
        let language = match kind {
            CodeBlockKind::Fenced(info) => info.split([' ', ',', '{', '\t']).next().and_then(Language::named),
            CodeBlockKind::Indented => None,
        };
        let mut code = String::new();
        for event in self.parser.by_ref() {
            self.parts += 1;
            match event {
                Event::End(TagEnd::CodeBlock) => break,
                Event::Text(text) => code.push_str(&text),
                _ => {}
            }
        }
        Event::Html(highlight::block(&code, language).into())
    }
}

/// Whether an address is one that a page may link to: not to the bridge itself, and nothing that runs.
fn leads_out(address: &str) -> bool {
    let Some((scheme, _)) = address.split_once(':') else { return false };
    ["http", "https", "mailto"].iter().any(|allowed| scheme.eq_ignore_ascii_case(allowed))
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
