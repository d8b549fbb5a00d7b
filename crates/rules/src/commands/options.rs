//! Options that are known one by one. A command with such a list is vouched for only as far as the list goes: what is
//! not on it may do anything in the next release.

use crate::shell::word::Word;

/// The options of a command, in the spelling that counts.
#[derive(Debug)]
pub(crate) struct KnownOptions {
    /// Letters without a value; they may be written together.
    pub(crate) switches: &'static str,
    /// Letters with a value, which is the next word.
    pub(crate) valued: &'static str,
    /// Letters whose value is a number.
    pub(crate) counted: &'static str,
    /// Whether a number may be written right after its letter.
    pub(crate) attached: bool,
    /// Long names without a value, separated by spaces.
    pub(crate) long: &'static str,
    /// Long names with a value.
    pub(crate) long_valued: &'static str,
    /// Long names whose value is a number.
    pub(crate) long_counted: &'static str,
    /// Whether a number may stand for itself: `-5`.
    pub(crate) numbers: bool,
}

/// No options at all.
pub(crate) const NO_OPTIONS: KnownOptions = KnownOptions {
    switches: "",
    valued: "",
    counted: "",
    attached: false,
    long: "",
    long_valued: "",
    long_counted: "",
    numbers: false,
};

impl KnownOptions {
    /// The first argument that is not known: an option, or text that a shell might still expand.
    pub(crate) fn first_unknown<'a>(&self, arguments: &'a [Word]) -> Option<&'a str> {
        self.operands(arguments).err()
    }

    /// The arguments that are no options, if all of them are known. An error names the first that is not.
    pub(crate) fn operands<'a>(&self, arguments: &'a [Word]) -> Result<Vec<&'a Word>, &'a str> {
        let open = |word: &&Word| word.text.contains('$') && !word.dynamic;
        if let Some(word) = arguments.iter().find(open) {
            return Err(&word.text);
        }
        let mut operands = Vec::new();
        let mut rest = arguments;
        while let Some((word, after)) = rest.split_first() {
            rest = after;
            let text = word.text.as_str();
            if text == "--" {
                operands.extend(rest);
                break;
            }
            if !text.starts_with('-') || text == "-" {
                operands.push(word);
                continue;
            }
            match self.takes(text, rest.first().map(|word| word.text.as_str())) {
                Taken::Alone => {}
                Taken::WithNext => rest = rest.get(1..).unwrap_or_default(),
                Taken::No => return Err(text),
            }
        }
        Ok(operands)
    }

    fn takes(&self, text: &str, next: Option<&str>) -> Taken {
        // What looks like the next option is not taken for a value.
        let next = next.filter(|next| !next.starts_with('-'));
        if let Some(long) = text.strip_prefix("--") {
            return self.takes_long(long, next);
        }
        let letters = &text[1..];
        if self.numbers && is_number(letters)
            || !letters.is_empty() && letters.chars().all(|letter| self.switches.contains(letter))
        {
            return Taken::Alone;
        }
        let mut chars = letters.chars();
        let Some(letter) = chars.next() else { return Taken::No };
        let value = chars.as_str();
        let (valued, counted) = (self.valued.contains(letter), self.counted.contains(letter));
        match next {
            _ if !value.is_empty() => {
                let fits = self.attached && (valued || counted) && is_number(value);
                if fits { Taken::Alone } else { Taken::No }
            }
            Some(_) if valued => Taken::WithNext,
            Some(next) if counted && is_number(next) => Taken::WithNext,
            _ => Taken::No,
        }
    }

    fn takes_long(&self, long: &str, next: Option<&str>) -> Taken {
        let fits = |name: &str, value: &str| {
            names(self.long_valued, name) || names(self.long_counted, name) && is_number(value)
        };
        match (long.split_once('='), next) {
            (Some((name, value)), _) if fits(name, value) && !value.starts_with('-') => Taken::Alone,
            (None, _) if names(self.long, long) => Taken::Alone,
            (None, Some(value)) if fits(long, value) => Taken::WithNext,
            _ => Taken::No,
        }
    }
}

enum Taken {
    Alone,
    WithNext,
    No,
}

