use super::*;

fn rendered(text: &str) -> String {
    html(text, Breaks::Joined).trim_end().to_owned()
}

#[test]
fn markdown_becomes_html() {
    let rows = [
        ("*a* **b** ~~c~~ `d<`", "<p><em>a</em> <strong>b</strong> <del>c</del> <code>d&lt;</code></p>"),
        ("# a\n\n1. b\n2. c", "<h1>a</h1>\n<ol>\n<li>b</li>\n<li>c</li>\n</ol>"),
        ("- [x] a\n- [ ] b", "<ul>\n<li>☑ a</li>\n<li>☐ b</li>\n</ul>"),
        (
            "```rust\nlet x = 1;\n```",
            "<pre><code class=\"language-rust\"><span class=\"hl-keyword\">let</span> x = <span class=\"hl-number\">1</span>;\n</code></pre>",
        ),
        ("```unheard-of\n<b>\n```", "<pre><code>&lt;b&gt;\n</code></pre>"),
        ("```\nunclosed *a*", "<pre><code>unclosed *a*</code></pre>"),
        (
            "[a](https://b.example/?c=1&d)",
            "<p><a href=\"https://b.example/?c=1&amp;d\" target=\"_blank\" rel=\"noopener noreferrer\">a</a></p>",
        ),
        (
            "|a|b|c|\n|-|:-:|-:|\n|1|2|3|",
            "<table><thead><tr><th>a</th><th align=\"center\">b</th><th align=\"right\">c</th></tr></thead><tbody>\n\
             <tr><td>1</td><td align=\"center\">2</td><td align=\"right\">3</td></tr>\n</tbody></table>",
        ),
        ("`<td style=\"text-align: right\">`", "<p><code>&lt;td style=\"text-align: right\"&gt;</code></p>"),
        ("a\nb", "<p>a\nb</p>"),
    ];
    for (text, expected) in rows {
        assert_eq!(rendered(text), expected, "{text}");
    }
    assert_eq!(html("a\nb", Breaks::Kept).trim_end(), "<p>a<br>\nb</p>");
}

/// What is meant to run, load or mislead is text, or gone.
#[test]
fn nothing_in_a_text_runs_or_loads() {
    let rows = [
        "<script>alert(1)</script>",
        "a <img src=x onerror=alert(1)> b",
        "<svg/onload=alert(1)>",
        "<iframe src=https://evil.example></iframe>",
        "<style>body{display:none}</style>",
        "<a href=\"javascript:alert(1)\">x</a>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](java\nscript:alert(1))",
        "[x](&#106;avascript:alert(1))",
        "[x](data:text/html,<script>alert(1)</script>)",
        "[x](vbscript:x)",
        "[x](/devices/revoke)",
        "[x](//evil.example/)",
        "<javascript:alert(1)>",
        "![x](https://evil.example/pixel.png)",
        "![x](javascript:alert(1))",
        "[![x](https://evil.example/a.png)](https://evil.example)",
        "[x]: javascript:alert(1)\n\n[x]",
        "```\"><script>alert(1)</script>\nx\n```",
        "```rust onload=alert(1)\n</code></pre><script>alert(1)</script>\n```",
        "|a|\n|-|\n|<script>alert(1)</script>|",
        "<!-- --><script>alert(1)</script>",
        "<![CDATA[<script>alert(1)</script>]]>",
        "\u{0}<scr\u{0}ipt>alert(1)</script>",
        "# <b onclick=alert(1)>x</b>",
        "<math><mi xlink:href=\"javascript:alert(1)\">x</mi></math>",
    ];
    for text in rows {
        let html = rendered(text);
        let mut tags = html.split('<').skip(1);
        let bad = tags.find(|tag| {
            let inside = tag.split('>').next().unwrap_or_default().to_lowercase();
            let name = inside.trim_start_matches('/').split(' ').next().unwrap_or_default().to_owned();
            let runs = ["script", "img", "svg", "iframe", "style", "math", "object"].contains(&name.as_str());
            runs || [" on", "javascript", "vbscript", "data:", "style=", "href=\"/"]
                .iter()
                .any(|bad| inside.contains(bad))
        });
        assert_eq!(bad, None, "{text} became {html}");
    }
}

