use serde_json::{Map, Number, Value};

use crate::tool::ArtifactRead;
use crate::wire::{Opt, TaskId, open_enum, record};

record! {
    /// Publishes and manages artifacts.
    #[derive(Default)]
    pub struct ArtifactInput {
        /// What the user did.
        action: Opt<ArtifactAction>,
        /// The file.
        file_path: Opt<String>,
        /// A sign for the tab.
        favicon: Opt<String>,
        /// A picture.
        icon: Opt<String>,
        /// The most to give.
        limit: Opt<u64>,
        /// Where to go on.
        page_token: Opt<String>,
        /// What it belongs to.
        scope: Opt<ArtifactScope>,
        /// The title.
        title: Opt<String>,
        /// What it is about.
        description: Opt<String>,
        /// What it is.
        label: Opt<String>,
        /// The URL.
        url: Opt<String>,
        /// The prompt.
        prompt: Opt<String>,
        /// Whether to overwrite.
        force: Opt<bool>,
        /// Whether to pin it.
        pin: Opt<bool>,
        /// Where to put it.
        out_dir: Opt<String>,
        /// The files.
        file_paths: Opt<Vec<String>>,
        /// The file, by id.
        asset_id: Opt<String>,
        /// Where to go on.
        after: Opt<String>,
        /// What it may do; shape undeclared.
        capabilities: Opt<Map<String, Value>>,
        /// The version of the interface.
        contract: Opt<ContractChoice>,
    }

    /// What an action gave. Each action fills its own fields.
    #[derive(Default)]
    pub struct ArtifactOutput {
        /// The URL.
        url: Opt<String>,
        /// The path.
        path: Opt<String>,
        /// Names the artifact.
        artifact_id: Opt<String>,
        /// The title.
        title: Opt<String>,
        /// The version.
        version: Opt<String>,
        /// What it may do; shape undeclared.
        capabilities: Opt<Value>,
        /// How it is kept.
        stored: Opt<ArtifactStored>,
        /// Warnings.
        warnings: Opt<Vec<String>>,
        /// How often one can still publish.
        publishes_remaining as "publishesRemaining": Opt<u64>,
        /// When that starts over.
        publishes_reset_at as "publishesResetAt": Opt<Number>,
        /// The version of the interface.
        contract: Opt<String>,
        /// Whether there was one before.
        updated: Opt<bool>,
        /// Whether it is the user's own.
        owned: Opt<bool>,
        /// A picture.
        icon: Opt<String>,
        /// Set when the sign was sent.
        favicon_sent as "faviconSent": Opt<bool>,
        /// Set when the picture was dropped.
        icon_dropped as "iconDropped": Opt<bool>,
        /// Who can see it.
        audience: Opt<String>,
        /// Its number.
        seq: Opt<u64>,
        /// Set when nothing changed.
        unchanged: Opt<bool>,
        /// The live connection.
        live_subscription as "liveSubscription": Opt<String>,
        /// Whether it is pinned.
        pinned: Opt<bool>,
        /// The artifacts.
        artifacts: Opt<Vec<ArtifactEntry>>,
        /// Whether there is more.
        truncated: Opt<bool>,
        /// How many there are.
        total: Opt<u64>,
        /// Set when there are more.
        total_at_least: Opt<bool>,
        /// Where to go on.
        next_page_token: Opt<String>,
        /// Whether pinning works.
        pins_enabled: Opt<bool>,
        /// What it belongs to.
        scope: Opt<ArtifactScope>,
        /// Set when others' are listed too.
        external_listed: Opt<bool>,
        /// What was read.
        read: Opt<ArtifactContents>,
        /// The artifact that was read.
        artifact_read as "artifactRead": Opt<ArtifactRead>,
        /// The watch.
        watch: Opt<ArtifactWatch>,
        /// The watch that was removed.
        unwatch: Opt<ArtifactUnwatch>,
        /// The watches.
        watches: Opt<Vec<ArtifactWatchEntry>>,
        /// The artifact that was asked for.
        filter_url: Opt<String>,
        /// Watches that are being set.
        arms: Opt<Vec<ArtifactArm>>,
        /// The artifact that was written.
        written: Opt<UrlOf>,
        /// The file that was uploaded.
        asset_upload: Opt<AssetUpload>,
        /// The files that were uploaded.
        asset_uploads: Opt<AssetUploads>,
        /// The files.
        asset_list: Opt<AssetList>,
        /// The file that was read.
        asset_read: Opt<AssetRead>,
        /// The file that was deleted.
        asset_delete: Opt<AssetDelete>,
        /// Whether to pin it.
        pin: Opt<ArtifactPin>,
    }

