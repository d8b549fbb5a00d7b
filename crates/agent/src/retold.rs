//! Results in other words: what the model hears when a hook puts another output in the place of a tool's own.

use pilothouse_proto::Content;
use serde_json::Value;

/// A result as a hook wants it.
#[derive(Debug, PartialEq)]
pub(crate) struct Retold {
    pub(crate) content: Content,
    /// Whether it tells of a failure.
    pub(crate) is_error: bool,
}

/// What an output means as a result of a built-in tool; none when it is not of the shape that the tool's own outputs have,
/// and then it does not count.
pub(crate) fn retold(tool: &str, output: &Value) -> Option<Retold> {
    if tool == "Bash" {
        return command(output);
    }
    let text = match tool {
        "Read" => file(output)?,
        "Write" => match output.get("type")?.as_str()? {
            "create" => format!("Created {}. It need not be read again.", text(output, "filePath")?),
            _ => format!("Updated {}. It need not be read again.", text(output, "filePath")?),
        },
        "Edit" => {
            text(output, "newString")?;
            format!("Updated {}. It need not be read again.", text(output, "filePath")?)
        }
        "Glob" => match names(output)?.as_slice() {
            [] => "No files found".to_owned(),
            names => names.join("\n"),
        },
        "Grep" => found(output)?,
        _ => return None,
    };
    Some(Retold { content: Content::Text(text), is_error: false })
}

fn command(output: &Value) -> Option<Retold> {
    let (stdout, stderr) = (text(output, "stdout")?, text(output, "stderr")?);
    let interrupted = output.get("interrupted")?.as_bool()?;
    let mut said: Vec<&str> =
        [stdout, stderr].into_iter().map(str::trim_end).filter(|text| !text.is_empty()).collect();
    if interrupted {
        said.push("<error>The command was ended before it was done</error>");
    }
    let text = if said.is_empty() { "(Bash completed with no output)".to_owned() } else { said.join("\n") };
    Some(Retold { content: Content::Text(text), is_error: interrupted })
}

fn file(output: &Value) -> Option<String> {
    let file = output.get("file").filter(|_| output.get("type").is_some_and(|kind| kind == "text"))?;
    let first = file.get("startLine")?.as_u64()?;
    let lines = text(file, "content")?.split('\n');
    let numbered: Vec<String> =
        (first..).zip(lines).map(|(number, line)| format!("{number}\t{line}")).collect();
    Some(numbered.join("\n"))
}

fn found(output: &Value) -> Option<String> {
    match output.get("mode").and_then(Value::as_str) {
        Some("content" | "count") => Some(text(output, "content")?.to_owned()),
        _ => {
            let names = names(output)?;
            let count = names.len();
            let files = if count == 1 { "file" } else { "files" };
            Some(if count == 0 {
                "No files found".to_owned()
            } else {
                format!("Found {count} {files}\n{}", names.join("\n"))
            })
        }
    }
}

fn text<'a>(output: &'a Value, field: &str) -> Option<&'a str> {
    output.get(field)?.as_str()
}

fn names(output: &Value) -> Option<Vec<&str>> {
    output.get("filenames")?.as_array()?.iter().map(Value::as_str).collect()
}

#[cfg(test)]
#[path = "retold_tests.rs"]
mod tests;
