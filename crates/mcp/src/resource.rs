//! Resources made of closures.

use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rmcp::model::ResourceContents;

/// A value that the reader of a resource may return: text, bytes, or contents as MCP has them; or a `Result` of those.
pub trait IntoResourceContents: Send {
    /// Makes the contents of the resource at `uri`.
    fn into_contents(self, uri: &str) -> Result<Vec<ResourceContents>, String>;
}

impl IntoResourceContents for String {
    fn into_contents(self, uri: &str) -> Result<Vec<ResourceContents>, String> {
        Ok(vec![ResourceContents::text(self, uri)])
    }
}

impl IntoResourceContents for &'static str {
    fn into_contents(self, uri: &str) -> Result<Vec<ResourceContents>, String> {
        self.to_owned().into_contents(uri)
    }
}

impl IntoResourceContents for Vec<u8> {
    fn into_contents(self, uri: &str) -> Result<Vec<ResourceContents>, String> {
        Ok(vec![ResourceContents::blob(BASE64_STANDARD.encode(self), uri)])
    }
}

impl IntoResourceContents for Vec<ResourceContents> {
    fn into_contents(self, _: &str) -> Result<Vec<ResourceContents>, String> {
        Ok(self)
    }
}

impl<T: IntoResourceContents, E: Display + Send> IntoResourceContents for Result<T, E> {
    fn into_contents(self, uri: &str) -> Result<Vec<ResourceContents>, String> {
        self.map_err(|error| error.to_string())?.into_contents(uri)
    }
}

/// A closure that reads a resource, its types no longer known.
pub(crate) type Reader = Box<dyn Fn(String) -> Reading + Send + Sync>;
pub(crate) type Reading = Pin<Box<dyn Future<Output = Result<Vec<ResourceContents>, String>> + Send>>;

pub(crate) fn reader<F, Fut>(read: F) -> Reader
where
    F: Fn(String) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoResourceContents> + Send + 'static,
{
    Box::new(move |uri| {
        let reading = read(uri.clone());
        Box::pin(async move { reading.await.into_contents(&uri) })
    })
}

/// Whether `uri` is one of the URIs that `template` describes.
///
/// An expression `{name}` stands for one or more characters without a slash, `{+name}` and `{name*}` also for slashes.
pub(crate) fn template_matches(template: &str, uri: &str) -> bool {
    let Some((literal, rest)) = template.split_once('{') else { return template == uri };
    let Some(uri) = uri.strip_prefix(literal) else { return false };
    let Some((expression, rest)) = rest.split_once('}') else { return false };
    let slashes = expression.starts_with('+') || expression.ends_with('*');
    let mut ends = uri.char_indices().map(|(start, c)| (start + c.len_utf8(), c));
    ends.find_map(|(end, c)| {
        if c == '/' && !slashes {
            return Some(false);
        }
        uri.get(end..).is_some_and(|left| template_matches(rest, left)).then_some(true)
    })
    .unwrap_or(false)
}
