"""The commands that the real CLI is asked about: readers with globs, tildes, redirections, `cd` and options."""

SCENES = {
    "plain": {},
    "deny": {"deny": ["Read(secrets/**)", "Read(**/.env)"]},
    "allow": {"allow": ["Bash(cat:*)", "Bash(node scripts/*)", "Bash(git:*)", "Bash(cp:*)", "Bash(sort:*)", "Bash(tee:*)",
                        "Bash(curl:*)", "Bash(dd:*)"],
              "deny": ["Edit(z)", "Read(secrets/**)"]},
}

READERS = ["cat", "head", "tail", "wc", "sort", "nl", "tac", "rev", "md5sum", "od", "hexdump", "strings", "paste", "column",
           "fold", "expand", "unexpand", "cmp a.txt", "diff a.txt", "comm a.txt", "ls", "stat", "file", "du", "tree",
           "grep x", "rg x", "jq .", "cut -f1", "fmt", "base64", "find", "uniq", "realpath", "readlink", "sha1sum",
           "sha256sum", "pr", "tsort", "numfmt", "df", "egrep x", "test -f", "echo", "printf %s", "basename", "dirname",
           "xxd", "less", "awk 1", "sed -n 1p", "sed -n p", "shuf", "zcat", "which", "type", "seq 1", "sleep 0", "id",
           "readlink -f", "b2sum", "cksum", "sum", "join a.txt", "split", "csplit", "more", "tee", "dd if=a.txt", "look x",
           "man", "info", "help", "ps", "uname", "date", "date -r", "wc -l", "head -n 1", "tail -n 2", "expr 1", "true",
           "false", "cal", "env", "printenv", "hostname", "nproc", "locale", "tput cols", "getconf", "groups", "arch"]

FILES = ["a.txt", "/home/user/other/secret", "../other/secret", "~/other/secret", "~user/x", "~root", "~", "~/", "~+", "~-",
         "~root/x", "'~/x'", "\"~root\"", "outl", "outdir", "outdir/secret", "a*", "outl*", "o*", "*", "sec*/a", "?.txt",
         "[a]*", "src/*", ".e*", ".*", "'a*'", "outdir/*", "*/k", "../*", "/home/user/other/*", "~/*", "a.txt ~root",
         "x=~", "--x=~root", "sl", "loop", "src/../../other/secret", "src/../a.txt", "a\\*", "{a,b}.txt", "inl", "-",
         "/dev/stdin", "/dev/null", "/proc/self/environ", "secrets/a", ".env", "*.env", "**/k", "sr?/k", "./a.txt",
         "/home/user/project/a.txt", "file:///etc/passwd", "a.txt:1", "''", "src", "."]

REDIRECTED = ["cat < {}", "cat 0< {}", "cat <{}", "< {} cat", "sort < {}", "wc -l < {}", "cat a.txt < {}", "tr a b < {}",
              "cat <> {}", "cat < {} > /dev/null", "cat < {} 2>/dev/null", "cat <&3 < {}", "cat < a.txt < {}",
              "head -1 < {}", "grep x < {}", "while read l; do echo 1; done < {}", "echo < {}", "true < {}", "cat 3< {}",
              "cat <<< {}", "ls | cat < {}", "cat < {} | head", "cat < {} && ls", "cd src && cat < {}"]
REDIRECT_FILES = ["a.txt", "a*", "sec*/a", "outl", "o*", "~/x", "~root", "../other/secret", "/home/user/other/secret",
                  "'a.txt'", "\"a*\"", "secrets/a", ".env", "/dev/null", "src/k", "?", "outdir/secret", "/etc/passwd",
                  "/dev/tty", "sl", "{a,b}.txt"]

MOVED = ["cd src && {}", "cd src; {}", "cd src || {}", "{} && cd src", "cd .. && {}", "cd ~ && {}", "cd - && {}", "cd && {}",
         "cd /home/user/project && {}", "cd /home/user/project/src && {}", "cd ./src && {}", "cd outdir && {}",
         "cd src\\n{}", "pushd src && {}", "cd src && {} | head", "cd src && ls && {}", "cd 'src' && {}", "cd sr* && {}",
         "cd src 2>/dev/null && {}", "cd src >/dev/null; {}", "cd src/deep && {}", "cd nowhere && {}", "cd src && {} && cd ..",
         "cd -P src && {}", "cd -- src && {}", "cd secrets && {}", "cd empty && {}"]
