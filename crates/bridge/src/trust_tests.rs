use serde_json::json;

use super::*;

fn allow(file: &str, rule: &str) -> ReviewedPart {
    let digest = part_digest("allow", file, &json!(rule));
    ReviewedPart { shown: ProjectPart::default(), digest }
}

#[test]
fn a_rule_that_somebody_stores_is_not_asked_about_again() {
    let folder = tempfile::tempdir().unwrap();
    let project = Path::new("/project");
    let book = TrustBook::of(folder.path());
    let kept = allow(".claude/settings.json", "WebFetch");
    book.agree(project, &Review { parts: vec![kept.clone()], ..Review::default() }, "phone").unwrap();
    let clearance = Clearance { book: Some(book.clone()), ..Clearance::default() };
    let update = |behavior: &str, destination: &str| -> PermissionUpdate {
        let rules = json!([{"toolName": "Bash", "ruleContent": "npm test"}]);
        let update =
            json!({"type": "addRules", "rules": rules, "behavior": behavior, "destination": destination});
        serde_json::from_value(update).unwrap()
    };
    let local = allow(".claude/settings.local.json", "Bash(npm test)");
    let shared = allow(".claude/settings.json", "Bash(npm test)");
    for (behavior, destination) in
        [("allow", "session"), ("allow", "userSettings"), ("deny", "localSettings")]
    {
        clearance.agree_to(project, &[update(behavior, destination)], "phone");
        assert_eq!(book.unknown(project, std::slice::from_ref(&local)).len(), 1, "{behavior} {destination}");
    }
    clearance.agree_to(project, &[update("allow", "localSettings")], "phone");
    let all = [kept, local, shared.clone()];
    assert_eq!(book.unknown(project, &all), [&shared]);
}
