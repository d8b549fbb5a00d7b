use pilothouse_catalog::{BUILTINS, BuiltinKind, EntryKind, ProblemKind, Scope};

use crate::{Tree, file_name, names};

/// The files of the recorded scenarios about commands and skills.
const RECORDED: &[(&str, &str)] = &[
    (
        "./.claude/commands/greet.md",
        "---\ndescription: Say hi\nargument-hint: <who>\n---\nGREET all=[$ARGUMENTS]\n",
    ),
    ("./.claude/commands/db/migrate.md", "MIGRATE [$ARGUMENTS]\n"),
    ("~/commands/usercmd.md", "USERCMD no args placeholder\n"),
    (
        "./.claude/commands/bashy.md",
        "---\nallowed-tools: Bash(echo:*)\n---\nOUT: !`echo from-bash`\nFILE: @note.txt\n",
    ),
    (
        "./.claude/skills/my-skill/SKILL.md",
        "---\nname: my-skill\ndescription: does a thing\n---\nSKILL BODY\n",
    ),
    (
        "./.claude/skills/hidden/SKILL.md",
        "---\nname: hidden\ndescription: hidden one\nuser-invocable: false\n---\nH\n",
    ),
    (
        "./.claude/skills/manual/SKILL.md",
        "---\nname: manual\ndescription: manual one\ndisable-model-invocation: true\n---\nM\n",
    ),
    ("~/skills/uskill/SKILL.md", "---\nname: uskill\ndescription: user skill\n---\nUSER SKILL BODY\n"),
    ("home/.config/claude/skills/alt/SKILL.md", "---\nname: alt\ndescription: alt skill\n---\nALT\n"),
    (
        "./.claude/agents/helper.md",
        "---\nname: helper\ndescription: helper agent\ntools: Read, Bash\n---\nYou help.\n",
    ),
];

#[test]
fn the_recorded_files_are_listed_as_observed() {
    let tree = Tree::new(RECORDED);
    let (catalog, problems) = tree.discover();
    assert_eq!(problems, []);
    let listed: Vec<_> = catalog
        .entries
        .iter()
        .filter(|entry| entry.user_invocable)
        .map(|entry| {
            let hint = entry.argument_hint.as_deref().unwrap_or_default();
            format!("{} | {} ({}) | {hint}", entry.name, entry.description, entry.scope)
        })
        .collect();
    assert_eq!(
        listed,
        [
            "uskill | user skill (user) | ",
            "manual | manual one (project) | ",
            "my-skill | does a thing (project) | ",
            "bashy | OUT: !`echo from-bash` (project) | ",
            "db:migrate | MIGRATE [$ARGUMENTS] (project) | ",
            "greet | Say hi (project) | <who>",
            "usercmd | USERCMD no args placeholder (user) | ",
        ]
    );
    assert!(catalog.find("alt").is_none(), "~/.config/claude is not read");
    assert!(!catalog.find("manual").expect("there").model_invocable);
    let agent = catalog.agent("helper").expect("there");
    assert_eq!(agent.tools.as_deref(), Some(&["Read".to_owned(), "Bash".to_owned()][..]));
    assert_eq!(agent.read_prompt().expect("read"), "You help.\n");
}

