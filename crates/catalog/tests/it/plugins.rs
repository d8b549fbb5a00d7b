use pilothouse_catalog::Variables;

use crate::{Tree, names};

#[test]
fn plugins_bring_everything_under_their_name_as_observed() {
    let mut tree = Tree::new(&[
        ("plug/.claude-plugin/plugin.json", r#"{"name":"myplug","version":"1.0.0","future":1}"#),
        (
            "plug/commands/pc.md",
            "---\ndescription: plug cmd\n---\nPC root=${CLAUDE_PLUGIN_ROOT} [$ARGUMENTS]\n",
        ),
        ("plug/commands/ns/deep.md", "PDEEP\n"),
        ("plug/skills/ps/SKILL.md", "---\nname: ps\ndescription: plug skill\n---\nPS\n"),
        ("plug/skills/pd/SKILL.md", "---\nname: other\ndescription: plug skill 2\n---\nPD\n"),
        ("plug/agents/pa.md", "---\nname: pa\ndescription: plug agent\n---\nPA\n"),
        ("nomani/commands/nm.md", "NM\n"),
        ("nomani/skills/nms/SKILL.md", "---\ndescription: x\n---\nNMS\n"),
        (
            "extra/.claude-plugin/plugin.json",
            r#"{"name":"extra","commands":["./more/one.md","./moredir"],"agents":["./ag/x.md"],"skills":["./sk"]}"#,
        ),
        ("extra/more/one.md", "ONE\n"),
        ("extra/moredir/two.md", "TWO\n"),
        ("extra/commands/three.md", "THREE\n"),
        ("extra/ag/x.md", "---\nname: xa\ndescription: xa\n---\nX\n"),
        ("extra/sk/s1/SKILL.md", "---\ndescription: s1\n---\nS1\n"),
        ("extra/skills/s2/SKILL.md", "---\ndescription: s2\n---\nS2\n"),
        ("rootskill/SKILL.md", "---\nname: rs\ndescription: root\n---\nRS\n"),
    ]);
    tree.places.plugins =
        ["plug", "nomani", "extra", "rootskill"].iter().map(|plugin| tree.path(plugin)).collect();
    let (catalog, problems) = tree.discover();
    assert_eq!(problems, []);
    assert_eq!(
        names(&catalog),
        [
            "myplug:ns:deep",
            "myplug:pc",
            "myplug:other",
            "myplug:ps",
            "nomani:nm",
            "nomani:nms",
            "extra:one",
            "extra:two",
            "extra:s2",
            "extra:s1",
            "rootskill:rs",
        ]
    );
    for (called, name) in [
        ("ps", Some("myplug:ps")),
        ("myplug:pd", Some("myplug:other")),
        ("other", Some("myplug:other")),
        ("rs", Some("rootskill:rs")),
        ("pc", None),
        ("nms", None),
    ] {
        assert_eq!(catalog.find(called).map(|entry| entry.name.as_str()), name, "{called}");
    }
    let agents: Vec<_> = catalog.agents.iter().map(|agent| agent.name.as_str()).collect();
    assert_eq!(agents, ["extra:xa", "myplug:pa"]);
    let prompt = catalog.find("myplug:pc").expect("there").expand("a", &Variables::default());
    let root = tree.path("plug");
    assert_eq!(prompt.expect("expanded").literal(), format!("PC root={} [a]\n", root.display()));
    assert_eq!(catalog.plugins[0].version.as_deref(), Some("1.0.0"));
}

#[test]
fn what_is_not_a_plugin_is_reported() {
    let mut tree = Tree::new(&[
        ("bad/.claude-plugin/plugin.json", "{bad"),
        ("bad/commands/b.md", "BAD\n"),
        ("noname/.claude-plugin/plugin.json", r#"{"version":"1"}"#),
        ("spaced/.claude-plugin/plugin.json", r#"{"name":"has space"}"#),
        ("list/.claude-plugin/plugin.json", "[]"),
        ("out/.claude-plugin/plugin.json", r#"{"name":"out","commands":["../bad/commands","/etc"]}"#),
    ]);
    tree.places.plugins = ["bad", "noname", "spaced", "list", "missing", "out"]
        .iter()
        .map(|plugin| tree.path(plugin))
        .collect();
    let (catalog, problems) = tree.discover();
    assert_eq!(names(&catalog), [""; 0]);
    let told: Vec<_> = problems.iter().map(ToString::to_string).collect();
    for (told, wanted) in told.iter().zip([
        "its manifest is not JSON",
        "its manifest has no `name`",
        "may not have blanks",
        "is not an object",
        "there is no such directory",
        "outside the plugin",
        "outside the plugin",
    ]) {
        assert!(told.contains(wanted), "{told} / {wanted}");
    }
    assert_eq!(told.len(), 7);
}
