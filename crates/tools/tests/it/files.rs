use std::os::unix::fs::{PermissionsExt as _, symlink};

use pilothouse_tools::{Edit, NotebookEdit, Outcome, Read, Tool as _, Write};
use serde_json::{Value, json};

use crate::Project;

#[tokio::test]
async fn read_numbers_the_lines() {
    let cases = [
        ("alpha\n", json!({}), "1\talpha\n2\t"),
        ("AAA", json!({}), "1\tAAA"),
        ("a\nb\nc", json!({ "offset": 2, "limit": 1 }), "2\tb"),
        ("a\nb", json!({ "offset": -2 }), "1\ta\n2\tb"),
        ("a\nb", json!({ "offset": 0 }), "0\ta\n1\tb"),
        ("a\nb", json!({ "limit": 0 }), "1\ta\n2\tb"),
        ("a\nb", json!({ "limit": -1 }), "1\ta\n2\tb"),
        ("a\nb", json!({ "offset": "2" }), "2\tb"),
        ("a\r\nb\r\n", json!({}), "1\ta\n2\tb\n3\t"),
        ("\u{feff}bom", json!({}), "1\tbom"),
        (
            "",
            json!({}),
            "<system-reminder>The file exists, but there is nothing to read in it.</system-reminder>",
        ),
        (
            "a",
            json!({ "offset": 9 }),
            "<system-reminder>Nothing is left to read at line 9: the file exists, but it has no more than 1 lines in all.\
             </system-reminder>",
        ),
    ];
    for (content, mut input, expected) in cases {
        let project = Project::new();
        input["file_path"] = project.file("f.txt", content).into();
        assert_eq!(project.text(&Read, input).await, expected, "{content:?}");
    }
}

#[tokio::test]
async fn read_gives_programs_the_text_and_its_place() {
    let project = Project::new();
    let path = project.file("a.txt", "alpha\n");
    let got = project.structured(&Read, json!({ "file_path": path })).await;
    let file =
        json!({ "filePath": path, "content": "alpha\n", "numLines": 2, "startLine": 1, "totalLines": 2 });
    assert_eq!(got, json!({ "type": "text", "file": file }));
}

#[tokio::test]
async fn read_refuses_what_is_no_text_and_never_hangs() {
    let project = Project::new();
    let binary = project.file("b.bin", [1, 0, 2]);
    let pipe = project.path("pipe");
    nix::unistd::mkfifo(pipe.as_str(), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let cases = [
        (project.path("none"), "does not exist"),
        (project.path("."), "is a directory"),
        (binary, "binary"),
        (pipe, "not a regular file"),
        ("/dev/zero".to_owned(), "not a regular file"),
    ];
    for (path, expected) in cases {
        let said = project.refusal(&Read, json!({ "file_path": path })).await;
        assert!(said.contains(expected), "{path}: {said}");
    }
}

#[tokio::test]
async fn read_shows_images_and_notebooks() {
    let project = Project::new();
    // A name may lie about the kind.
    let image = project.file("i.jpg", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x07\0\0\0\x05\x08\x06");
    let Outcome::Done(done) = project.call(&Read, json!({ "file_path": image })).await else {
        panic!("the image is shown")
    };
    assert_eq!(done.content[0]["source"]["media_type"], "image/png");
    assert_eq!(done.structured["file"]["originalSize"], 26);
    assert_eq!(done.structured["file"]["dimensions"]["originalWidth"], 7);

    let notebook = project.file("n.ipynb", NOTEBOOK);
    let text = project.text(&Read, json!({ "file_path": notebook })).await;
    assert_eq!(
        text,
        "<cell id=\"c1\">print(1)</cell id=\"c1\">\n\n1\n\n\
         <cell id=\"cell-1\"><cell_type>markdown</cell_type># hi</cell id=\"cell-1\">"
    );
}

const NOTEBOOK: &str = r##"{"cells":[
{"id":"c1","cell_type":"code","source":["print(1)"],"outputs":[{"output_type":"stream","text":["1\n"]}],"metadata":{}},
{"cell_type":"markdown","source":"# hi","metadata":{}}],
"metadata":{"language_info":{"name":"python"}},"nbformat":4,"nbformat_minor":5}"##;