#[test]
fn clashes_are_settled_as_observed_and_reported() {
    let tree = Tree::new(&[
        ("./.claude/commands/dup.md", "PROJECT CMD\n"),
        ("~/commands/dup.md", "USER CMD\n"),
        ("./.claude/skills/dup2/SKILL.md", "---\ndescription: p\n---\nPROJ SKILL\n"),
        ("~/skills/dup2/SKILL.md", "---\ndescription: u\n---\nUSER SKILL\n"),
        ("./.claude/commands/dup3.md", "PROJ CMD3\n"),
        ("./.claude/skills/dup3/SKILL.md", "---\ndescription: p\n---\nPROJ SKILL3\n"),
        ("~/skills/dup4/SKILL.md", "---\ndescription: u\n---\nUSER SKILL4\n"),
        ("./.claude/commands/dup4.md", "PROJ CMD4\n"),
        ("./.claude/commands/db/dup.md", "DB DUP\n"),
        ("./.claude/agents/h.md", "---\nname: h\ndescription: project agent\n---\nYou.\n"),
        ("~/agents/h.md", "---\nname: h\ndescription: user agent\n---\nYou.\n"),
    ]);
    let (catalog, problems) = tree.discover();
    for (name, body) in [
        ("dup", "USER CMD\n"),
        ("dup2", "USER SKILL\n"),
        ("dup3", "PROJ SKILL3\n"),
        ("dup4", "USER SKILL4\n"),
        ("db:dup", "DB DUP\n"),
    ] {
        let entry = catalog.find(name).expect("there");
        assert_eq!(entry.read_body().expect("read"), body, "{name}");
    }
    assert_eq!(catalog.agent("h").expect("there").description, "project agent");
    let hidden: Vec<_> = problems
        .iter()
        .map(|problem| match &problem.kind {
            ProblemKind::Hidden { name, .. } => name.as_str(),
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(hidden, ["dup2", "dup", "dup3", "dup4", "h"]);
}

#[test]
fn only_the_right_files_count() {
    let tree = Tree::new(&[
        ("./.claude/commands/UPPER.MD", "no\n"),
        ("./.claude/commands/txt.txt", "no\n"),
        ("./.claude/commands/Big Name.md", "space\n"),
        ("./.claude/commands/a/b/c.md", "deep\n"),
        ("./.claude/commands/.hid.md", "hidden\n"),
        ("./.claude/commands/.hd/x.md", "hidden directory\n"),
        ("./.claude/commands/cs/SKILL.md", "---\ndescription: skill in commands\n---\nCS\n"),
        ("./.claude/skills/lower/skill.md", "---\ndescription: no\n---\nL\n"),
        ("./.claude/skills/grp/inner/SKILL.md", "---\ndescription: no\n---\nN\n"),
        ("./.claude/skills/flat.md", "no\n"),
        ("./.claude/agents/sub/deep.md", "---\nname: deep\ndescription: d\n---\nYou.\n"),
        ("./.claude/agents/nodesc.md", "---\nname: nodesc\n---\nYou.\n"),
        ("./.claude/agents/noname.md", "---\ndescription: d\n---\nYou.\n"),
        ("./.claude/agents/README.md", "Not an agent.\n"),
    ]);
    let (catalog, problems) = tree.discover();
    assert_eq!(names(&catalog), [".hd:x", ".hid", "a:b:c", "Big Name", "cs"]);
    assert_eq!(catalog.find("cs").expect("there").kind, EntryKind::Skill);
    assert_eq!(catalog.agents.len(), 1);
    let missing: Vec<_> = problems.iter().map(|problem| file_name(&problem.path)).collect();
    assert_eq!(missing, ["README.md", "nodesc.md", "noname.md"]);
}

#[test]
fn a_skill_answers_to_its_own_name_and_its_directory() {
    let tree = Tree::new(&[
        ("./.claude/skills/dirname/SKILL.md", "---\nname: fmname\ndescription: d\n---\nDIFF\n"),
        ("./.claude/skills/nofm/SKILL.md", "# NOFM body\n"),
    ]);
    let (catalog, _) = tree.discover();
    let skill = catalog.find("fmname").expect("there");
    assert_eq!(skill.aliases, ["dirname"]);
    assert_eq!(catalog.find("dirname"), Some(skill));
    let bare = catalog.find("nofm").expect("there");
    assert_eq!((bare.description.as_str(), bare.described), ("NOFM body", false));
}

#[test]
fn directories_above_the_project_count_up_to_its_repository() {
    let files = &[
        ("home/repo/.claude/commands/top.md", "top\n"),
        ("home/repo/a/.claude/commands/near.md", "near\n"),
        ("home/repo/a/.claude/commands/both.md", "near\n"),
        ("home/repo/.claude/commands/both.md", "far\n"),
        ("home/above/.claude/commands/no.md", "no\n"),
    ];
    let mut tree = Tree::new(files);
    tree.places.project = Some(tree.path("home/repo/a"));
    std::fs::create_dir_all(tree.path("home/repo/.git")).expect("made");
    tree.write("home/.claude/commands/mine.md", b"mine\n");
    let (catalog, _) = tree.discover();
    assert_eq!(names(&catalog), ["both", "mine", "near", "top"]);
    assert_eq!(catalog.find("both").expect("there").description, "near");
    assert_eq!(catalog.find("mine").expect("there").scope, Scope::User);
}

#[test]
fn every_front_matter_field_is_read() {
    let text = "---\nname: all\ndescription: d\nwhen_to_use: when testing\nargument-hint: [x] [y]\narguments: p q\n\
        disable-model-invocation: yes\nuser-invocable: \"false\"\nallowed-tools:\n  - Bash(echo a, b:*)\n  - Read\n\
        context: fork\nagent: Explore\nmodel: haiku\nversion: 1.2\n---\nA\n";
    let (catalog, problems) = Tree::new(&[("./.claude/skills/all/SKILL.md", text)]).discover();
    let skill = catalog.find("all").expect("there");
    assert_eq!(skill.when_to_use.as_deref(), Some("when testing"));
    assert_eq!(skill.argument_hint.as_deref(), Some("[x] [y]"));
    assert_eq!(skill.argument_names, ["p", "q"]);
    assert_eq!(skill.allowed_tools, ["Bash(echo a, b:*)", "Read"]);
    assert_eq!(skill.agent.as_deref(), Some("Explore"));
    assert_eq!(skill.model.as_deref(), Some("haiku"));
    assert!(skill.forks && !skill.user_invocable && !skill.model_invocable);
    assert_eq!(skill.fields["version"], 1.2);
    assert_eq!(problems.len(), 1, "the hint was repaired: {problems:?}");
}

#[test]
fn names_and_descriptions_over_the_limit_are_reported() {
    let long_name = format!("---\nname: {}\ndescription: d\n---\nL\n", "n".repeat(65));
    let long_text = format!("---\ndescription: {}\n---\nL\n", "ü".repeat(1025));
    let fits = format!("---\nname: {}\ndescription: {}\n---\nL\n", "n".repeat(64), "ü".repeat(1024));
    let tree = Tree::new(&[
        ("./.claude/skills/a/SKILL.md", long_name.as_str()),
        ("./.claude/skills/b/SKILL.md", long_text.as_str()),
        ("./.claude/skills/c/SKILL.md", fits.as_str()),
        ("./.claude/skills/d/SKILL.md", "---\nname: Bad Name!\ndescription: d\n---\nD\n"),
        ("./.claude/skills/e/SKILL.md", "---\ndescription: d\nuser-invocable: perhaps\n---\nD\n"),
    ]);
    let (catalog, problems) = tree.discover();
    assert_eq!(catalog.entries.len(), 5, "they are used all the same");
    let kinds: Vec<_> = problems.into_iter().map(|problem| problem.kind).collect();
    assert_eq!(
        kinds,
        [
            ProblemKind::NameTooLong(65),
            ProblemKind::DescriptionTooLong(1025),
            ProblemKind::NameCharacters("Bad Name!".to_owned()),
            ProblemKind::Field { field: "user-invocable", expected: "true or false" },
        ]
    );
}

#[test]
fn builtins_are_known_and_can_be_hidden() {
    let (catalog, _) = Tree::new(&[("./.claude/commands/clear.md", "MY CLEAR\n")]).discover();
    assert!(catalog.find_builtin("clear").is_none(), "a command of that name hides it, as observed");
    let kind = |name| catalog.find_builtin(name).map(|builtin| builtin.kind);
    for local in ["context", "cost", "usage", "model", "config", "mcp", "rename", "compact"] {
        assert_eq!(kind(local), Some(BuiltinKind::Local), "{local}");
    }
    for gone in [
        "help",
        "status",
        "permissions",
        "memory",
        "resume",
        "export",
        "plan",
        "vim",
        "login",
        "hooks",
        "tasks",
    ] {
        assert_eq!(kind(gone), Some(BuiltinKind::Unavailable), "{gone}");
    }
    for prompt in ["init", "doctor", "review", "security-review"] {
        assert_eq!(kind(prompt), Some(BuiltinKind::Prompt), "{prompt}");
    }
    assert_eq!(kind("nosuch"), None);
    assert!(BUILTINS.is_sorted_by_key(|builtin| builtin.name));
}
