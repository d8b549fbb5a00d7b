use serde_json::{Number, Value};

use crate::wire::{Opt, TaskId, open_enum, record};

record! {
    /// Runs a shell command.
    #[derive(Default)]
    pub struct BashInput {
        /// The command.
        command: String,
        /// How long it may take, in milliseconds.
        timeout: Opt<Number>,
        /// What it does, in a few words.
        description: Opt<String>,
        /// Whether to run it in the background.
        run_in_background: Opt<bool>,
        /// Whether to leave the sandbox.
        dangerously_disable_sandbox as "dangerouslyDisableSandbox": Opt<bool>,
    }

    /// What a shell command gave.
    #[derive(Default)]
    pub struct BashOutput {
        /// What it printed on stdout.
        stdout: String,
        /// What it printed on stderr.
        stderr: String,
        /// Where the raw output is.
        raw_output_path as "rawOutputPath": Opt<String>,
        /// Whether it was interrupted.
        interrupted: bool,
        /// Whether the output is a picture.
        is_image as "isImage": Opt<bool>,
        /// The task it became.
        background_task_id as "backgroundTaskId": Opt<String>,
        /// Whether the user sent it to the background.
        backgrounded_by_user as "backgroundedByUser": Opt<bool>,
        /// When time ran out.
        timed_out_after_ms as "timedOutAfterMs": Opt<Number>,
        /// A hint about the working directory.
        background_cwd_hint as "backgroundCwdHint": Opt<String>,
        /// Set when it ends with the turn.
        background_ends_with_final_response as "backgroundEndsWithFinalResponse": Opt<bool>,
        /// Set when its end wakes the model up.
        background_wakes_owner as "backgroundWakesOwner": Opt<bool>,
        /// Whether to leave the sandbox.
        dangerously_disable_sandbox as "dangerouslyDisableSandbox": Opt<bool>,
        /// What the exit status means.
        return_code_interpretation as "returnCodeInterpretation": Opt<String>,
        /// Whether no output is normal.
        no_output_expected as "noOutputExpected": Opt<bool>,
        /// The result as data.
        structured_content as "structuredContent": Opt<Vec<Value>>,
        /// Where the whole output is.
        persisted_output_path as "persistedOutputPath": Opt<String>,
        /// How long that is.
        persisted_output_size as "persistedOutputSize": Opt<u64>,
        /// A hint that a file changed.
        stale_read_file_state_hint as "staleReadFileStateHint": Opt<String>,
        /// A hint about the limits of the forge.
        gh_rate_limit_hint as "ghRateLimitHint": Opt<String>,
        /// What it did to the repository.
        git_operation as "gitOperation": Opt<GitOperation>,
        /// Files the command changed; shape undeclared.
        bash_edit_diff as "bashEditDiff": Opt<Value>,
    }

    /// A commit that was made.
    pub struct GitCommit {
        /// The commit, by hash.
        sha: String,
        /// The kind.
        kind: CommitKind,
        /// The branch.
        branch: Opt<String>,
    }

    /// A push.
    #[derive(Default)]
    pub struct GitPush {
        /// The branch.
        branch: String,
    }

    /// A merge or rebase.
    pub struct GitBranch {
        /// What was merged or rebased.
        git_ref as "ref": String,
        /// What the user did.
        action: BranchAction,
    }

    /// A pull request that was touched.
    pub struct GitPullRequest {
        /// The number.
        number: u64,
        /// The URL.
        url: Opt<String>,
        /// What the user did.
        action: PullRequestAction,
    }

    /// What a command did to the repository.
    #[derive(Default)]
    pub struct GitOperation {
        /// The commit.
        commit: Opt<GitCommit>,
        /// The push.
        push: Opt<GitPush>,
        /// The branch.
        branch: Opt<GitBranch>,
        /// The pull request.
        pr: Opt<GitPullRequest>,
    }

    /// Watches a command or a socket.
    pub struct MonitorInput {
        /// What it is about.
        description: String,
        /// How long to show it.
        timeout_ms: Number,
        /// The command.
        command: Opt<String>,
        /// The socket.
        ws: Opt<MonitorSocket>,
    }

    /// A WebSocket to watch.
    #[derive(Default)]
    pub struct MonitorSocket {
        /// The URL.
        url: String,
        /// The subprotocols.
        protocols: Opt<Vec<String>>,
    }

    /// The watch.
    pub struct MonitorOutput {
        /// The task.
        task_id as "taskId": TaskId,
        /// How long to show it.
        timeout_ms as "timeoutMs": Number,
        /// Whether it goes on.
        persistent: Opt<bool>,
    }

    /// Runs a PowerShell command. Undeclared; these are the members of its sibling.
    #[derive(Default)]
    pub struct PowerShellInput {
        /// The command.
        command: String,
        /// How long to wait, in milliseconds.
        timeout: Opt<Number>,
        /// What it is about.
        description: Opt<String>,
        /// Whether to run it in the background.
        run_in_background: Opt<bool>,
    }
}

open_enum! {
    /// How a commit was made.
    pub enum CommitKind {
        Committed = "committed",
        Amended = "amended",
        CherryPicked = "cherry-picked",
    }

    /// What was done with a branch.
    pub enum BranchAction {
        Merged = "merged",
        Rebased = "rebased",
    }

    /// What was done with a pull request.
    pub enum PullRequestAction {
        Created = "created",
        Edited = "edited",
        Merged = "merged",
        Commented = "commented",
        Closed = "closed",
        Reopened = "reopened",
        Ready = "ready",
        Draft = "draft",
        AutoMergeEnabled = "auto-merge-enabled",
        AutoMergeDisabled = "auto-merge-disabled",
    }
}