    /// How the artifact is kept.
    #[derive(Default)]
    pub struct ArtifactStored {
        /// The version of the interface.
        contract: String,
        /// The version it would rather have.
        preferred_contract as "preferredContract": Opt<String>,
        /// What it may do; shape undeclared.
        capabilities: Opt<Map<String, Value>>,
        /// Whether it was taken over from before.
        carried: Opt<bool>,
        /// What was read.
        read: Opt<String>,
    }

    /// An artifact of the list.
    #[derive(Default)]
    pub struct ArtifactEntry {
        /// The title.
        title: String,
        /// The URL.
        url: String,
        /// A sign for the tab.
        favicon: Opt<String>,
        /// When it was last changed.
        updated_at as "updatedAt": Opt<String>,
        /// Whose it is.
        rel: Opt<ArtifactRel>,
        /// Set when it is someone else's.
        external: Opt<bool>,
        /// The role.
        role: Opt<ArtifactRole>,
        /// Set when outsiders may have written.
        outsiders_may_have_written as "outsidersMayHaveWritten": Opt<bool>,
        /// Whether it is pinned.
        pinned: Opt<bool>,
    }

    /// What was read.
    pub struct ArtifactContents {
        /// The URL.
        url: String,
        /// The size in bytes.
        bytes: u64,
        /// The HTTP status.
        code: u64,
        /// The same in words.
        code_text as "codeText": String,
        /// The result.
        result: String,
        /// How long it took.
        duration_ms as "durationMs": Number,
        /// The title.
        title: Opt<String>,
    }

    /// A watch that was set.
    #[derive(Default)]
    pub struct ArtifactWatch {
        /// The URL.
        url: String,
        /// Whether it is on.
        watching: bool,
        /// How it ended.
        outcome: String,
        /// Why.
        reason: Opt<String>,
        /// Why it is not kept.
        durable_skip_reason: Opt<String>,
        /// The task.
        task_id: Opt<TaskId>,
        /// Since when.
        since: Opt<Number>,
        /// When the token expires.
        token_expires_at: Opt<Number>,
        /// How it is kept.
        rail: Opt<String>,
        /// The trigger.
        trigger_id: Opt<String>,
        /// Since when it is kept.
        durable_since: Opt<String>,
        /// The state.
        status: Opt<u64>,
        /// More about it.
        detail: Opt<String>,
        /// A note.
        note: Opt<String>,
        /// The events.
        events: Opt<Vec<String>>,
    }

    /// A watch that was removed.
    #[derive(Default)]
    pub struct ArtifactUnwatch {
        /// The URL.
        url: String,
        /// Whether there was one.
        was_watching: bool,
    }

    /// A watch that is being set.
    #[derive(Default)]
    pub struct ArtifactArm {
        /// The URL.
        url: String,
        /// How it is kept.
        rail: Opt<String>,
        /// The state.
        state: String,
        /// Whether it connects again.
        reconnect: Opt<bool>,
        /// How often it failed.
        failures: Opt<u64>,
        /// How often it may fail.
        max_failures: Opt<u64>,
        /// When it is tried next, in seconds.
        next_in_s: Opt<Number>,
        /// Why it last failed.
        last_failure: Opt<String>,
        /// Why.
        reason: Opt<String>,
        /// More about it.
        detail: Opt<String>,
        /// What the server said.
        server_message: Opt<String>,
        /// When.
        at: Opt<Number>,
    }

    /// A file that was uploaded.
    #[derive(Default)]
    pub struct AssetUpload {
        /// Names it.
        id: String,
        /// The URL.
        url: String,
        /// The size in bytes.
        size_bytes: u64,
        /// The media type.
        content_type: String,
        /// The SHA-256.
        sha256: Opt<String>,
        /// The name of the file.
        file_name: String,
    }

    /// Files that were uploaded.
    #[derive(Default)]
    pub struct AssetUploads {
        /// The URL.
        url: String,
        /// The results.
        results: Vec<AssetUploadResult>,
    }

    /// A file of an artifact.
    #[derive(Default)]
    pub struct Asset {
        /// Names it.
        id: String,
        /// The URL.
        url: String,
        /// The media type.
        content_type: String,
        /// The size in bytes.
        size_bytes: u64,
        /// The SHA-256.
        sha256: Opt<String>,
        /// When it was made.
        created_at: String,
    }

    /// How much room the files take.
    #[derive(Default)]
    pub struct AssetUsage {
        /// Files that were kept.
        files: u64,
        /// The size in bytes.
        bytes: u64,
        /// The most files.
        max_files: u64,
        /// The most to read.
        max_bytes: u64,
    }

