use serde_json::{Map, Value};

use crate::system::EffortLevel;
use crate::wire::{Opt, open_enum, record};

record! {
    /// Reports what a review found.
    #[derive(Default)]
    pub struct ReportFindingsInput {
        /// The level.
        level: Opt<EffortLevel>,
        /// What was found.
        findings: Vec<Finding>,
    }

    /// Something a review found.
    #[derive(Default)]
    pub struct Finding {
        /// The file.
        file: String,
        /// The line.
        line: Opt<u64>,
        /// A summary.
        summary: String,
        /// The same, shorter.
        short_summary: Opt<String>,
        /// How it fails.
        failure_scenario: String,
        /// The category.
        category: Opt<String>,
        /// How sure it is.
        verdict: Opt<FindingVerdict>,
        /// How it ended.
        outcome: Opt<FindingOutcome>,
    }

    /// The findings.
    #[derive(Default)]
    pub struct ReportFindingsOutput {
        /// How often.
        count: u64,
        /// The level.
        level: Opt<EffortLevel>,
        /// What was found.
        findings: Vec<Finding>,
    }

    /// Sends feedback to the vendor.
    pub struct SendFeedbackInput {
        /// The kind.
        kind as "type": FeedbackKind,
        /// The title.
        title: String,
        /// The text.
        details: String,
        /// The part of the product.
        area: Opt<String>,
        /// What went wrong with the model.
        failure_mode: Opt<FailureMode>,
        /// What the model was doing.
        task_category: Opt<TaskCategory>,
    }

    /// Whether it was sent.
    #[derive(Default)]
    pub struct SendFeedbackOutput {
        /// Whether it worked.
        success: bool,
        /// The text.
        message: String,
    }

    /// Proposes skills.
    #[derive(Default)]
    pub struct ProposeSkillsInput {
        /// The proposals.
        proposals: Vec<SkillProposal>,
    }

    /// A replacement in a skill.
    #[derive(Default)]
    pub struct SkillEdit {
        /// The text to replace.
        old_string: String,
        /// The new text.
        new_string: String,
    }

    /// A skill that is proposed.
    pub struct SkillProposal {
        /// Its name.
        name: String,
        /// The kind.
        kind: SkillProposalKind,
        /// The skill to improve.
        target: Opt<String>,
        /// What it is about.
        description: String,
        /// What speaks for it.
        evidence: Opt<Vec<String>>,
        /// Replacements.
        edits: Opt<Vec<SkillEdit>>,
        /// The text of the skill.
        skill_md as "skillMd": Opt<String>,
    }

    /// How many.
    #[derive(Default)]
    pub struct ProposeSkillsOutput {
        /// How many proposals.
        proposal_count as "proposalCount": u64,
    }

    /// Works in a worktree from now on.
    #[derive(Default)]
    pub struct EnterWorktreeInput {
        /// Its name.
        name: Opt<String>,
        /// The path.
        path: Opt<String>,
    }

    /// The worktree.
    #[derive(Default)]
    pub struct EnterWorktreeOutput {
        /// The worktree.
        worktree_path as "worktreePath": String,
        /// Its branch.
        worktree_branch as "worktreeBranch": Opt<String>,
        /// The text.
        message: String,
    }

    /// Leaves the worktree.
    pub struct ExitWorktreeInput {
        /// What the user did.
        action: WorktreeAction,
        /// Whether to lose changes.
        discard_changes: Opt<bool>,
    }

    /// What became of it.
    pub struct ExitWorktreeOutput {
        /// What the user did.
        action: WorktreeAction,
        /// The directory the session began in.
        original_cwd as "originalCwd": String,
        /// The worktree.
        worktree_path as "worktreePath": String,
        /// Its branch.
        worktree_branch as "worktreeBranch": Opt<String>,
        /// The terminal session.
        tmux_session_name as "tmuxSessionName": Opt<String>,
        /// Files whose changes were lost.
        discarded_files as "discardedFiles": Opt<u64>,
        /// Commits that were lost.
        discarded_commits as "discardedCommits": Opt<u64>,
        /// The text.
        message: String,
    }

    /// Asks the user for a role.
    #[derive(Default)]
    pub struct ShowOnboardingRolePickerInput {}

    /// The role.
    #[derive(Default)]
    pub struct ShowOnboardingRolePickerOutput {
        /// The role.
        role: Opt<String>,
        /// Whether the user closed it.
        dismissed: Opt<bool>,
    }

    /// Offers to set up the browser.
    #[derive(Default)]
    pub struct OfferChromeSetupInput {
        /// Why.
        reason: Opt<String>,
    }

    /// How that ended.
    pub struct OfferChromeSetupOutput {
        /// How it ended.
        outcome: ChromeSetupOutcome,
    }

    /// Uses the design service.
    #[derive(Default)]
    pub struct ClaudeDesignInput {
        /// What to do.
        operation: String,
        /// The arguments.
        arguments: Map<String, Value>,
    }

    /// What it gave.
    #[derive(Default)]
    pub struct ClaudeDesignOutput {
        /// What to do.
        operation: String,
        /// The content.
        content: Vec<Map<String, Value>>,
        /// Whether it failed.
        is_error as "isError": Opt<bool>,
    }
}

open_enum! {
    /// How sure a finding is.
    pub enum FindingVerdict {
        CONFIRMED = "CONFIRMED",
        PLAUSIBLE = "PLAUSIBLE",
    }

    /// What became of a finding.
    pub enum FindingOutcome {
        Fixed = "fixed",
        Skipped = "skipped",
        NoChangeNeeded = "no_change_needed",
    }

    /// What feedback is about.
    pub enum FeedbackKind {
        Bug = "bug",
        Idea = "idea",
        MissingCapability = "missing_capability",
    }

    /// What went wrong with the model.
    pub enum FailureMode {
        InstructionFollowing = "instruction_following",
        DestructiveActions = "destructive_actions",
        CodeQuality = "code_quality",
        RepetitionAndLooping = "repetition_and_looping",
        ModelRegression = "model_regression",
        OverconfidenceAndHallucination = "overconfidence_and_hallucination",
        ContextAndMemory = "context_and_memory",
        Overeager = "overeager",
        OverCorrection = "over_correction",
        StoppingShort = "stopping_short",
        DisputeOrDecline = "dispute_or_decline",
        SubagentOverspawn = "subagent_overspawn",
        ToneOrPreachiness = "tone_or_preachiness",
        ExcessiveQuestions = "excessive_questions",
        UnwantedScope = "unwanted_scope",
        OtherKind = "other",
    }

    /// What the model was doing.
    pub enum TaskCategory {
        CodeEdit = "code_edit",
        Debug = "debug",
        Explain = "explain",
        Plan = "plan",
        Shell = "shell",
        Search = "search",
        Review = "review",
        OtherKind = "other",
    }

    /// What a proposal is.
    pub enum SkillProposalKind {
        New = "new",
        Improvement = "improvement",
    }

    /// What to do with a worktree.
    pub enum WorktreeAction {
        Keep = "keep",
        Remove = "remove",
    }

    /// How the offer ended.
    pub enum ChromeSetupOutcome {
        Connected = "connected",
        NotNow = "not_now",
        NoAttemptYet = "no_attempt_yet",
    }
}