#[tokio::test]
async fn a_notebook_is_changed_a_cell_at_a_time() {
    let project = Project::new();
    let path = project.file("n.ipynb", NOTEBOOK);
    let change = json!({ "notebook_path": path, "cell_id": "c1", "new_source": "print(2)" });
    let said = project.refusal(&NotebookEdit, change.clone()).await;
    assert!(said.contains("not read yet"), "{said}");
    project.text(&Read, json!({ "file_path": path })).await;
    let done = project.structured(&NotebookEdit, change).await;
    assert_eq!((&done["old_source"], &done["new_source"]), (&json!("print(1)"), &json!("print(2)")));
    project
        .text(
            &NotebookEdit,
            json!({ "notebook_path": path, "new_source": "x", "edit_mode": "insert", "cell_id": "c1", "cell_type": "code" }),
        )
        .await;
    project
        .text(&NotebookEdit, json!({ "notebook_path": path, "edit_mode": "delete", "cell_id": "cell-2" }))
        .await;
    let now: Value = serde_json::from_str(&project.content("n.ipynb")).unwrap();
    let sources: Vec<&str> =
        now["cells"].as_array().unwrap().iter().filter_map(|c| c["source"].as_str()).collect();
    assert_eq!(sources, ["print(2)", "# hi"]);
    assert_eq!(now["cells"][0]["outputs"], json!([]), "the old output is gone");
}

#[tokio::test]
async fn a_cell_that_is_no_code_has_no_outputs() {
    let project = Project::new();
    let path = project.file("n.ipynb", NOTEBOOK);
    project.text(&Read, json!({ "file_path": path })).await;
    let change =
        |kind: &str| json!({ "notebook_path": path, "cell_id": "c1", "new_source": "x", "cell_type": kind });
    let said = project.refusal(&NotebookEdit, change("banana")).await;
    assert!(said.contains("must be code or markdown"), "{said}");
    assert_eq!(project.content("n.ipynb"), NOTEBOOK);
    let cell = async |kind: &str| {
        project.text(&NotebookEdit, change(kind)).await;
        let now: Value = serde_json::from_str(&project.content("n.ipynb")).unwrap();
        now["cells"][0].as_object().unwrap().clone()
    };
    let text = cell("markdown").await;
    assert_eq!(text["cell_type"], "markdown");
    assert!(!text.contains_key("outputs") && !text.contains_key("execution_count"), "{text:?}");
    let code = cell("code").await;
    assert_eq!((&code["outputs"], &code["execution_count"]), (&json!([]), &Value::Null));
}

#[tokio::test]
async fn write_replaces_what_is_no_text() {
    let project = Project::new();
    let binary = project.file("b.bin", [1, 0, 2]);
    let huge = project.path("huge");
    std::fs::File::create(&huge).unwrap().set_len(1 << 30).unwrap();
    for path in [binary, huge] {
        let input = json!({ "file_path": path, "content": "text" });
        assert_eq!(Write.refuses(input.as_object().unwrap(), &project.workspace), None);
        let done = project.structured(&Write, input).await;
        assert_eq!((&done["type"], &done["originalFile"]), (&json!("update"), &Value::Null));
        assert_eq!(project.content(&path), "text");
    }
    // What the model knows as a text and is none any more was changed by somebody else.
    let path = project.file("f", "");
    project.text(&Read, json!({ "file_path": path })).await;
    std::thread::sleep(std::time::Duration::from_millis(20));
    project.file("f", [1, 0, 2]);
    let said = project.refusal(&Write, json!({ "file_path": path, "content": "text" })).await;
    assert!(said.contains("changed since"), "{said}");
}

#[tokio::test]
async fn write_creates_folders_and_updates_what_was_read() {
    let project = Project::new();
    let path = project.path("deep/er/new.txt");
    let made = project.structured(&Write, json!({ "file_path": path, "content": "n" })).await;
    assert_eq!((&made["type"], &made["originalFile"]), (&json!("create"), &Value::Null));
    let again = project.structured(&Write, json!({ "file_path": path, "content": "m\n" })).await;
    assert_eq!((&again["type"], &again["originalFile"]), (&json!("update"), &json!("n")));
    assert_eq!(project.content("deep/er/new.txt"), "m\n");
}

