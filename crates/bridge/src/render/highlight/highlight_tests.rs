use super::*;

/// Code, and how it is told apart: `class:text` for each span.
#[test]
fn parts_of_code_are_told_apart() {
    let rows: [(&str, &str, &[&str]); 10] = [
        (
            "rust",
            "fn f<'a>(x: &'a str) -> Option<char> { Some('\\'') } // \"no\"",
            &[
                "keyword:fn",
                "variable:'a",
                "variable:'a",
                "type:Option",
                "constant:Some",
                "string:'\\''",
                "comment:// \"no\"",
            ],
        ),
        ("py", "x = '''a\nb''' # c", &["string:'''a\nb'''", "comment:# c"]),
        ("ts", "const a: string = `b\n${c}`", &["keyword:const", "keyword:string", "string:`b\n${c}`"]),
        (
            "sh",
            "if ls -la $HOME; then A=1 grep x#y; fi # end",
            &[
                "keyword:if",
                "function:ls",
                "variable:$HOME",
                "keyword:then",
                "variable:A",
                "number:1",
                "keyword:fi",
                "comment:# end",
            ],
        ),
        (
            "json",
            "{\"a\": \"b\", \"c\": [1, true]}",
            &["property:\"a\"", "string:\"b\"", "property:\"c\"", "number:1", "constant:true"],
        ),
        ("yaml", "a: b # c\nd: 'e'", &["property:a", "comment:# c", "property:d", "string:'e'"]),
        ("sql", "Select a From b", &["keyword:Select", "keyword:From"]),
        (
            "html",
            "<!-- x --><a href=\"y\">z</a>",
            &["comment:<!-- x -->", "tag:<a", "attribute:href", "string:\"y\"", "tag:>", "tag:</a", "tag:>"],
        ),
        ("diff", "@@ -1 +1 @@\n-a\n+b\n c", &["meta:@@ -1 +1 @@\n", "deleted:-a\n", "inserted:+b\n"]),
        ("go", "\"unclosed\nx", &["string:\"unclosed"]),
    ];
    for (language, code, expected) in rows {
        let html = html(code, Language::named(language));
        let mut found = Vec::new();
        for span in html.split("<span class=\"hl-").skip(1) {
            let (class, rest) = span.split_once("\">").unwrap();
            let text = rest.split_once("</span>").unwrap().0;
            found.push(format!("{class}:{}", unescaped(text)));
        }
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        assert_eq!(found, expected, "{language}: {html}");
        assert_eq!(unescaped(&without_spans(&html)), code, "nothing is lost");
    }
}

#[test]
fn whatever_is_written_comes_out_whole_and_in_known_classes() {
    let pieces = [
        "\"", "'", "`", "/*", "*/", "<", ">", "\\", "$", "${", "#", "\n", "é", "🚢", "a", "0", " ", "--[[",
        "'''",
    ];
    // Every order of three pieces, in every language.
    for language in Language::all().map(Language::named) {
        for number in 0..pieces.len().pow(3) {
            let at = |place: u32| pieces[number / pieces.len().pow(place) % pieces.len()];
            let code = format!("{}{}{}", at(0), at(1), at(2));
            let html = html(&code, language);
            assert_eq!(unescaped(&without_spans(&html)), code, "{language:?}");
        }
    }
    let html = html(&"\"a' ".repeat(10_000), Language::named("rust"));
    for class in html.split("class=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert!(CLASSES.contains(&class), "{class}");
    }
}

fn without_spans(html: &str) -> String {
    let mut text = String::new();
    for piece in html.split('<') {
        text.push_str(piece.split_once('>').map_or(piece, |(_, rest)| rest));
    }
    text
}

fn unescaped(html: &str) -> String {
    html.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}
