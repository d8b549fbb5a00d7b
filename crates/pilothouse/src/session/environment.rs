//! Control requests about what surrounds the conversation: files, settings, plugins, usage.

use pilothouse_proto::control::{
    ApplyFlagSettings, FileSuggestions, FileSuggestionsResponse, GetBinaryVersion, GetBinaryVersionResponse,
    GetContextUsage, GetContextUsageResponse, GetHooksListing, GetHooksListingResponse, GetSessionCost,
    GetSessionCostResponse, GetSettings, GetSettingsResponse, GetStatus, GetStatusResponse, GetUsage,
    GetUsageResponse, GetWorkspaceDiff, GetWorkspaceDiffResponse, ListModels, ListModelsResponse,
    ListPermissionRules, PermissionRulesState, ReadFile, ReadFileResponse, RegisterRepoRoot,
    RegisterRepoRootResponse, ReloadOutputStyles, ReloadOutputStylesResponse, ReloadPlugins,
    ReloadPluginsResponse, ReloadSkills, ReloadSkillsResponse, RewindFiles, RewindFilesResponse,
    SeedReadState, SettingsFile, UpdateSettings,
};
use pilothouse_proto::{Opt, Request as _};
use serde_json::{Map, Value};

use super::Session;
use crate::error::Error;

impl Session {
    /// Takes files back to what they were when this message was sent. Needs [`Options::file_checkpointing`](crate::Options::file_checkpointing).
    ///
    /// # Errors
    /// As [`Session::request`], and [`Error::Refused`] when the CLI answers that it cannot rewind to that message.
    pub async fn rewind_files(&self, message_uuid: impl Into<String>) -> Result<RewindFilesResponse, Error> {
        let request = RewindFiles { user_message_id: message_uuid.into(), ..RewindFiles::default() };
        let reply = self.request(request).await?;
        if reply.can_rewind {
            return Ok(reply);
        }
        let message =
            reply.error.into_option().unwrap_or_else(|| "it cannot be rewound to that message".to_owned());
        Err(Error::Refused { subtype: RewindFiles::SUBTYPE.to_owned(), message, code: None })
    }

    /// What [`Session::rewind_files`] would change, without changing it.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn preview_rewind(
        &self,
        message_uuid: impl Into<String>,
    ) -> Result<RewindFilesResponse, Error> {
        let user_message_id = message_uuid.into();
        self.request(RewindFiles { user_message_id, dry_run: Opt::Some(true), ..RewindFiles::default() })
            .await
    }

    /// Reads a file as the session may.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn read_file(&self, path: impl Into<String>) -> Result<ReadFileResponse, Error> {
        self.request(ReadFile { path: path.into(), ..ReadFile::default() }).await
    }

    /// Tells the CLI that the model knows a file as it was at this time, in milliseconds since 1970.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn seed_read_state(&self, path: impl Into<String>, mtime_ms: u64) -> Result<(), Error> {
        let extra = pilothouse_proto::Extra::new();
        self.request(SeedReadState { path: path.into(), mtime: mtime_ms.into(), extra }).await.map(drop)
    }

    /// Files that a mention might mean.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn file_suggestions(&self, query: impl Into<String>) -> Result<FileSuggestionsResponse, Error> {
        self.request(FileSuggestions { query: query.into(), ..FileSuggestions::default() }).await
    }

    /// What has changed in the workspace.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn workspace_diff(&self) -> Result<GetWorkspaceDiffResponse, Error> {
        self.request(GetWorkspaceDiff::default()).await
    }

    /// Makes a directory inside the workspace a root of its own.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn register_repo_root(
        &self,
        directory: impl Into<String>,
    ) -> Result<RegisterRepoRootResponse, Error> {
        self.request(RegisterRepoRoot { directory: directory.into(), ..RegisterRepoRoot::default() }).await
    }

    /// What fills the context.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn context_usage(&self) -> Result<GetContextUsageResponse, Error> {
        self.request(GetContextUsage::default()).await
    }

    /// What the session cost, as text. [`Session::usage`] has it as numbers.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn session_cost(&self) -> Result<GetSessionCostResponse, Error> {
        self.request(GetSessionCost::default()).await
    }

    /// Usage and limits of the account.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn account_usage(&self) -> Result<GetUsageResponse, Error> {
        self.request(GetUsage::default()).await
    }

    /// The models that can be chosen.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn list_models(&self) -> Result<ListModelsResponse, Error> {
        self.request(ListModels::default()).await
    }

    /// The version of the CLI.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn binary_version(&self) -> Result<GetBinaryVersionResponse, Error> {
        self.request(GetBinaryVersion::default()).await
    }

    /// What `/status` shows.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn status(&self) -> Result<GetStatusResponse, Error> {
        self.request(GetStatus::default()).await
    }

    /// The settings in effect, and where they come from.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn settings(&self) -> Result<GetSettingsResponse, Error> {
        self.request(GetSettings::default()).await
    }

    /// Changes settings for this session; `null` clears one. All are taken or none.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn apply_settings(&self, settings: Map<String, Value>) -> Result<(), Error> {
        self.request(ApplyFlagSettings { settings, ..ApplyFlagSettings::default() }).await.map(drop)
    }

    /// Writes settings to a file.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn update_settings(
        &self,
        source: SettingsFile,
        settings: Map<String, Value>,
    ) -> Result<(), Error> {
        let extra = pilothouse_proto::Extra::new();
        self.request(UpdateSettings { source, settings, extra }).await.map(drop)
    }

    /// The permission rules in effect.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn permission_rules(&self) -> Result<PermissionRulesState, Error> {
        self.request(ListPermissionRules::default()).await.map(|reply| reply.state)
    }

    /// The hooks in effect.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn hooks_listing(&self) -> Result<GetHooksListingResponse, Error> {
        self.request(GetHooksListing::default()).await
    }

    /// Loads plugins anew.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn reload_plugins(&self) -> Result<ReloadPluginsResponse, Error> {
        self.request(ReloadPlugins::default()).await
    }

    /// Loads skills anew.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn reload_skills(&self) -> Result<ReloadSkillsResponse, Error> {
        self.request(ReloadSkills::default()).await
    }

    /// Loads output styles anew.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn reload_output_styles(&self) -> Result<ReloadOutputStylesResponse, Error> {
        self.request(ReloadOutputStyles::default()).await
    }
}