/// Whether a list of names has this one.
fn names(list: &str, name: &str) -> bool {
    !name.is_empty() && list.split(' ').any(|known| known == name)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

const SUMS: KnownOptions = KnownOptions {
    switches: "bctwz",
    long: "binary check help ignore-missing quiet status strict tag text version warn zero",
    ..NO_OPTIONS
};

const LISTS: &[(&[&str], KnownOptions)] = &[
    (
        &["grep", "egrep", "fgrep"],
        KnownOptions {
            switches: "abchilnoqrsuvwxzEFGHILPRTUVZ",
            valued: "defD",
            counted: "mABC",
            attached: true,
            long: "basic-regexp binary byte-offset color colour count dereference-recursive \
                   extended-regexp files-with-matches files-without-match fixed-strings help ignore-case \
                   initial-tab invert-match line-buffered line-number line-regexp no-filename \
                   no-group-separator no-ignore-case no-messages null null-data only-matching perl-regexp \
                   quiet recursive silent text version with-filename word-regexp",
            long_valued: "binary-files color colour devices directories exclude exclude-dir exclude-from \
                          file group-separator include label regexp",
            long_counted: "after-context before-context context max-count",
            numbers: false,
        },
    ),
    (
        &["rg"],
        KnownOptions {
            switches: "achilnoquvwFHLS",
            valued: "efgtT",
            counted: "dmABC",
            attached: true,
            long: "column count debug files-with-matches files-without-match fixed-strings follow heading \
                   help hidden ignore-case invert-match json line-number no-heading no-ignore \
                   only-matching quiet smart-case stats text type-list version word-regexp",
            long_valued: "color glob regexp type type-not",
            long_counted: "after-context before-context context max-count max-depth",
            numbers: false,
        },
    ),
    (
        &["sort"],
        KnownOptions {
            switches: "bcdfghimnrsuzCMRV",
            valued: "ktS",
            long: "check dictionary-order general-numeric-sort help human-numeric-sort ignore-case \
                   ignore-leading-blanks ignore-nonprinting merge month-sort numeric-sort random-sort \
                   reverse stable unique version version-sort zero-terminated",
            long_valued: "buffer-size field-separator key sort",
            long_counted: "batch-size parallel",
            ..NO_OPTIONS
        },
    ),
    (
        &["tree"],
        KnownOptions {
            switches: "acdfghilnpqrstuvxACDFJNQSUX",
            valued: "HIPT",
            counted: "L",
            long: "device dirsfirst du filesfirst gitignore help ignore-case info inodes matchdirs \
                   metafirst noreport prune si version",
            long_valued: "charset sort timefmt",
            long_counted: "filelimit",
            ..NO_OPTIONS
        },
    ),
    (
        &["date"],
        KnownOptions {
            switches: "uIR",
            valued: "dr",
            long: "debug help rfc-email universal utc version",
            long_valued: "date iso-8601 reference rfc-3339",
            ..NO_OPTIONS
        },
    ),
    (
        &["ps"],
        KnownOptions {
            switches: "acdefjlmwyAFHLNTV",
            valued: "ptuC",
            long: "deselect forest headers help info no-headers version",
            long_valued: "pid quick-pid sid sort tty user width",
            ..NO_OPTIONS
        },
    ),
    (&["netstat"], KnownOptions { switches: "agilmnrsvL", ..NO_OPTIONS }),
    (
        &["base64"],
        KnownOptions {
            switches: "dhiD",
            counted: "w",
            long: "decode help ignore-garbage version",
            long_valued: "",
            long_counted: "wrap",
            ..NO_OPTIONS
        },
    ),
    (
        &["file"],
        KnownOptions {
            switches: "bchiklnprsvL0",
            valued: "F",
            long: "apple brief dereference help keep-going list mime mime-encoding mime-type no-buffer \
                   no-dereference preserve-date print0 raw special-files version",
            long_valued: "exclude exclude-quiet separator",
            ..NO_OPTIONS
        },
    ),
    (
        &["ss"],
        KnownOptions {
            switches: "abdehilmnopstuwxzEHMOSVZ046",
            long: "all bpf cgroup context contexts dccp events extended help info inet-sockopt ipv4 ipv6 \
                   listening memory mptcp no-header numeric oneline options packet processes raw sctp \
                   summary tcp tipc tipcinfo tos udp unix version vsock",
            long_valued: "family query socket",
            ..NO_OPTIONS
        },
    ),
    (&["lsof"], KnownOptions { switches: "abghilnorstvxCEFHKLNOPQRSTUVX", valued: "cdpu", ..NO_OPTIONS }),
    (
        &["pgrep"],
        KnownOptions {
            switches: "acfilnovwxLV",
            valued: "dgrstuGOPU",
            long: "count exact full help ignore-case inverse lightweight list-full list-name newest \
                   oldest version",
            long_valued: "delimiter euid group ns nslist older parent pgroup runstates session terminal \
                          uid",
            ..NO_OPTIONS
        },
    ),
    (
        &["hostname"],
        KnownOptions {
            switches: "adfhisvAIV",
            long: "alias all-fqdns all-ip-addresses domain fqdn help ip-address long short verbose \
                   version",
            ..NO_OPTIONS
        },
    ),
    (&["man"], KnownOptions { switches: "adfhkw", valued: "sS", long: "all apropos whatis", ..NO_OPTIONS }),
    (&["md5sum", "sha1sum", "sha256sum"], SUMS),
    (
        &["fd"],
        KnownOptions {
            switches: "aghipqsFHILV01",
            valued: "ceotES",
            counted: "dj",
            long: "absolute-path case-sensitive fixed-strings follow full-path glob help hidden \
                   ignore-case no-ignore no-ignore-parent no-ignore-vcs no-require-git one-file-system \
                   print0 prune quiet regex show-errors strip-cwd-prefix version",
            long_valued: "and changed-before changed-within color exclude extension format hyperlink \
                          owner path-separator size type",
            long_counted: "batch-size exact-depth max-depth max-results min-depth threads",
            ..NO_OPTIONS
        },
    ),
    (&["help"], KnownOptions { switches: "d", ..NO_OPTIONS }),
    (&["which"], KnownOptions { switches: "a", ..NO_OPTIONS }),
    (&["arch", "history", "ifconfig", "pwd", "whoami"], NO_OPTIONS),
    (
        &["docker logs"],
        KnownOptions {
            switches: "ft",
            valued: "n",
            long: "details follow timestamps",
            long_valued: "since tail until",
            ..NO_OPTIONS
        },
    ),
    (
        &["docker inspect"],
        KnownOptions { switches: "s", valued: "f", long: "size", long_valued: "format type", ..NO_OPTIONS },
    ),
];

/// The list of a command, if it has one.
pub(crate) fn known_options(name: &str) -> Option<&'static KnownOptions> {
    LISTS.iter().find(|(names, _)| names.contains(&name)).map(|(_, known)| known)
}
