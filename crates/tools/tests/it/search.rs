use std::path::Path;
use std::sync::Arc;

use pilothouse_tools::{Glob, Grep, Secrets, Tool as _, Touch};
use serde_json::{Value, json};

use crate::Project;

fn project() -> Project {
    let project = Project::new();
    project.file("a.txt", "alpha\nbeta\ngamma\n");
    project.file("src/b.rs", "fn alpha() {}\nfn two() {}\n");
    project.file("src/c.rs", "// nothing\n");
    project.file("ignored/d.txt", "alpha\n");
    project.file(".gitignore", "ignored/\n");
    project.file("bin", b"al\0pha alpha");
    project
}

#[tokio::test]
async fn glob_finds_by_path_and_leaves_out_what_git_ignores() {
    let project = project();
    let cases: [(&str, &[&str]); 5] = [
        ("*.txt", &["a.txt"]),
        ("**/*.rs", &["src/b.rs", "src/c.rs"]),
        ("src/{b,c}.rs", &["src/b.rs", "src/c.rs"]),
        ("*.none", &[]),
        ("**/d.txt", &[]),
    ];
    for (pattern, expected) in cases {
        let got = project.structured(&Glob, json!({ "pattern": pattern })).await;
        let mut names: Vec<&str> =
            got["filenames"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, expected, "{pattern}");
        assert_eq!(got["numFiles"], expected.len());
    }
    let said = project.refusal(&Glob, json!({ "pattern": "[" })).await;
    assert!(said.contains("not a valid pattern"), "{said}");
}

#[tokio::test]
async fn grep_answers_in_three_ways() {
    let project = project();
    let cases = [
        (json!({ "pattern": "alpha" }), "Found 2 files\na.txt\nsrc/b.rs"),
        (json!({ "pattern": "ALPHA" }), "No files found"),
        (json!({ "pattern": "ALPHA", "-i": true, "type": "rust" }), "Found 1 file\nsrc/b.rs"),
        (json!({ "pattern": "alpha", "output_mode": "content", "glob": "*.txt" }), "a.txt:1:alpha"),
        (
            json!({ "pattern": "beta", "output_mode": "content", "-C": 1, "path": "a.txt" }),
            "1-alpha\n2:beta\n3-gamma",
        ),
        (json!({ "pattern": "beta", "output_mode": "content", "-n": false }), "a.txt:beta"),
        (
            json!({ "pattern": "[ab]l?e?", "output_mode": "content", "-o": true, "path": "a.txt", "head_limit": 2 }),
            "1:al\n1:a\n\n[Showing results with pagination = limit: 2]",
        ),
        (
            json!({ "pattern": "fn ", "output_mode": "count" }),
            "src/b.rs:2\n\nFound 2 total occurrences across 1 file.",
        ),
        (
            json!({ "pattern": "alpha.beta", "multiline": true, "output_mode": "content" }),
            "a.txt:1:alpha\na.txt:2:beta",
        ),
    ];
    for (input, expected) in cases {
        assert_eq!(project.text(&Grep, input.clone()).await, expected, "{input}");
    }
}

#[tokio::test]
async fn grep_says_what_is_wrong_with_a_question() {
    let project = project();
    let cases = [
        (json!({ "pattern": "(" }), "not a valid regular expression"),
        (json!({ "pattern": "a", "type": "klingon" }), "not a known file type"),
        (json!({ "pattern": "a", "output_mode": "poem" }), "output_mode"),
        (json!({ "pattern": "a", "path": "nowhere" }), "does not exist"),
    ];
    for (input, expected) in cases {
        let said = project.refusal(&Grep, input.clone()).await;
        assert!(said.contains(expected), "{input}: {said}");
    }
}

/// Hides one folder.
struct Hidden(std::path::PathBuf);

impl Secrets for Hidden {
    fn hides(&self, path: &Path) -> bool {
        path.starts_with(&self.0)
    }
}

#[tokio::test]
async fn a_search_passes_by_what_is_kept_from_the_model() {
    let mut project = project();
    project.file("src/private/key.rs", "fn alpha() {}\n");
    let hidden = Hidden(project.workspace.resolve("src/private"));
    let folder = project.workspace.cwd();
    let outputs = project.workspace.output_dir().to_owned();
    let link = project.path("../link");
    std::os::unix::fs::symlink(&folder, &link).unwrap();
    project.workspace = pilothouse_tools::Workspace::new(folder, outputs).with_secrets(Arc::new(hidden));
    let content = json!({ "pattern": "alpha", "output_mode": "content", "glob": "*.rs" });
    assert_eq!(project.text(&Grep, content).await, "src/b.rs:1:fn alpha() {}");
    assert_eq!(project.text(&Glob, json!({ "pattern": "**/{b,key}.rs" })).await, "src/b.rs");
    // By another name it is the same folder.
    let said = project.text(&Glob, json!({ "pattern": "**/{b,key}.rs", "path": link })).await;
    assert_eq!(said, format!("{link}/src/b.rs"));
}

#[tokio::test]
async fn an_absolute_pattern_is_looked_for_where_it_says() {
    let project = project();
    let outside = project.file("../other/deep/far.txt", "");
    let near = project.file("../other/near.txt", "");
    let other = Path::new(&near).parent().unwrap().display().to_string();
    let cases: [(String, &str, &[&str]); 5] = [
        (format!("{other}/*.txt"), &other, &[&near]),
        (format!("{other}/**/*.txt"), &other, &[&near, &outside]),
        (format!("{other}/{{deep,none}}/*"), &other, &[&outside]),
        (near.clone(), &other, &[&near]),
        (project.path("src/b.rs"), &project.path("src"), &["src/b.rs"]),
    ];
    for (pattern, root, expected) in cases {
        // Whatever else is named: the pattern says where.
        let input = json!({ "pattern": pattern, "path": project.path("src") });
        let touched = Glob.touches(input.as_object().unwrap(), &project.workspace);
        assert_eq!(touched, [Touch::Read(root.into())], "{pattern}");
        let got = project.structured(&Glob, input).await;
        let mut names: Vec<&str> =
            got["filenames"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        names.sort_unstable();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(names, expected, "{pattern}");
    }
}

#[tokio::test]
async fn what_git_keeps_for_itself_is_not_found() {
    let project = Project::new();
    project.file(".git/config", "alpha");
    project.file("a.txt", "alpha");
    assert_eq!(project.text(&Glob, json!({ "pattern": "**/*" })).await, "a.txt");
    assert_eq!(project.text(&Grep, json!({ "pattern": "alpha" })).await, "Found 1 file\na.txt");
}
