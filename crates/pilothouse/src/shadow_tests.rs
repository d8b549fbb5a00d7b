use super::*;

#[test]
fn what_shadows_a_handler() {
    let handled = || Options::new().on_permission(async |request: crate::PermissionRequest| request.allow());
    let cases = [
        (Options::new().allow_tools(["Bash"]), vec![]),
        (handled(), vec![]),
        (handled().allow_tools(["Bash(git *)", "Read(src/**)"]), vec![]),
        (
            handled().allow_tools(["Bash", "Edit(*)", "mcp__a__b"]),
            vec![
                Shadow::Rule("Bash".into()),
                Shadow::Rule("Edit(*)".into()),
                Shadow::Rule("mcp__a__b".into()),
            ],
        ),
        (
            handled().permission_mode(PermissionMode::BypassPermissions),
            vec![Shadow::Mode(PermissionMode::BypassPermissions)],
        ),
        (handled().permission_mode(PermissionMode::AcceptEdits), vec![]),
        (handled().permission_prompts(PermissionPrompts::None), vec![Shadow::Prompts]),
    ];
    for (options, expected) in cases {
        assert_eq!(find(&options), expected, "{options:?}");
    }
}
