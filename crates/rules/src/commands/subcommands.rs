//! Whether a command is the one that a deny rule names, although options stand before, between or after its words:
//! `kubectl -n prod delete` is a `kubectl delete`, and `git push origin --force` a `git push --force`.

/// Options of programs with subcommands that certainly take no value, so that the next word is not one.
const SWITCHES: &[(&str, &[&str])] = &[
    (
        "git",
        &[
            "-p",
            "-P",
            "--paginate",
            "--no-pager",
            "--bare",
            "--no-replace-objects",
            "--literal-pathspecs",
            "--glob-pathspecs",
            "--noglob-pathspecs",
            "--icase-pathspecs",
            "--no-optional-locks",
            "--no-lazy-fetch",
        ],
    ),
    ("docker", &["-D", "--debug", "--tls", "--tlsverify"]),
    ("cargo", &["-q", "--quiet", "-v", "--verbose", "--locked", "--offline", "--frozen"]),
    ("npm", &["-g", "--global", "-s", "--silent", "-y", "--yes"]),
    ("aws", &["--debug", "--no-verify-ssl", "--no-paginate", "--no-sign-request"]),
];

/// Whether the words of a command are those of a rule, its options left out of account.
///
/// The rule's plain words must be the command's first plain words, in that order; a word right after an option may be its
/// value. The rule's options must stand anywhere before `--`, and letters may be grouped in any way.
pub(crate) fn names_command(rule: &str, command: &[&str]) -> bool {
    let mut words = rule.split(' ').filter(|word| !word.is_empty());
    let (Some(program), Some((own, arguments))) = (words.next(), command.split_first()) else { return false };
    if program != *own {
        return false;
    }
    let (options, plain): (Vec<&str>, Vec<&str>) = words.partition(|word| is_option(word));
    // A rule for a program needs no such help, and one that fixes an option's value means what it says.
    if plain.is_empty() && options.is_empty() {
        return false;
    }
    let before_end: Vec<&str> = arguments.iter().copied().take_while(|word| *word != "--").collect();
    let has = |option: &&str| {
        has_option(&before_end, option) || has_synonym(program, plain.first().copied(), &before_end, option)
    };
    options.iter().all(has) && starts_with(arguments, &plain, program)
}

fn is_option(word: &str) -> bool {
    word.starts_with('-') && word.len() > 1
}

/// Whether the plain words come first, options and their possible values skipped.
fn starts_with(arguments: &[&str], plain: &[&str], program: &str) -> bool {
    let switches = SWITCHES.iter().find(|(name, _)| *name == program).map_or(&[][..], |(_, list)| list);
    let mut wanted = plain.iter();
    let Some(mut next) = wanted.next() else { return true };
    let mut may_be_value = false;
    for word in arguments {
        if is_option(word) {
            may_be_value = !word.contains('=') && !switches.contains(word);
            continue;
        }
        if word == next {
            let Some(following) = wanted.next() else { return true };
            next = following;
            may_be_value = false;
        } else if may_be_value {
            may_be_value = false;
        } else {
            return false;
        }
    }
    false
}

/// Whether an option is among the words: as it is, with a value attached, or its letters in other groups.
fn has_option(words: &[&str], option: &str) -> bool {
    let is_same = |word: &&str| {
        *word == option
            || word.strip_prefix(option).is_some_and(|rest| option.starts_with("--") && rest.starts_with('='))
    };
    if words.iter().any(is_same) {
        return true;
    }
    let is_group = |word: &str| {
        word.len() > 1 && word.starts_with('-') && word.bytes().skip(1).all(|b| b.is_ascii_alphabetic())
    };
    is_group(option)
        && option.chars().skip(1).all(|letter| {
            words.iter().any(|word| !word.starts_with("--") && is_group(word) && word.contains(letter))
        })
}

/// Options of one program that mean the same.
struct Synonyms {
    programs: &'static [&'static str],
    /// The subcommand, where there are any; all of them if there is none.
    subcommand: &'static str,
    same: &'static [&'static str],
    /// What does as much and more; several words must all be there.
    more: &'static [&'static str],
}

const fn same(
    programs: &'static [&'static str],
    subcommand: &'static str,
    same: &'static [&'static str],
    more: &'static [&'static str],
) -> Synonyms {
    Synonyms { programs, subcommand, same, more }
}