#[tokio::test]
async fn write_does_not_overwrite_what_changed_after_it_was_read() {
    let project = Project::new();
    let path = project.file("f", "somebody's work");
    project.text(&Read, json!({ "file_path": path })).await;
    std::thread::sleep(std::time::Duration::from_millis(20));
    project.file("f", "changed meanwhile");
    let said = project.refusal(&Write, json!({ "file_path": path, "content": "" })).await;
    assert!(said.contains("changed since"), "{said}");
    assert_eq!(project.content("f"), "changed meanwhile");
}

#[tokio::test]
async fn edit_wants_one_exact_match() {
    let cases = [
        ("alpha beta", "alpha", "ALPHA", false, Ok("ALPHA beta")),
        ("a a", "a", "b", true, Ok("b b")),
        ("a a", "a", "b", false, Err("2 times")),
        ("a", "x", "b", false, Err("not in the file")),
        ("a", "a", "a", false, Err("the same")),
        ("a", "", "b", false, Err("is empty but the file is not")),
        ("one\r\ntwo\r\n", "one\ntwo", "1\n2", false, Ok("1\r\n2\r\n")),
        ("one\r\ntwo\r\n", "two", "2\r\n3", false, Ok("one\r\n2\r\n3\r\n")),
        ("a\r\nb\nc\n", "b", "B", false, Ok("a\r\nB\nc\n")),
        ("\u{feff}a", "a", "b", false, Ok("\u{feff}b")),
        ("", "", "new", false, Ok("new")),
    ];
    for (content, old, new, replace_all, expected) in cases {
        let project = Project::new();
        let path = project.file("f", content);
        let input =
            json!({ "file_path": path, "old_string": old, "new_string": new, "replace_all": replace_all });
        match (project.call(&Edit, input).await, expected) {
            (Outcome::Done(_), Ok(expected)) => assert_eq!(project.content("f"), expected),
            (Outcome::Failed { message, .. }, Err(part)) => {
                assert!(message.contains(part), "{message}");
                assert_eq!(project.content("f"), content, "nothing was written");
            }
            (outcome, expected) => panic!("{content:?}: {outcome:?} instead of {expected:?}"),
        }
    }
}

/// What an edit says about a file that the model has not seen as it is.
#[tokio::test]
async fn edit_says_what_it_was_blind_to() {
    let notes = |got: &Value| {
        ["staleRecovered", "contentNotInModelContext"].map(|name| got.get(name) == Some(&json!(true)))
    };
    let edit = |path: &str| json!({ "file_path": path, "old_string": "beta", "new_string": "gamma" });
    let change = |project: &Project, text: &str| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        project.file("f", text);
    };
    // Never read, read in part, read whole, touched, changed elsewhere.
    let project = Project::new();
    let path = project.file("f", "alpha\nbeta\n");
    assert_eq!(notes(&project.structured(&Edit, edit(&path)).await), [false, true]);

    let project = Project::new();
    let path = project.file("f", "alpha\nbeta\n");
    project.text(&Read, json!({ "file_path": path, "limit": 1 })).await;
    assert_eq!(notes(&project.structured(&Edit, edit(&path)).await), [false, true]);

    let project = Project::new();
    let path = project.file("f", "alpha\nbeta\n");
    project.text(&Read, json!({ "file_path": path })).await;
    change(&project, "alpha\nbeta\n");
    assert_eq!(notes(&project.structured(&Edit, edit(&path)).await), [false, false]);

    let project = Project::new();
    let path = project.file("f", "alpha\nbeta\n");
    project.text(&Read, json!({ "file_path": path })).await;
    change(&project, "beta\nhost\n");
    let said = project.text(&Edit, edit(&path)).await;
    assert!(said.contains("Somebody else has changed the file"), "{said}");
    assert_eq!(project.content("f"), "gamma\nhost\n");

    // Where it does not fit any more, that is why.
    change(&project, "other\n");
    let said = project.refusal(&Edit, edit(&path)).await;
    assert!(said.contains("was changed since it was read"), "{said}");
    assert_eq!(project.content("f"), "other\n");
}