MOVED_COMMANDS = ["cat k", "ls", "cat ../a.txt", "cat ../../other/secret", "cat *", "grep x k", "cat < k", "cat k 2>/dev/null",
                  "ls > /dev/null", "cat k 2>&1", "pwd", "head -n 1 k", "wc -l k", "cat a", "echo hi", "cat ~/x", "cat /etc/hosts",
                  "echo x > y", "find .", "rg x", "grep -r x .", "cat .env", "ls -la", "sed -n 1p k", "echo ~root", "true"]

VALUED = ["column -t {}", "column -s {}", "diff a.txt --unified {}", "diff a.txt --context {}", "diff a.txt --color {}",
          "diff -U {} a.txt", "diff --unified=3 a.txt {}", "od -w {}", "od -S {}", "od -A {}", "od -t {}", "od -j {}",
          "grep --binary x {}", "grep --binary {} x", "grep -d recurse x {}", "grep -d recurse x", "grep -D read x {}",
          "grep -drecurse x {}", "grep --directories=recurse x {}", "grep -R x {}", "grep -r x {}", "grep -e {} a.txt",
          "grep -f {} a.txt", "grep -f{} a.txt", "grep --file={} a.txt", "grep --fil {} a.txt", "grep --exclude-from={} x a.txt",
          "grep --include={} x a.txt", "grep -A {} x a.txt", "grep -A1 x {}", "grep --color x {}", "grep --color {} x",
          "grep --context {} x", "grep -m {} x a.txt", "grep -- x {}", "grep x -- {}", "grep -x {}", "grep -nx {} a.txt",
          "hexdump --format-file={}", "hexdump -f {}", "hexdump -e {} a.txt", "hexdump -Cn 5 {}", "strings -Tn {}",
          "strings -T {}", "strings -n {}", "strings -tx {}", "strings -t x {}", "strings -e {}", "head --lines {}",
          "head -n {}", "head -c {}", "head -qn1 {}", "head --lines=1 {}", "head --line 1 {}", "head -1 {}", "head -v {}",
          "tail -n {}", "tail --lines {}", "tail +1 {}", "tail -n +1 {}", "tail -c {}", "tail --pid {} a.txt", "tail -s {} a.txt",
          "wc --files0-from={}", "wc --files0-from {}", "wc -lc {}", "sort -k {}", "sort -k1 {}", "sort -t {} a.txt",
          "sort --key {}", "sort -o {} a.txt", "sort --output={} a.txt", "sort -T {} a.txt", "sort --files0-from={}",
          "sort --random-source={} a.txt", "sort --random-sort {}", "sort --compress-program={} a.txt", "sort -S {} a.txt",
          "sort -nr {}", "sort -rk2 {}", "sort --parallel {} a.txt", "cut -d {} -f1", "cut -d: -f1 {}", "cut -f {}", "cut -c {}",
          "cut -b1 {}", "cut --delimiter={} a.txt", "cut --fields 1 {}", "paste -d {} a.txt", "paste -s {}", "paste -sd, {}",
          "paste --delimiters {} a.txt", "fold -w {}", "fold -sw 10 {}", "fold --width 5 {}", "expand -t {}", "expand -t4 {}",
          "nl -b {}", "nl -ba {}", "nl -s {} a.txt", "nl -w3 {}", "tac -s {} a.txt", "tac -r {}", "cmp -n {} a.txt b.txt",
          "cmp -i {} a.txt b.txt", "cmp -l a.txt {}", "cmp -n 5 a.txt {}", "diff -x {} a.txt b.txt", "diff -X {} a.txt b.txt",
          "diff --from-file={} a.txt", "diff --to-file {} a.txt", "diff -r src {}", "diff -I {} a.txt b.txt",
          "diff --label {} a.txt b.txt", "diff -q a.txt {}", "diff -W {} a.txt b.txt", "diff -y a.txt {}", "diff -uN a.txt {}",
          "diff --color=always a.txt {}", "diff -D {} a.txt b.txt", "diff --horizon-lines {} a.txt", "comm -12 a.txt {}",
          "comm --output-delimiter {} a.txt b.txt", "ls -I {}", "ls -w {}", "ls -T {}", "ls --ignore {}", "ls --color {}",
          "ls --sort {}", "ls --time-style={}", "ls -la {}", "ls -R {}", "ls -LR {}", "stat -c {} a.txt", "stat -f {}",
          "stat --format {} a.txt", "stat -L {}", "file -m {} a.txt", "file -f {}", "file -F {} a.txt", "file --magic-file={} a.txt",
          "file -b {}", "du -X {}", "du --exclude-from={} src", "du -d {}", "du -sh {}", "du --files0-from={}", "du -t {}",
          "du -L {}", "tree -L {}", "tree -P {}", "tree --fromfile {}", "tree -o {}", "tree -l {}", "find {} -name x",
          "find . -newer {}", "find . -samefile {}", "find -L {}", "find . -name {}", "find -files0-from {}", "find . -path {}",
          "find . -maxdepth {}", "find . -newermt {}", "find . -anewer {}", "find . -cnewer {}", "find . -newerXY {}",
          "find -H {} -type f", "find . -fprint {}", "find . -printf {}", "find . -type f {}", "rg -f {} x", "rg -g {} x",
          "rg --ignore-file {} x", "rg -e x {}", "rg -L x {}", "rg --follow x", "rg --pre {} x", "rg -t rust x {}",
          "rg --color never x {}", "rg -A {} x", "rg --files {}", "rg --hidden x {}", "rg -z x {}", "jq -f {} a.txt",
          "jq --arg a {} .", "jq --slurpfile a {} .", "jq --rawfile a {} .", "jq -L {} .", "jq -r . {}", "jq --args . {}",
          "jq --indent {} . a.txt", "jq -n input {}", "jq --tab . {}", "jq --seq . {}", "jq --jsonargs . {}", "base64 -w {} a.txt",
          "base64 -d {}", "base64 --wrap=0 {}", "fmt -w {} a.txt", "fmt -w 5 {}", "fmt -p {} a.txt", "fmt -5 {}", "uniq -f {}",
          "uniq -c {}", "uniq a.txt {}", "date -f {}", "date -r {}", "date --reference={}", "date --file={}", "date -d {}",
          "realpath --relative-to={} a.txt", "realpath {}", "readlink -f {}", "md5sum -c {}", "md5sum --check {}", "md5sum -b {}",
          "sha256sum -c {}", "sha1sum --tag {}", "numfmt --from {}", "numfmt --to=si {}", "pr -h {} a.txt", "pr -w 5 {}",
          "tr {} x", "tr -d {}", "tr a b {}", "seq -f {}", "seq -s {} 3", "printf {}", "printf -v x {}", "printf %s {}",
          "echo -e {}", "echo {}", "test -f {}", "test {} -nt a.txt", "[ -f {} ]", "[[ -f {} ]]", "[ {} -ef a.txt ]", "[ -n {} ]",
          "sed -n 1p {}", "sed -n '1,2p' {}", "sed s/a/b/ {}", "sed -f {} a.txt", "sed -n -f {} a.txt", "sed -ne p {}",
          "sed 's/a/id/e' {}", "sed -n '$p' {}", "sed -n /x/p {}", "sed -E s/a/b/ {}", "sed -n 1w{} a.txt", "sed 1r{} a.txt",
          "xargs -a {} echo", "xargs cat {}", "echo {} | xargs cat", "echo {} | xargs echo", "ls {} | xargs", "xargs -I x echo {}",
          "id {}", "ps -p {}", "ps {}", "lsof {}", "lsof -p {}", "which {}", "type {}", "man {}", "help {}", "basename {} x",
          "dirname {}", "uname {}", "sleep {}", "true {}", "false {}", "expr {} + 1", "groups {}", "pgrep {}", "pgrep -F {} x",
          "timeout 5 cat {}", "command cat {}", "nice cat {}", "stdbuf -o0 cat {}", "time cat {}", "nohup cat {}", "env cat {}",
          "LC_ALL=C cat {}", "TZ={} date", "LC_ALL={} ls", "git diff --no-index a.txt {}", "git grep x {}", "git log {}",
          "git show HEAD:{}", "git blame {}", "git ls-files {}", "git status {}", "git grep --no-index x {}", "git diff {}",
          "git hash-object {}", "git config -f {} -l", "git log --format={}", "git rev-parse {}", "git log -- {}",
          "cat -n {}", "cat -- {}", "cat -A {}", "cat a.txt {}", "cat {} a.txt", "cat -nu {}", "cat --number {}", "cat --numb {}",
          "rev {}", "hexdump -C {}", "hexdump -s {} a.txt", "hexdump -n {} a.txt", "od -c {}", "od -An -tx1 {}", "od +1 {}",
          "od --width {}", "od --strings {}", "od --width=4 {}", "od --format=x1 {}", "od -N 4 {}", "strings -a {}", "strings @{}",
          "strings --target {}", "strings --radix {}", "strings -d {}", "column -c {}", "column -o {} a.txt", "column -N {} a.txt",
          "column -J {}", "column --table {}", "column --separator {} a.txt", "column -ts: {}", "column -ts {} a.txt",
          "column -n {}", "column -e {}", "column -H {} a.txt", "column -R {} a.txt", "unexpand -t 4 {}", "unexpand -a {}",
          "tsort {}", "df {}", "df -t {}", "df --output {}", "df -h {}", "df -x {} .", "wc {} {}", "head {} -n 1", "cat {} -n",
          "ls {} -l", "grep x {} -r", "grep x a.txt {}", "sort {} -u", "tail {} -n 1", "diff {} {}", "ls -d {}", "ls -1 {}", "stat {}"]