    /// The files of an artifact.
    #[derive(Default)]
    pub struct AssetList {
        /// The URL.
        url: String,
        /// The files.
        assets: Vec<Asset>,
        /// What it used.
        usage: AssetUsage,
        /// Where to go on.
        next: Opt<String>,
        /// Set when others wrote as well.
        cowritten: Opt<bool>,
        /// Set when an outsider wrote.
        outside_writer: Opt<bool>,
    }

    /// A file that was read.
    #[derive(Default)]
    pub struct AssetRead {
        /// Names it.
        id: String,
        /// The path.
        path: String,
        /// The size in bytes.
        size_bytes: u64,
        /// The media type.
        content_type: String,
        /// The SHA-256.
        sha256: String,
        /// Set when others wrote as well.
        cowritten: Opt<bool>,
        /// Set when an outsider wrote.
        outside_writer: Opt<bool>,
        /// Set when everybody can read it.
        public_read: Opt<bool>,
        /// Set when it is someone else's.
        foreign: Opt<bool>,
    }

    /// A file that was deleted.
    #[derive(Default)]
    pub struct AssetDelete {
        /// Names it.
        id: String,
        /// Whether it is gone.
        deleted: bool,
    }

    /// What was pinned.
    pub struct ArtifactPin {
        /// What the user did.
        action: PinAction,
        /// The URL.
        url: String,
        /// Whether it is pinned.
        pinned: bool,
        /// The title.
        title: Opt<String>,
    }

    /// The artifact concerned.
    #[derive(Default)]
    pub struct UrlOf {
        /// The URL.
        url: String,
    }

    /// A watch. Which fields it has depends on how it is kept.
    #[derive(Default)]
    pub struct ArtifactWatchEntry {
        /// The URL.
        url: String,
        /// The task.
        task_id: Opt<TaskId>,
        /// Since when.
        since: Opt<Value>,
        /// Whether it was asked for.
        explicit: Opt<bool>,
        /// Whether it is connected.
        connected: Opt<bool>,
        /// Whether it is connecting.
        connecting: Opt<bool>,
        /// When the token expires.
        token_expires_at: Opt<Number>,
        /// How it was set.
        armed_via: Opt<String>,
        /// How it is kept.
        rail: Opt<WatchRail>,
        /// The trigger.
        trigger_id: Opt<String>,
        /// The events.
        events: Opt<Vec<String>>,
        /// Whether it was taken over.
        restored: Opt<bool>,
        /// Why it stopped.
        stop_kind: Opt<String>,
    }

    /// How the upload of one file went.
    pub struct AssetUploadResult {
        /// The file.
        file_path: String,
        /// The state.
        status: AssetUploadStatus,
        /// Names it.
        id: Opt<String>,
        /// The URL.
        url: Opt<String>,
        /// The size in bytes.
        size_bytes: Opt<u64>,
        /// The media type.
        content_type: Opt<String>,
        /// The SHA-256.
        sha256: Opt<String>,
        /// The name of the file.
        file_name: Opt<String>,
        /// Why.
        reason: Opt<String>,
        /// The text.
        message: Opt<String>,
        /// Set when it may have arrived all the same.
        may_be_stored: Opt<bool>,
    }
}

open_enum! {
    /// Which version of the interface to use; `Other` names one.
    pub enum ContractChoice {
        /// The newest.
        Latest = "latest",
    }

    /// How a watch is kept.
    pub enum WatchRail {
        /// It wakes the session up, also later.
        DurableWake = "durable_wake",
        /// It was live and stopped.
        LiveStopped = "live_stopped",
    }

    /// What to do with artifacts.
    pub enum ArtifactAction {
        Publish = "publish",
        List = "list",
        Read = "read",
        ListTypes = "list_types",
        Watch = "watch",
        Unwatch = "unwatch",
        Status = "status",
        UploadAsset = "upload_asset",
        ListAssets = "list_assets",
        ReadAsset = "read_asset",
        DeleteAsset = "delete_asset",
        Pin = "pin",
        Unpin = "unpin",
    }

    /// Whose artifacts.
    pub enum ArtifactScope {
        Mine = "mine",
        Shared = "shared",
        All = "all",
    }

    /// Whose an artifact is.
    pub enum ArtifactRel {
        Mine = "mine",
        Shared = "shared",
    }

    /// What one may do with an artifact.
    pub enum ArtifactRole {
        Editor = "editor",
        Commenter = "commenter",
        Reader = "reader",
        Viewer = "viewer",
    }

    /// Pinned or not.
    pub enum PinAction {
        Pin = "pin",
        Unpin = "unpin",
    }

    /// How an upload went.
    pub enum AssetUploadStatus {
        Uploaded = "uploaded",
        Failed = "failed",
        NotAttempted = "not_attempted",
    }
}