#[tokio::test]
async fn large_files_are_read_in_parts_unless_the_model_insists() {
    let project = Project::new();
    let path = project.file("f", "0123456789abcde\n".repeat(20_000));
    let said = project.refusal(&Read, json!({ "file_path": path })).await;
    assert!(said.contains("320000 bytes") && said.contains("allow_large"), "{said}");
    let part = project.text(&Read, json!({ "file_path": path, "offset": 19_999, "limit": 2 })).await;
    assert_eq!(part, "19999\t0123456789abcde\n20000\t0123456789abcde");
    let all = project.text(&Read, json!({ "file_path": path, "allow_large": true })).await;
    assert!(all.ends_with("20000\t0123456789abcde\n20001\t"), "{}", all.len());
}

#[tokio::test]
async fn a_part_of_a_file_is_no_more_than_a_model_takes() {
    let project = Project::new();
    let path = project.file("f", "0123456789abcde\n".repeat(60_000));
    let input = json!({ "file_path": path, "limit": 50_000 });
    let Outcome::Done(done) = project.call(&Read, input).await else { panic!("it is read") };
    let said = done.content.as_str().unwrap();
    assert!(said.len() < 330_000, "{}", said.len());
    let file = &done.structured["file"];
    assert_eq!(file["truncatedByTokenCap"], true);
    let next = file["numLines"].as_u64().unwrap() + 1;
    assert!(said.ends_with(&format!("read on with offset {next})")), "{next}");
    let part = project.text(&Read, json!({ "file_path": path, "offset": next, "limit": 1 })).await;
    assert_eq!(part, format!("{next}\t0123456789abcde"));
    // A line counts for itself, as far as it goes.
    let path = project.file("line", "y".repeat(1 << 20));
    let said = project.text(&Read, json!({ "file_path": path, "limit": 1 })).await;
    assert!(said.len() < 330_000 && said.contains("more bytes"), "{}", said.len());
    let path = project.file("line", "y".repeat(300_000));
    let said = project.text(&Read, json!({ "file_path": path, "limit": 1 })).await;
    assert_eq!(said.len(), 300_002);
}

#[tokio::test]
async fn other_encodings_are_kept_or_named() {
    let project = Project::new();
    let utf16 = project.file("u.txt", b"\xff\xfeh\0i\0\n\0");
    assert_eq!(project.text(&Read, json!({ "file_path": utf16 })).await, "1\thi\n2\t");
    project.text(&Edit, json!({ "file_path": utf16, "old_string": "i", "new_string": "o" })).await;
    assert_eq!(std::fs::read(&utf16).unwrap(), b"\xff\xfeh\0o\0\n\0");
    let latin = project.file("l.txt", b"caf\xe9\n");
    let said = project.text(&Read, json!({ "file_path": latin })).await;
    assert!(said.starts_with("1\tcaf\u{fffd}\n2\t\n\n[Some bytes"), "{said}");
    let said =
        project.refusal(&Edit, json!({ "file_path": latin, "old_string": "caf", "new_string": "x" })).await;
    assert!(said.contains("not UTF-8"), "{said}");
}

#[tokio::test]
async fn edit_tells_programs_what_changed() {
    let project = Project::new();
    let path = project.file("a.txt", "alpha\n");
    let got = project
        .structured(&Edit, json!({ "file_path": path, "old_string": "alpha", "new_string": "HOST" }))
        .await;
    let hunk =
        json!({ "oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-alpha", "+HOST"] });
    assert_eq!(got["structuredPatch"], json!([hunk]));
    assert_eq!(got["originalFile"], "alpha\n");
}

#[tokio::test]
async fn a_change_keeps_links_and_permissions() {
    let project = Project::new();
    let target = project.file("script", "#!/bin/sh\n");
    std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o755)).unwrap();
    symlink(&target, project.path("link")).unwrap();
    let input = json!({ "file_path": project.path("link"), "old_string": "sh", "new_string": "bash" });
    project.text(&Edit, input).await;
    assert!(std::fs::symlink_metadata(project.path("link")).unwrap().is_symlink());
    assert_eq!(project.content("script"), "#!/bin/bash\n");
    assert_eq!(std::fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o755);
}