VALUED_FILES = ["/home/user/other/secret", "../other/secret", "o*", "a.txt"]

DENIED = ["cat secrets/a", "cat sec*/a", "cat ./secrets/a", "cat src/../secrets/a", "cat sl", "cat s*", "cat */a", "cat < secrets/a",
          "cat < sec*/a", "cd secrets && cat a", "cd src && cat k", "cd src && cat ../secrets/a", "cd src; cat k", "cd src && ls",
          "cd src && head -n1 k", "cd src && grep x k", "cd src && wc -l k", "cd src && cat m.rs", "cd src && echo hi",
          "cd src && pwd", "cd src && find .", "cd src && rg x", "cd src && cat", "cd src && ls k", "cd src && cat k | head",
          "cd /home/user/project/src && cat k", "cd src && cat /home/user/project/a.txt", "cd doc && cat k", "cat k && cd src",
          "cat a.txt; cd src", "cd . && cat k", "cd src && test -f k", "cd src && sed -n 1p k", "cd src && stat k", "cd src && tail k",
          "grep -r x .", "grep -r x src", "grep -R x .", "rg x", "rg --hidden x", "grep x *", "grep x .*", "cat .env", "cat .e*",
          "cat ./.env", "cat sub/.env", "cat ../other/.env", "diff a.txt .env", "diff a.txt --unified .env", "column -t .env",
          "od -w .env", "od -S .env", "head --lines .env", "strings -Tn .env", "hexdump --format-file=.env", "grep --binary x .env",
          "sort .en*", "cat < .e*", "cat .[e]nv", "cat .?nv", "ls secrets", "ls sec*", "find secrets", "find . -name a", "tree",
          "du secrets", "stat secrets/a", "file secrets/a", "wc -c secrets/a", "test -f secrets/a", "[ -f .env ]", "echo .env",
          "echo secrets/*", "echo sec*/a", "md5sum .env", "base64 .env", "jq . .env", "cp .env x", "mv .env x", "awk 1 .env",
          "sed -n 1p .env", "xxd .env", "tac .env", "nl .env", "rev .env", "cut -c1- .env", "paste .env", "fold .env", "less .env",
          "python3 x.py .env", "node -e 1 .env", "cat a.txt .env", "cat a.txt | tee .env", "git diff .env", "git show HEAD:.env",
          "xargs cat < .env", "echo .env | xargs cat", "find . -name .env -exec cat {} +", "cat $(ls)", "cat `ls`", "cat $x"]