const SYNONYMS: &[Synonyms] = &[
    same(&["chmod", "chown", "chgrp", "ls"], "", &["-R", "--recursive"], &[]),
    same(&["rm", "grep", "scp"], "", &["-r", "-R", "--recursive"], &[]),
    same(&["cp"], "", &["-r", "-R", "--recursive"], &["-a", "--archive"]),
    same(&["rsync"], "", &["-r", "--recursive"], &["-a", "--archive"]),
    same(&["rm", "cp", "mv", "ln", "docker", "podman", "npm"], "", &["-f", "--force"], &[]),
    same(&["git"], "", &["-f", "--force"], &[]),
    same(&["git"], "push", &["-f", "--force"], &["--mirror", "+"]),
    same(&["git"], "push", &["-d", "--delete"], &[]),
    same(&["git"], "branch", &["-D"], &["-d -f", "-d --force", "--delete -f", "--delete --force"]),
    same(&["git"], "branch", &["-d", "--delete"], &["-D"]),
    same(&["git"], "branch", &["-M"], &["-m -f", "-m --force", "--move -f", "--move --force"]),
    same(&["git"], "branch", &["-m", "--move"], &["-M"]),
    same(&["git"], "commit", &["-n", "--no-verify"], &[]),
    same(&["git"], "commit", &["-a", "--all"], &[]),
    same(&["git"], "add", &["-A", "--all"], &[]),
    same(&["git"], "tag", &["-d", "--delete"], &[]),
    same(&["git"], "switch", &["-f", "--force", "--discard-changes"], &[]),
];

/// Whether an option is among the words under another name: `-R` or `--recursive` for `-r`, each letter of a group for
/// itself, long ones also shortened.
fn has_synonym(program: &str, subcommand: Option<&str>, words: &[&str], option: &str) -> bool {
    let lists: Vec<&Synonyms> = SYNONYMS
        .iter()
        .filter(|list| list.programs.contains(&program))
        .filter(|list| list.subcommand.is_empty() || Some(list.subcommand) == subcommand)
        .collect();
    if lists.is_empty() {
        return false;
    }
    let given = |name: &str| match name.strip_prefix("--") {
        None if name == "+" => words.iter().any(|word| word.starts_with('+')),
        None => has_option(words, name),
        Some(long) => words.iter().any(|word| {
            let own = word.strip_prefix("--").map(|own| own.split('=').next().unwrap_or(own));
            own.is_some_and(|own| !own.is_empty() && long.starts_with(own))
        }),
    };
    let stands_for = |single: &str| {
        given(single)
            || lists
                .iter()
                .filter(|list| list.same.contains(&single))
                .flat_map(|list| list.same.iter().chain(list.more))
                .any(|way| way.split(' ').all(given))
    };
    let is_group = !option.starts_with("--") && option.bytes().skip(1).all(|b| b.is_ascii_alphabetic());
    match is_group {
        true => option.chars().skip(1).all(|letter| stands_for(&format!("-{letter}"))),
        false => stands_for(option),
    }
}

#[cfg(test)]
mod tests {
    use super::names_command;

    #[test]
    fn rule_names_a_command_whose_options_stand_elsewhere() {
        for (rule, command, expected) in [
            ("kubectl delete", "kubectl -n prod delete pod x", true),
            ("kubectl delete", "kubectl --namespace=prod delete pod x", true),
            ("kubectl delete", "kubectl get pods delete", false),
            ("terraform destroy", "terraform -chdir=x destroy", true),
            ("aws s3 rm", "aws --profile p s3 rm x", true),
            ("aws s3 rm", "aws s3 --region r rm x", true),
            ("aws s3 rm", "aws s3 ls rm", false),
            ("git push --force", "git push origin --force", true),
            ("git push --force", "git push origin main", false),
            ("git push --force", "git push -- --force", false),
            ("git push", "git --no-pager log push", false),
            ("git push", "git --no-pager push", true),
            ("git push", "git -c a=b push", true),
            ("git push", "git log --grep push", false),
            ("rm -rf", "rm -r -f x", true),
            ("rm -rf", "rm -fr x", true),
            ("rm -rf", "rm -vfr x", true),
            ("rm -rf", "rm -r x", false),
            ("rm -rf", "rm x -rf", true),
            ("docker rm", "docker -H h rm x", true),
            ("npm publish", "npm --prefix x publish", true),
            ("curl", "curl x", false),
        ] {
            let words: Vec<&str> = command.split(' ').collect();
            assert_eq!(names_command(rule, &words), expected, "{rule}: {command}");
        }
    }
}
