use serde_json::{Map, Value};

use crate::wire::{Opt, open_enum, record, union};

record! {
    /// Uses the project of the session.
    pub struct ProjectsInput {
        /// What to do.
        method: ProjectMethod,
        /// The path.
        path: Opt<String>,
        /// The content.
        content: Opt<String>,
        /// Where it lies.
        local_path: Opt<String>,
        /// Whether to show it to the user.
        present_to_user: Opt<bool>,
        /// What to look for.
        query: Opt<String>,
        /// How many.
        n: Opt<u64>,
    }

    /// The project.
    pub struct ProjectInfo {
        /// A notice.
        notice: Opt<String>,
        /// Where it was saved.
        local_file: Opt<String>,
        /// Its name.
        name: String,
        /// What it is about.
        description: String,
        /// The instructions.
        instructions: String,
        /// The documents.
        docs: Vec<ProjectDoc>,
        /// Files that were kept.
        files: Opt<Vec<ProjectFile>>,
        /// Where it takes files from.
        sync_sources: Opt<Vec<ProjectSyncSource>>,
        /// How much it holds.
        knowledge: ProjectKnowledge,
    }

    /// A document of the project.
    #[derive(Default)]
    pub struct ProjectDoc {
        /// The path.
        path: String,
        /// When it was made.
        created_at: Option<String>,
    }

    /// A file of the project.
    #[derive(Default)]
    pub struct ProjectFile {
        /// The path.
        path: String,
        /// The kind of file.
        file_kind: String,
        /// When it was made.
        created_at: Option<String>,
    }

    /// Where the project takes files from.
    #[derive(Default)]
    pub struct ProjectSyncSource {
        /// The kind.
        kind as "type": Option<String>,
        /// The configuration.
        config: Map<String, Value>,
    }

    /// How much the project holds.
    #[derive(Default)]
    pub struct ProjectKnowledge {
        /// How much there is.
        knowledge_size: u64,
        /// The most there can be.
        max_knowledge_size: u64,
    }

    /// A document.
    #[derive(Default)]
    pub struct ProjectRead {
        /// A notice.
        notice: Opt<String>,
        /// The path.
        path: String,
        /// The kind of file.
        file_kind: Opt<String>,
        /// The content.
        content: Opt<String>,
        /// Where it was saved.
        local_file: Opt<String>,
        /// When it was made.
        created_at: Option<String>,
    }

    /// Search hits.
    #[derive(Default)]
    pub struct ProjectSearch {
        /// A notice.
        notice: Opt<String>,
        /// Whether it was a search by meaning.
        rag: bool,
        /// The hits.
        hits: Opt<Vec<ProjectHit>>,
        /// The documents.
        docs: Opt<Vec<String>>,
    }

    /// A search hit.
    #[derive(Default)]
    pub struct ProjectHit {
        /// Its name.
        name: Opt<String>,
        /// The document, by id.
        doc_uuid: Opt<String>,
        /// The text.
        text: Opt<String>,
        /// Whether a picture is attached.
        image_attached: Opt<bool>,
        /// The page.
        page: Opt<u64>,
    }

    /// A document that was written.
    #[derive(Default)]
    pub struct ProjectWrite {
        /// A notice.
        notice: Opt<String>,
        /// The path.
        path: String,
        /// The document, by id.
        doc_uuid: String,
        /// Whether there was one before.
        replaced: bool,
        /// Whether to show it to the user.
        present_to_user: Opt<bool>,
        /// Where it lies.
        local_path: Opt<String>,
    }

    /// A document that was deleted.
    #[derive(Default)]
    pub struct ProjectDelete {
        /// A notice.
        notice: Opt<String>,
        /// The path.
        path: String,
        /// Whether it is gone.
        deleted: bool,
    }

    /// Memory files.
    #[derive(Default)]
    pub struct ProjectMemoryList {
        /// A notice.
        notice: Opt<String>,
        /// Files that were kept.
        files: Vec<ProjectMemoryFile>,
        /// Whether there is more.
        truncated: bool,
    }

    /// A memory file of the project.
    #[derive(Default)]
    pub struct ProjectMemoryFile {
        /// The path.
        path: String,
        /// The size in bytes.
        size_bytes: u64,
        /// When it was last changed.
        updated_at: Option<String>,
        /// Whether there is more.
        truncated: bool,
    }

    /// A memory file.
    #[derive(Default)]
    pub struct ProjectMemoryRead {
        /// A notice.
        notice: Opt<String>,
        /// The path.
        path: String,
        /// The content.
        content: Opt<String>,
        /// Where it was saved.
        local_file: Opt<String>,
        /// The size in bytes.
        size_bytes: u64,
        /// When it was last changed.
        updated_at: Option<String>,
        /// Whether there is more.
        truncated: bool,
    }
}

open_enum! {
    /// What to do with a project.
    pub enum ProjectMethod {
        ProjectInfo = "project_info",
        ProjectRead = "project_read",
        ProjectSearch = "project_search",
        ProjectWrite = "project_write",
        ProjectDelete = "project_delete",
        ProjectMemoryList = "project_memory_list",
        ProjectMemoryRead = "project_memory_read",
    }
}

union! {
    /// What a project gave, told apart by `method`.
    pub enum ProjectsOutput by "method" {
        /// The project.
        "project_info" => Info(Box<ProjectInfo>),
        /// A document.
        "project_read" => Read(Box<ProjectRead>),
        /// Search hits.
        "project_search" => Search(Box<ProjectSearch>),
        /// A document that was written.
        "project_write" => Write(Box<ProjectWrite>),
        /// A document that was deleted.
        "project_delete" => Delete(Box<ProjectDelete>),
        /// Memory files.
        "project_memory_list" => MemoryList(Box<ProjectMemoryList>),
        /// A memory file.
        "project_memory_read" => MemoryRead(Box<ProjectMemoryRead>),
    }
}
