//! One permission rule as people write it: `Tool` or `Tool(content)`.

use std::{convert::Infallible, fmt, str::FromStr};

use pilothouse_proto::PermissionRuleValue;

/// A rule value: which tool, and which uses of it.
///
/// The text runs from the first `(` to the last `)`. Empty or `*` content means the whole tool. Text that does
/// not have this shape is kept as a literal tool name: it then matches no tool, which is also what the real
/// CLI makes of it.
///
/// ```
/// use pilothouse_rules::Rule;
///
/// let rule = Rule::parse("Bash(npm run *)");
/// assert_eq!(rule.tool(), "Bash");
/// assert_eq!(rule.content(), Some("npm run *"));
/// assert_eq!(rule.to_string(), "Bash(npm run *)");
/// assert_eq!(Rule::parse("Bash(*)"), Rule::whole_tool("Bash"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Rule {
    tool: String,
    content: Option<String>,
}

impl Rule {
    /// Reads a rule. Never fails: see the type.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        match split_content(text) {
            Some((tool, content)) => Self::new(tool, Some(content)),
            None => Self { tool: text.to_owned(), content: None },
        }
    }

    /// Whether a text can be a rule at all. `Tool()` cannot: the agent CLI leaves it out of settings, and reading it
    /// as all of the tool would allow far more than anyone meant.
    ///
    /// ```
    /// use pilothouse_rules::Rule;
    ///
    /// assert!(Rule::can_be("Bash(git *)"));
    /// assert!(!Rule::can_be("Bash()"));
    /// ```
    #[must_use]
    pub fn can_be(text: &str) -> bool {
        let text = text.trim();
        let empty_content = text.strip_suffix(')').is_some_and(|rest| rest.trim_end().ends_with('('));
        !text.is_empty() && !empty_content
    }

    /// A rule of these parts; empty or `*` content means the whole tool.
    #[must_use]
    pub fn new(tool: &str, content: Option<&str>) -> Self {
        let content = content.filter(|content| !content.trim().is_empty() && content.trim() != "*");
        Self { tool: tool.trim().to_owned(), content: content.map(ToOwned::to_owned) }
    }

    /// The rule for every use of a tool.
    #[must_use]
    pub fn whole_tool(tool: &str) -> Self {
        Self::new(tool, None)
    }

    /// The tool's name.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// What stands in the parentheses, if anything narrows the rule.
    #[must_use]
    pub fn content(&self) -> Option<&str> {
        self.content.as_deref()
    }

    /// Whether the text could not be split into tool and content, so that it matches nothing.
    #[must_use]
    pub fn is_malformed(&self) -> bool {
        self.content.is_none() && (self.tool.is_empty() || self.tool.contains(['(', ')']))
    }
}

/// The tool and content of well-formed text.
fn split_content(text: &str) -> Option<(&str, &str)> {
    let (tool, rest) = text.split_once('(')?;
    let content = rest.strip_suffix(')')?;
    (!tool.trim().is_empty() && !tool.contains(')')).then_some((tool, content))
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.content {
            Some(content) => write!(f, "{}({content})", self.tool),
            None => f.write_str(&self.tool),
        }
    }
}

impl FromStr for Rule {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self::parse(text))
    }
}

impl From<&PermissionRuleValue> for Rule {
    fn from(value: &PermissionRuleValue) -> Self {
        Self::new(&value.tool_name, value.rule_content.as_ref().map(String::as_str))
    }
}

/// Splits one `--allowedTools` or `allowed-tools` value into rule texts: at commas and white space outside parentheses.
///
/// ```
/// assert_eq!(pilothouse_rules::split_rule_list("Bash(git a, b) Write,Read"), ["Bash(git a, b)", "Write", "Read"]);
/// ```
#[must_use]
pub fn split_rule_list(list: &str) -> Vec<String> {
    let mut rules = Vec::new();
    let mut current = String::new();
    let mut depth = 0_usize;
    for c in list.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (c == ',' || c.is_whitespace()) {
            if !current.is_empty() {
                rules.push(std::mem::take(&mut current));
            }
        } else {
            current.push(c);
        }
    }
    // Parentheses that nobody closed keep the blanks after them.
    let last = current.trim();
    if !last.is_empty() {
        rules.push(last.to_owned());
    }
    rules
}
