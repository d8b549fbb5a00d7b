//! Commands that run whatever their arguments say.

/// One command that an allow rule should not leave open.
pub(super) struct Runner {
    /// The words that the command begins with.
    pub(super) words: &'static str,
    /// What it lets through, as the rest of a sentence that begins with the words.
    pub(super) lets: &'static str,
    /// What to write instead.
    pub(super) instead: &'static str,
    /// Whether it stays open when a further word is given, because what runs comes later.
    pub(super) stays_open: bool,
    /// How many further words fix what runs.
    pub(super) fixed_by: usize,
}

const fn runner(words: &'static str, lets: &'static str, instead: &'static str) -> Runner {
    Runner { words, lets, instead, stays_open: false, fixed_by: 1 }
}

/// One that no further word closes.
const fn open(words: &'static str, lets: &'static str, instead: &'static str) -> Runner {
    Runner { words, lets, instead, stays_open: true, fixed_by: 1 }
}

/// One whose first further word says only where it runs.
const fn elsewhere(words: &'static str, lets: &'static str, instead: &'static str) -> Runner {
    Runner { words, lets, instead, stays_open: false, fixed_by: 2 }
}

/// Programs and subcommands, each with its sentence. Shells and wrappers such as `sudo` are known to the engine.
pub(super) const RUNNERS: &[Runner] = &[
    runner(".", "runs whatever a file holds", "Bash(. scripts/env.sh)"),
    runner("ansible", "runs any command on its hosts", "Bash(ansible-playbook site.yml)"),
    runner("at", "runs what it is given later, unwatched", "Bash(atq)"),
    runner("awk", "runs programs with `system()` and writes files", "Bash(awk '{print $1}':*)"),
    runner("bun", "runs any script", "Bash(bun test:*)"),
    runner("bun run", "runs any file", "Bash(bun run build)"),
    runner("bun x", "downloads and runs any package", "Bash(bun x tsc:*)"),
    runner("bundle exec", "runs any program", "Bash(bundle exec rspec:*)"),
    runner("bunx", "downloads and runs any package", "Bash(bunx tsc:*)"),
    runner("conda run", "runs any program", "Bash(conda run pytest:*)"),
    runner("crontab", "runs what it is given later, unwatched", "Bash(crontab -l)"),
    runner("deno", "runs any script, also from the network", "Bash(deno test:*)"),
    runner("deno eval", "runs any code", "Bash(deno test:*)"),
    runner("deno run", "runs any script, also from the network", "Bash(deno run main.ts:*)"),
    runner("docker", "has `docker run`, which mounts the whole disk with `-v /:/mnt`", "Bash(docker ps:*)"),
    elsewhere(
        "docker compose exec",
        "runs any program in a container",
        "Bash(docker compose exec app pytest:*)",
    ),
    runner(
        "docker compose run",
        "mounts the whole disk with `-v /:/mnt`",
        "Bash(docker compose run app pytest:*)",
    ),
    elsewhere("docker exec", "runs any program in a container", "Bash(docker exec app pytest:*)"),
    runner("docker run", "mounts the whole disk with `-v /:/mnt`", "Bash(docker run --rm IMAGE:*)"),
    open("ed", "runs any command with `!`", "Edit(src/**)"),
    runner("emacs", "runs any code with `--eval`", "Edit(src/**)"),
    open("eval", "runs any text as a command", "Bash(npm test:*)"),
    runner("expect", "runs any program", "Bash(expect tests/login.exp)"),
    open("find", "runs any program with `-exec`, and deletes with `-delete`", "Bash(find . -type f)"),
    runner("gawk", "runs programs with `system()` and writes files", "Bash(gawk '{print $1}':*)"),
    runner("gdb", "runs any program", "Bash(gdb --version)"),
    runner("git -c", "runs any program that a setting names, such as `core.pager`", "Bash(git log:*)"),
    runner("git bisect run", "runs any program", "Bash(git bisect run make test)"),
    runner("git config", "sets what git runs, such as `core.pager` and aliases", "Bash(git config --list)"),
    runner("git filter-branch", "runs any program", "Bash(git log:*)"),
    runner("git submodule foreach", "runs any program", "Bash(git submodule status:*)"),
    runner("go run", "downloads and runs any package", "Bash(go run ./cmd/app:*)"),
    runner("irb", "runs any code", "Bash(ruby tools/check.rb:*)"),
    runner("kubectl", "has `kubectl exec` and `kubectl delete`", "Bash(kubectl get:*)"),
    elsewhere("kubectl exec", "runs any program in a cluster", "Bash(kubectl exec pod -- date)"),
    runner("kubectl run", "runs any image in a cluster", "Bash(kubectl get:*)"),
    open("less", "runs any command with `!`", "Bash(cat:*)"),
    runner("lua", "runs any code", "Bash(lua tools/check.lua:*)"),
    runner("make", "runs what the Makefile says, and any text with `--eval`", "Bash(make test)"),
    runner("mise exec", "runs any program", "Bash(mise exec -- cargo test:*)"),
    open("more", "runs any command with `!`", "Bash(cat:*)"),
    open("mysql", "runs any command with `\\!`, and any query", "Bash(mysql --version)"),
    open("nc", "sends anything to any host", "Bash(nc -z localhost 8080)"),
    runner("nix develop", "runs any program with `-c`", "Bash(nix build:*)"),
    runner("nix run", "downloads and runs any package", "Bash(nix build:*)"),
    runner("nix shell", "runs any program with `-c`", "Bash(nix build:*)"),
    runner("node", "runs any code with `-e`", "Bash(node scripts/build.js:*)"),
    runner("npm exec", "downloads and runs any package", "Bash(npm exec tsc:*)"),
    runner("npx", "downloads and runs any package", "Bash(npx tsc:*)"),
    open("nvim", "runs any command with `:!`", "Edit(src/**)"),
    runner("osascript", "runs any code, and controls other programs", "Bash(osascript tools/notify.scpt)"),
    runner("perl", "runs any code with `-e`", "Bash(perl tools/check.pl:*)"),
    runner("php", "runs any code with `-r`", "Bash(php artisan test:*)"),
    runner("pipenv run", "runs any program", "Bash(pipenv run pytest:*)"),
    runner("pipx run", "downloads and runs any package", "Bash(pipx run black:*)"),
    runner("pnpm dlx", "downloads and runs any package", "Bash(pnpm dlx tsc:*)"),
    runner("pnpm exec", "runs any program", "Bash(pnpm exec tsc:*)"),
    runner("podman", "has `podman run`, which mounts the whole disk with `-v /:/mnt`", "Bash(podman ps:*)"),
    elsewhere("podman exec", "runs any program in a container", "Bash(podman exec app pytest:*)"),
    runner("podman run", "mounts the whole disk with `-v /:/mnt`", "Bash(podman run --rm IMAGE:*)"),
    runner("poetry run", "runs any program", "Bash(poetry run pytest:*)"),
    open("psql", "runs any command with `\\!`, and any query", "Bash(psql --list)"),
    runner("python", "runs any code with `-c`", "Bash(python -m pytest:*)"),
    runner("python2", "runs any code with `-c`", "Bash(python2 tools/check.py:*)"),
    runner("python3", "runs any code with `-c`", "Bash(python3 -m pytest:*)"),
    open(
        "rsync",
        "sends any file to any host, and runs programs with `-e`",
        "Bash(rsync -a build/ HOST:site/)",
    ),
    runner("ruby", "runs any code with `-e`", "Bash(ruby tools/check.rb:*)"),
    runner("scp", "sends any file to any host", "Bash(scp build.tar HOST:)"),
    runner("screen", "runs any program, unwatched", "Bash(screen -ls)"),
    open("script", "runs any command with `-c`", "Bash(npm test:*)"),
    open("sed", "runs programs with `e` and writes files with `w` and `-i`", "Bash(sed -n 1,20p README.md)"),
    open("socat", "runs any program, and sends anything to any host", "Bash(nc -z localhost 8080)"),
    runner("source", "runs whatever a file holds", "Bash(source scripts/env.sh)"),
    open("sqlite3", "runs any command with `.shell`, and writes files", "Bash(sqlite3 --version)"),
    open("ssh", "runs any command on any host", "Bash(ssh HOST uptime)"),
    open("su", "runs any command as another user", "Bash(npm test:*)"),
    open(
        "tar",
        "runs programs with `--checkpoint-action`, and writes files anywhere with `-C`",
        "Bash(tar tf build.tar)",
    ),
    runner("tclsh", "runs any code", "Bash(tclsh tools/check.tcl:*)"),
    runner("tmux", "runs any program, unwatched", "Bash(tmux ls)"),
    runner("uv run", "runs any program", "Bash(uv run pytest:*)"),
    runner("uvx", "downloads and runs any package", "Bash(uvx ruff:*)"),
    runner("vi", "runs any command with `:!`", "Edit(src/**)"),
    runner("vim", "runs any command with `:!`", "Edit(src/**)"),
    runner("yarn dlx", "downloads and runs any package", "Bash(yarn dlx tsc:*)"),
    runner("yarn exec", "runs any program", "Bash(yarn exec tsc:*)"),
];

/// The longest entry that a command begins with, and the words after it.
pub(super) fn find<'a>(words: &'a [&'a str]) -> Option<(&'static Runner, &'a [&'a str])> {
    let fits = |runner: &&Runner| {
        let mut wanted = runner.words.split(' ');
        let mut given = words.iter();
        wanted.all(|word| given.next() == Some(&word))
    };
    let found = RUNNERS.iter().filter(fits).max_by_key(|runner| runner.words.len())?;
    words.get(found.words.split(' ').count()..).map(|rest| (found, rest))
}
