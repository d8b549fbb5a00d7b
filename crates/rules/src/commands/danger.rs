//! Options and scripts by which a command, allowed by a rule for its name, would run something else.

use super::sed_script;
use crate::shell::word::Word;

/// A command that can be told to run a program.
struct Runner {
    names: &'static [&'static str],
    /// The options that do it.
    options: &'static [&'static str],
    /// The letters of other options that take a value, so that what follows them in a cluster is no option.
    valued: &'static str,
}

const RUNNERS: &[Runner] = &[
    Runner {
        names: &["tar", "gtar", "bsdtar"],
        options: &[
            "-I",
            "-F",
            "--to-command",
            "--checkpoint-action",
            "--use-compress-program",
            "--rsh-command",
            "--rmt-command",
            "--info-script",
            "--new-volume-script",
        ],
        valued: "CfbgHKLNTVX",
    },
    Runner { names: &["rsync"], options: &["-e", "--rsh", "--rsync-path"], valued: "fBTM" },
    Runner { names: &["ssh"], options: &["-o", "-F", "-I"], valued: "BbcDEeiJLlmOpQRSWwP" },
    Runner { names: &["scp"], options: &["-o", "-F", "-S", "-D"], valued: "ciJlPX" },
    Runner { names: &["sftp"], options: &["-o", "-F", "-S", "-D", "-b"], valued: "BciJlPRsX" },
    Runner { names: &["sort"], options: &["--compress-program"], valued: "" },
    Runner { names: &["rg"], options: &["--pre", "--hostname-bin"], valued: "" },
    Runner {
        names: &["man"],
        options: &["-P", "-H", "-C", "--pager", "--html", "--config-file"],
        valued: "RmMSseLprET",
    },
    Runner { names: &["zip"], options: &["-TT", "--unzip-command"], valued: "" },
    Runner {
        names: &["find"],
        options: &[
            "-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls",
        ],
        valued: "",
    },
    Runner { names: &["fd", "fdfind"], options: &["-x", "-X", "--exec", "--exec-batch"], valued: "eEtdScjo" },
    Runner { names: &["split"], options: &["--filter"], valued: "" },
    Runner { names: &["wget"], options: &["-e", "--execute", "--use-askpass"], valued: "oaiBtOTwQPUlADRIX" },
    Runner { names: &["tcpdump"], options: &["-z"], valued: "BCEFGijMrsTVwWy" },
    Runner { names: &["go"], options: &["-exec", "-toolexec", "-vettool"], valued: "" },
    Runner { names: &["cargo"], options: &["--config"], valued: "" },
    Runner { names: &["bat", "batcat", "delta"], options: &["--pager"], valued: "" },
];

/// Whether a command can be told to run something else, so that nobody may add arguments to it unseen.
pub(crate) fn may_run_others(name: &str) -> bool {
    matches!(name, "git" | "sed" | "gsed") || runner(name).is_some()
}

fn runner(name: &str) -> Option<&'static Runner> {
    RUNNERS.iter().find(|runner| runner.names.contains(&name))
}

/// The argument by which a command, allowed by a rule for its name, would run something else.
pub(crate) fn danger<'a>(name: &str, arguments: &'a [Word]) -> Option<&'a str> {
    match name {
        "git" => return super::git::danger(arguments),
        "sed" | "gsed" => return sed_script::danger(arguments),
        _ => {}
    }
    let runner = runner(name)?;
    // `tar cfI x sh`: the letters of the first word, without a dash, whose values are the next words.
    if let Some(first) = arguments.first().filter(|word| name.ends_with("tar") && is_old_style(&word.text))
        && runner.options.iter().any(|option| option.len() == 2 && first.text.contains(&option[1..]))
    {
        return Some(&first.text);
    }
    arguments
        .iter()
        .map(|word| word.text.as_str())
        .find(|text| runner.options.iter().any(|o| runner.is(o, text)))
}

fn is_old_style(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphabetic())
}

impl Runner {
    /// Whether a word gives an option: shortened, with a value attached, or as one letter of a cluster.
    fn is(&self, option: &str, text: &str) -> bool {
        if let Some(long) = option.strip_prefix("--") {
            let given = text.strip_prefix("--").map(|given| given.split('=').next().unwrap_or(given));
            return given.is_some_and(|given| !given.is_empty() && long.starts_with(given));
        }
        let Some(cluster) = text.strip_prefix('-').filter(|cluster| !cluster.starts_with('-')) else {
            return false;
        };
        let own = &option[1..];
        if own.len() == 1 {
            let end = cluster.find(|letter| self.valued.contains(letter)).unwrap_or(cluster.len());
            return cluster[..end].contains(own);
        }
        // Options of several letters behind one dash; those of zip may stand in a cluster.
        let name = cluster.split('=').next().unwrap_or(cluster);
        name == own || own == "TT" && cluster.contains(own)
    }
}
