//! The options of git's reading subcommands, known one by one like those of other commands.

use super::options::{KnownOptions, NO_OPTIONS};

/// A number of lines or commits may stand for itself: `-5`.
const NUMBERED: KnownOptions = KnownOptions { numbers: true, ..NO_OPTIONS };

const LOG: &str = "abbrev-commit all author-date-order boundary branches cherry-mark cherry-pick color date-order \
     decorate first-parent follow full-history graph left-right merges name-only name-status no-color \
     no-decorate no-ext-diff no-merges no-patch numstat oneline patch pickaxe-all pickaxe-regex remotes \
     reverse shortstat simplify-merges source stat tags topo-order walk-reflogs";

const COMMIT_LIMITS: &str =
    "after author before committer date diff-filter format grep max-count pretty since skip until";

const LISTS: &[(&str, KnownOptions)] = &[
    (
        "status",
        KnownOptions {
            switches: "bsv",
            valued: "u",
            long: "ahead-behind branch column ignored long no-ahead-behind no-column no-renames porcelain \
                   renames short verbose",
            long_valued: "find-renames ignore-submodules untracked-files",
            ..NUMBERED
        },
    ),
    (
        "log",
        KnownOptions {
            switches: "ps",
            valued: "GS",
            counted: "n",
            long: LOG,
            long_valued: COMMIT_LIMITS,
            ..NUMBERED
        },
    ),
    (
        "diff",
        KnownOptions {
            switches: "lpsuBCDMR",
            valued: "GOS",
            long: "binary break-rewrites cached check color color-words dirstat exit-code find-copies \
                   find-copies-harder find-renames full-index function-context histogram ignore-all-space \
                   ignore-blank-lines ignore-space-at-eol ignore-space-change irreversible-delete minimal \
                   name-only name-status no-color no-ext-diff no-index no-renames numstat patch-with-stat \
                   patience pickaxe-all pickaxe-regex quiet shortstat staged stat summary word-diff",
            long_valued: "abbrev diff-algorithm diff-filter inter-hunk-context relative word-diff-regex \
                          ws-error-highlight",
            ..NUMBERED
        },
    ),
    (
        "show",
        KnownOptions {
            switches: "mps",
            long: "abbrev-commit color color-words decorate first-parent graph name-only name-status \
                   no-color no-decorate no-ext-diff no-patch numstat oneline patch quiet raw shortstat \
                   stat word-diff",
            long_valued: "date diff-filter format pretty",
            ..NUMBERED
        },
    ),
    (
        "branch",
        KnownOptions {
            switches: "ailrv",
            long: "all color column ignore-case list merged no-abbrev no-color no-column no-merged \
                   remotes show-current verbose",
            long_valued: "contains no-contains points-at sort",
            long_counted: "abbrev",
            ..NUMBERED
        },
    ),
    (
        "blame",
        KnownOptions {
            switches: "eflnpstwCM",
            valued: "L",
            long: "color incremental line-porcelain no-color porcelain root score-debug show-email \
                   show-name show-number show-stats",
            long_valued: "date ignore-rev",
            long_counted: "abbrev",
            ..NUMBERED
        },
    ),
    (
        "shortlog",
        KnownOptions {
            switches: "cens",
            long: "all branches committer email no-merges numbered remotes summary tags",
            long_valued: "after author before group since until",
            ..NUMBERED
        },
    ),
    (
        "describe",
        KnownOptions {
            long: "always broken contains dirty exact-match long tags",
            long_valued: "abbrev candidates exclude match",
            ..NUMBERED
        },
    ),
    (
        "rev-parse",
        KnownOptions {
            long: "abbrev-ref git-common-dir git-dir is-inside-work-tree short show-cdup show-prefix \
                   show-toplevel symbolic symbolic-full-name verify",
            long_valued: "short",
            ..NUMBERED
        },
    ),
    (
        "ls-files",
        KnownOptions {
            switches: "cdfikmostuvz",
            valued: "x",
            long: "cached debug deleted directory eol error-unmatch exclude-standard full-name ignored \
                   killed modified no-empty-directory others recurse-submodules stage unmerged",
            long_valued: "abbrev exclude",
            ..NUMBERED
        },
    ),
    ("cat-file", KnownOptions { switches: "epst", long: "batch-check", ..NUMBERED }),
    (
        "rev-list",
        KnownOptions {
            counted: "n",
            long: "abbrev-commit all branches count first-parent full-history graph merges no-merges \
                   oneline remotes reverse source tags walk-reflogs",
            long_valued: "after author before committer format grep max-count pretty since skip until",
            long_counted: "abbrev",
            ..NUMBERED
        },
    ),
    ("merge-base", KnownOptions { long: "all fork-point independent is-ancestor octopus", ..NUMBERED }),
    (
        "for-each-ref",
        KnownOptions {
            long_valued: "contains count format merged no-contains no-merged points-at sort",
            ..NUMBERED
        },
    ),
    (
        "grep",
        KnownOptions {
            switches: "chilnoqvwEFGHLP",
            valued: "e",
            counted: "ABC",
            long: "and basic-regexp break cached color count extended-regexp files-with-matches \
                   files-without-match fixed-strings full-name heading ignore-case invert-match \
                   line-number no-color not only-matching or perl-regexp quiet recurse-submodules \
                   untracked word-regexp",
            long_counted: "after-context before-context context max-depth threads",
            ..NUMBERED
        },
    ),
    (
        "ls-remote",
        KnownOptions {
            switches: "bhqt",
            long: "branches exit-code get-url heads quiet refs symref tags",
            long_valued: "sort",
            ..NUMBERED
        },
    ),
    (
        "tag",
        KnownOptions {
            switches: "il",
            counted: "n",
            long: "column ignore-case list no-column",
            long_valued: "contains merged no-contains no-merged points-at sort",
            ..NUMBERED
        },
    ),
    (
        "stash list",
        KnownOptions {
            counted: "n",
            long: "all branches decorate graph no-decorate oneline remotes tags",
            long_valued: "date max-count",
            ..NUMBERED
        },
    ),
    (
        "stash show",
        KnownOptions {
            switches: "ps",
            long: "color name-only name-status no-color no-ext-diff no-patch numstat patch shortstat stat \
                   word-diff",
            long_valued: "abbrev diff-filter",
            ..NUMBERED
        },
    ),
    (
        "reflog",
        KnownOptions {
            counted: "n",
            long: "all branches decorate graph no-decorate oneline remotes tags",
            long_valued: COMMIT_LIMITS,
            ..NUMBERED
        },
    ),
    ("worktree list", KnownOptions { switches: "v", long: "porcelain verbose", ..NUMBERED }),
    ("config --get", KnownOptions { switches: "z", long: "name-only path", ..NUMBERED }),
    ("remote", KnownOptions { switches: "v", long: "verbose", ..NO_OPTIONS }),
];

/// The options of a subcommand that only reads; nothing for any other.
pub(crate) fn known_git_options(subcommand: &str) -> Option<&'static KnownOptions> {
    LISTS.iter().find(|(name, _)| *name == subcommand).map(|(_, known)| known)
}

/// Whether a format is spelt out, or one of git's own; any other name is a setting of the repository's.
pub(crate) fn is_spelt_out(format: &str) -> bool {
    const OWN: &[&str] =
        &["", "oneline", "short", "medium", "full", "fuller", "reference", "email", "mboxrd", "raw"];
    OWN.contains(&format) || format.contains('%')
}