/// Texts that are small to write and could be large to render.
#[test]
fn hostile_texts_stay_within_bounds() {
    let rows = [
        ("deep lists", "- ".repeat(10_000)),
        ("deep quotes", ">".repeat(30_000)),
        ("deep emphasis", "*a **b ".repeat(5_000)),
        ("deep links", "[".repeat(30_000)),
        ("deep pictures", "![".repeat(20_000)),
        ("deep HTML", "<b>".repeat(20_000)),
        ("a wide table", format!("{}\n{}\n{}", "|a".repeat(2_000), "|-".repeat(2_000), "|\n".repeat(20_000))),
        ("backticks", (1..300).map(|length| "`".repeat(length) + "a").collect()),
        ("an open fence", format!("```rust\n{}", "\"'/*".repeat(15_000))),
        ("entities", "&#x0;&amp;&nope;".repeat(4_000)),
        ("references", (0..4_000).map(|n| format!("[{n}]: <\n")).collect()),
    ];
    for (name, text) in rows {
        assert!(text.len() <= LONGEST, "{name} is rendered");
        let html = rendered(&text);
        assert!(html.len() < 20 * LONGEST, "{name}: {}", html.len());
        let depth = html.split('<').fold((0_i64, 0_i64), |(depth, deepest), tag| match tag.chars().next() {
            Some('/') => (depth - 1, deepest),
            Some(_) if !tag.starts_with("br") && !tag.starts_with("hr") => {
                (depth + 1, deepest.max(depth + 1))
            }
            _ => (depth, deepest),
        });
        assert!(depth.1 < 60, "{name}: {depth:?}");
    }
    let long = "<b>*".repeat(100_000);
    let html = rendered(&long);
    assert!(html.starts_with("<pre><code>&lt;b&gt;*&lt;b"), "too long to be rendered, and shown whole");
    assert_eq!(html.matches("&lt;b&gt;*").count(), 100_000);
}

#[test]
fn bare_addresses_are_links_and_nothing_else_is() {
    let link =
        |url: &str| format!("<a href=\"{url}\" target=\"_blank\" rel=\"noopener noreferrer\">{url}</a>");
    let rows = [
        ("see https://a.example/b_c_d?e=1#f.", format!("see {}.", link("https://a.example/b_c_d?e=1#f"))),
        ("(http://a.example/x_(y))", format!("({})", link("http://a.example/x_(y)"))),
        ("**https://a.example**!", format!("<strong>{}</strong>!", link("https://a.example"))),
        (
            "http://a.example, http://b.example",
            format!("{}, {}", link("http://a.example"), link("http://b.example")),
        ),
        ("`https://a.example`", "<code>https://a.example</code>".to_owned()),
        ("[https://a.example](https://a.example)", link("https://a.example")),
        (
            "xhttps://a.example https:// javascript://x",
            "xhttps://a.example https:// javascript://x".to_owned(),
        ),
        ("https://a.example/\"><b>", format!("{}\"&gt;&lt;b&gt;", link("https://a.example/"))),
    ];
    for (text, expected) in rows {
        assert_eq!(rendered(text), format!("<p>{expected}</p>"), "{text}");
    }
    assert!(rendered("```\nhttps://a.example\n```").starts_with("<pre><code>https://a.example"));
}

#[test]
fn escape_sequences_of_terminals_are_left_out() {
    assert_eq!(
        rendered("\u{1b}[1;31mred\u{1b}[0m\tand \u{1b}]8;;https://a.example\u{7}plain"),
        "<p>red\tand plain</p>"
    );
}
