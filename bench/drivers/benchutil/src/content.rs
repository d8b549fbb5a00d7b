//! The synthetic lines, with the fields that the real CLI sends. The text is model-like: token-sized fragments, about
//! one in seven with a JSON escape and some not ASCII, so that parsers that borrow meet the escapes of real replies.

use std::fmt::Write as _;

pub const VERSION: &str = "2.1.325";
pub const SESSION: &str = "5f0c1b9a-7d3e-4b52-9a41-0e8f6c2d7b13";

/// `count` deltas of about 231 bytes, each with its newline.
pub fn deltas(count: usize) -> Vec<String> {
    let line = |n: usize| {
        let mut out = String::new();
        delta_line(&mut out, n as u64, FRAGMENTS[n % FRAGMENTS.len()]);
        out
    };
    (0..count).map(line).collect()
}

/// `count` assistant messages of `size` bytes, each with its newline.
pub fn assistants(count: usize, size: usize) -> Vec<String> {
    let mut empty = String::new();
    assistant_line(&mut empty, 0, "");
    let text = filler(size.saturating_sub(empty.len()));
    let line = |n: usize| {
        let mut out = String::new();
        assistant_line(&mut out, n as u64, &text);
        out
    };
    (0..count).map(line).collect()
}

pub fn delta_line(out: &mut String, n: u64, text: &str) {
    out.push_str(r#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""#);
    out.push_str(text);
    out.push_str(r#""}},"session_id":""#);
    out.push_str(SESSION);
    out.push_str(r#"","parent_tool_use_id":null,"uuid":""#);
    uuid(out, n);
    out.push_str("\"}\n");
}

pub fn assistant_line(out: &mut String, n: u64, text: &str) {
    out.push_str(r#"{"type":"assistant","message":{"model":"claude-sonnet-4-5-20250929","id":"msg_01XFDUDYJgAACzvnptvVoYEL","type":"message","role":"assistant","content":[{"type":"text","text":""#);
    out.push_str(text);
    out.push_str(r#""}],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":4,"cache_creation_input_tokens":1834,"cache_read_input_tokens":18921,"cache_creation":{"ephemeral_5m_input_tokens":1834,"ephemeral_1h_input_tokens":0},"output_tokens":312,"service_tier":"standard"}},"parent_tool_use_id":null,"session_id":""#);
    out.push_str(SESSION);
    out.push_str(r#"","uuid":""#);
    uuid(out, n);
    out.push_str("\"}\n");
}

/// `system/init`, which precedes every turn of the real CLI.
pub fn init_line(out: &mut String, mcp_servers: &[String]) {
    const TOOLS: &str = r#""Task","Bash","Glob","Grep","ExitPlanMode","Read","Edit","Write","NotebookEdit","WebFetch","TodoWrite","WebSearch","BashOutput","KillShell","Skill","SlashCommand","AskUserQuestion","EnterPlanMode","TaskCreate","TaskUpdate","TaskList","TaskStop","ListMcpResources","ReadMcpResource""#;
    let servers: Vec<_> =
        mcp_servers.iter().map(|name| format!(r#"{{"name":"{name}","status":"connected"}}"#)).collect();
    let _ = write!(
        out,
        r#"{{"type":"system","subtype":"init","cwd":"/home/user/projects/pilot","session_id":"{SESSION}","tools":[{TOOLS}],"mcp_servers":[{}],"model":"claude-sonnet-4-5-20250929","permissionMode":"default","slash_commands":["compact","context","cost","init","review"],"apiKeySource":"none","claude_code_version":"{VERSION}","output_style":"default","agents":["general-purpose","Explore","Plan"],"skills":[],"plugins":[],"uuid":""#,
        servers.join(",")
    );
    uuid(out, 7);
    out.push_str("\"}\n");
}

pub fn result_line(out: &mut String, turn: u64, ok: bool) {
    let _ = write!(
        out,
        r#"{{"type":"result","subtype":"success","is_error":{},"duration_ms":12,"duration_api_ms":10,"num_turns":{turn},"result":"done","stop_reason":"end_turn","session_id":"{SESSION}","total_cost_usd":0.0123,"usage":{{"input_tokens":4,"cache_creation_input_tokens":1834,"cache_read_input_tokens":18921,"output_tokens":312,"server_tool_use":{{"web_search_requests":0,"web_fetch_requests":0}},"service_tier":"standard"}},"modelUsage":{{"claude-sonnet-4-5-20250929":{{"inputTokens":4,"outputTokens":312,"cacheReadInputTokens":18921,"cacheCreationInputTokens":1834,"webSearchRequests":0,"costUSD":0.0123,"contextWindow":200000,"maxOutputTokens":64000}}}},"permission_denials":[],"uuid":""#,
        !ok
    );
    uuid(out, turn + 1_000_000);
    out.push_str("\"}\n");
}

/// Body text of at most `len` bytes with a newline escape each 70 characters or so, quotes, and some UTF-8.
pub fn filler(len: usize) -> String {
    const UNIT: &str = "    let value = parser.next_line(&mut buffer).await?; // \\\"zero copy\\\" \u{2192} one pass over bytes\\n\\nThe quick brown fox jumps over the lazy dog while the build finishes in 3.14 s.\\n";
    let mut text = UNIT.repeat(len / UNIT.len() + 1);
    // Cut at a character boundary that is not inside an escape.
    let mut end = len;
    while end > 0 && (!text.is_char_boundary(end) || text.as_bytes()[end - 1] == b'\\') {
        end -= 1;
    }
    text.truncate(end);
    text
}

/// The shape of a version 4 UUID, different for each `n`.
pub fn uuid(out: &mut String, n: u64) {
    let x = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5bd1_e995;
    let (a, b, c, d) = ((x >> 32) as u32, (x >> 16) & 0xffff, x & 0xfff, (x >> 48) & 0xfff);
    let _ = write!(out, "{a:08x}-{b:04x}-4{c:03x}-a{d:03x}-{:012x}", n & 0xffff_ffff_ffff);
}

const FRAGMENTS: [&str; 40] = [
    "Here",
    "'s",
    " the",
    " function",
    " you",
    " asked",
    " for",
    ":\\n\\n",
    "```",
    "rust",
    "\\n",
    "fn",
    " main",
    "()",
    " {\\n",
    "    ",
    "println",
    "!(",
    "\\\"Hello",
    ",",
    " world",
    "\\\");",
    "\\n}\\n",
    "```",
    " This",
    " reads",
    " each",
    " line",
    " from",
    " the",
    " pipe",
    " and",
    " parses",
    " it",
    " \u{2014} no",
    " copies",
    " needed",
    ".",
    " Tests",
    " pass",
];