ALLOWED = ["node scripts/run.js", "node scripts/../evil.js", "node scripts/../scripts/run.js", "node ./scripts/run.js",
           "node scripts/run.js ../x", "node scripts/", "node scripts/.*/evil.js", "cat outl", "cat o*", "cat outdir/secret", "cat a*",
           "cat ~root/x", "cat < o*", "cat < ~root/x", "sort -o z a.txt", "sort -oz a.txt", "sort --output=z a.txt", "sort -o y a.txt",
           "cp a.txt z", "cp a.txt y", "cp z y", "tee z", "tee y", "curl -o z http://127.0.0.1:9/", "curl -o y http://127.0.0.1:9/",
           "dd of=z if=a.txt", "dd if=a.txt of=y", "cat a.txt > z", "cat a.txt > y", "cat sec*/a", "cat secrets/a", "sort secrets/a",
           "cp secrets/a y", "git -C src status", "git status", "git diff secrets/a", "sort -o ../y a.txt", "cp a.txt ../y",
           "cp -t . src/k", "cat src/k > src/z", "cd src && cat k", "cd src && sort k", "sort a.txt | tee y", "cp a.txt src/z"]


# Forms of readers with options from their help that the engine once allowed and the CLI asks about.
FOUND = [
    "column a.txt --output-separator {}", "column a.txt --separator {}", "column a.txt --table-columns {}",
    "column a.txt -N {}", "column a.txt -o {}", "column a.txt -s {}", "comm a.txt --output-delimiter {}",
    "cut a.txt --delimiter {}", "cut a.txt --output-delimiter {}", "cut a.txt -d {}", "egrep --binary-files 1 {}",
    "egrep --binary-files x {}", "egrep --devices 1 {}", "egrep --devices x {}", "egrep --directories 1 {}",
    "egrep --directories x {}", "egrep --group-separator 1 {}", "egrep --group-separator x {}", "egrep --label 1 {}",
    "egrep --label x {}", "egrep -D 1 {}", "egrep -D x {}", "egrep -d 1 {}", "egrep -d x {}",
    "egrep a.txt --exclude {}", "egrep a.txt --exclude-dir {}", "egrep a.txt --group-separator {}",
    "egrep a.txt --include {}", "egrep a.txt --label {}", "egrep a.txt --regexp {}", "egrep a.txt -e {}",
    "fgrep --binary-files 1 {}", "fgrep --binary-files x {}", "fgrep --devices 1 {}", "fgrep --devices x {}",
    "fgrep --directories 1 {}", "fgrep --directories x {}", "fgrep --group-separator 1 {}",
    "fgrep --group-separator x {}", "fgrep --label 1 {}", "fgrep --label x {}", "fgrep -D 1 {}", "fgrep -D x {}",
    "fgrep -d 1 {}", "fgrep -d x {}", "fgrep a.txt --exclude {}", "fgrep a.txt --exclude-dir {}",
    "fgrep a.txt --group-separator {}", "fgrep a.txt --include {}", "fgrep a.txt --label {}",
    "fgrep a.txt --regexp {}", "fgrep a.txt -e {}", "grep --binary-files 1 {}", "grep --binary-files x {}",
    "grep --devices 1 {}", "grep --devices x {}", "grep --directories 1 {}", "grep --directories x {}",
    "grep --group-separator 1 {}", "grep --group-separator x {}", "grep --label 1 {}", "grep --label x {}",
    "grep -D 1 {}", "grep -D x {}", "grep -d 1 {}", "grep -d x {}", "grep a.txt --exclude {}",
    "grep a.txt --exclude-dir {}", "grep a.txt --group-separator {}", "grep a.txt --include {}",
    "grep a.txt --label {}", "grep a.txt --regexp {}", "grep a.txt -e {}", "paste a.txt --delimiters {}",
    "paste a.txt -d {}", "pr a.txt --header {}", "pr a.txt -h {}", "stat -A src", "stat -A x src", "stat -Ar x src",
    "stat -H src", "stat -H x src", "stat -Hr x src", "tac a.txt --separator {}", "tac a.txt -s {}",
]
FOUND_FILES = ["/home/user/other/secret", "../other/secret", "outl"]


def tables():
    """Every scene with the words and the forms that are played in it."""
    for scene in ("plain", "deny"):
        yield scene, REDIRECT_FILES, REDIRECTED
        yield scene, MOVED_COMMANDS, MOVED
        yield scene, [""], DENIED
    yield "plain", FILES, [reader + " {}" for reader in READERS]
    yield "plain", VALUED_FILES, VALUED
    yield "allow", [""], ALLOWED
    yield "plain", FOUND_FILES, FOUND


def is_played(command):
    """A pager waits for a key and a manual for its formatter: they would only use up the time."""
    return not command.startswith(("less", "more", "man ", "info", "sleep ~"))


def generated():
    return [(scene, form.replace("{}", word)) for scene, words, forms in tables() for form in forms for word in words
            if is_played(form.replace("{}", word))]
