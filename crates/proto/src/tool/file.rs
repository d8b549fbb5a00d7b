use serde_json::Value;

use crate::wire::{Opt, open_enum, record, union};

record! {
    /// Reads a file.
    #[derive(Default)]
    pub struct FileReadInput {
        /// The file.
        file_path: String,
        /// Where to start.
        offset: Opt<u64>,
        /// The most to give.
        limit: Opt<u64>,
        /// The pages.
        pages: Opt<String>,
        /// Whether a large file may be read.
        allow_large: Opt<bool>,
    }

    /// Writes a whole file.
    #[derive(Default)]
    pub struct FileWriteInput {
        /// The file.
        file_path: String,
        /// The content.
        content: String,
    }

    /// Replaces a piece of a file.
    #[derive(Default)]
    pub struct FileEditInput {
        /// The file.
        file_path: String,
        /// The text to replace.
        old_string: String,
        /// The new text.
        new_string: String,
        /// Whether to replace every occurrence.
        replace_all: Opt<bool>,
    }

    /// Changes a cell of a notebook.
    #[derive(Default)]
    pub struct NotebookEditInput {
        /// The notebook.
        notebook_path: String,
        /// The cell.
        cell_id: Opt<String>,
        /// The new text.
        new_source: String,
        /// The kind of cell.
        cell_type: Opt<CellType>,
        /// What to do.
        edit_mode: Opt<CellEditMode>,
    }

    /// A text file.
    pub struct FileReadText {
        /// The file.
        file: ReadText,
        /// The artifact that was read.
        artifact_read as "artifactRead": Opt<ArtifactRead>,
    }

    /// Text of a file.
    #[derive(Default)]
    pub struct ReadText {
        /// The file.
        file_path as "filePath": String,
        /// The content.
        content: String,
        /// How many lines.
        num_lines as "numLines": u64,
        /// The first line.
        start_line as "startLine": u64,
        /// How many lines in all.
        total_lines as "totalLines": u64,
        /// Whether it was cut to fit.
        truncated_by_token_cap as "truncatedByTokenCap": Opt<bool>,
    }

    /// A picture.
    pub struct FileReadImage {
        /// The file.
        file: ReadImage,
    }

    /// The size of a picture in pixels.
    #[derive(Default)]
    pub struct ImageDimensions {
        /// The width.
        original_width as "originalWidth": Opt<u64>,
        /// The height.
        original_height as "originalHeight": Opt<u64>,
        /// The width as shown.
        display_width as "displayWidth": Opt<u64>,
        /// The height as shown.
        display_height as "displayHeight": Opt<u64>,
    }

    /// A picture.
    pub struct ReadImage {
        /// The bytes, base64.
        base64: String,
        /// The kind.
        kind as "type": ImageMediaType,
        /// The size in bytes.
        original_size as "originalSize": u64,
        /// Its size in pixels.
        dimensions: Opt<ImageDimensions>,
    }

    /// A notebook.
    pub struct FileReadNotebook {
        /// The file.
        file: ReadNotebook,
    }

    /// A notebook.
    #[derive(Default)]
    pub struct ReadNotebook {
        /// The file.
        file_path as "filePath": String,
        /// The cells; each undeclared.
        cells: Vec<Value>,
    }

    /// A PDF.
    pub struct FileReadPdf {
        /// The file.
        file: ReadPdf,
    }

    /// A PDF.
    #[derive(Default)]
    pub struct ReadPdf {
        /// The file.
        file_path as "filePath": String,
        /// The bytes, base64.
        base64: String,
        /// The size in bytes.
        original_size as "originalSize": u64,
    }

    /// A PDF in pages.
    pub struct FileReadParts {
        /// The file.
        file: ReadParts,
        /// The first page.
        first_page as "firstPage": Opt<u64>,
        /// The pages.
        pages: Opt<Vec<ReadPage>>,
    }

    /// A PDF in pages.
    #[derive(Default)]
    pub struct ReadParts {
        /// The file.
        file_path as "filePath": String,
        /// The size in bytes.
        original_size as "originalSize": u64,
        /// How often.
        count: u64,
        /// Where the pages are.
        output_dir as "outputDir": String,
    }

    /// A page of a PDF.
    pub struct ReadPage {
        /// The bytes, base64.
        base64: String,
        /// The media type.
        media_type as "mediaType": ImageMediaType,
        /// What went wrong.
        error: Opt<String>,
    }

    /// What an edit changed.
    #[derive(Default)]
    pub struct FileEditOutput {
        /// The file.
        file_path as "filePath": String,
        /// The text to replace.
        old_string as "oldString": String,
        /// The new text.
        new_string as "newString": String,
        /// The file before; null if there was none.
        original_file as "originalFile": Option<String>,
        /// The diff in pieces.
        structured_patch as "structuredPatch": Vec<PatchHunk>,
        /// Whether the user changed it first.
        user_modified as "userModified": bool,
        /// Whether to replace every occurrence.
        replace_all as "replaceAll": bool,
        /// The diff as version control sees it.
        git_diff as "gitDiff": Opt<GitDiff>,
        /// Whether it was staged.
        staged: Opt<bool>,
    }

    /// A piece of a diff.
    #[derive(Default)]
    pub struct PatchHunk {
        /// The first line before.
        old_start as "oldStart": u64,
        /// Lines before.
        old_lines as "oldLines": u64,
        /// The first line after.
        new_start as "newStart": u64,
        /// Lines after.
        new_lines as "newLines": u64,
        /// The lines.
        lines: Vec<String>,
    }

    /// What a write changed.
    pub struct FileWriteOutput {
        /// The kind.
        kind as "type": WriteKind,
        /// The file.
        file_path as "filePath": String,
        /// The content.
        content: String,
        /// The diff in pieces.
        structured_patch as "structuredPatch": Vec<PatchHunk>,
        /// The file before; null if there was none.
        original_file as "originalFile": Option<String>,
        /// The diff as version control sees it.
        git_diff as "gitDiff": Opt<GitDiff>,
        /// Whether the user changed it first.
        user_modified as "userModified": Opt<bool>,
        /// Whether it was staged.
        staged: Opt<bool>,
    }

    /// What a notebook edit changed.
    pub struct NotebookEditOutput {
        /// The new text.
        new_source: String,
        /// The old text.
        old_source: Opt<String>,
        /// The cell.
        cell_id: Opt<String>,
        /// The kind of cell.
        cell_type: CellType,
        /// The language.
        language: String,
        /// What to do.
        edit_mode: String,
        /// What went wrong.
        error: Opt<String>,
        /// The notebook.
        notebook_path: String,
        /// The file before; null if there was none.
        original_file: String,
        /// The file after.
        updated_file: String,
    }

    /// The diff as version control sees it.
    pub struct GitDiff {
        /// The name of the file.
        filename: String,
        /// The state.
        status: GitDiffStatus,
        /// Lines added.
        additions: u64,
        /// Lines removed.
        deletions: u64,
        /// Lines changed.
        changes: u64,
        /// The diff.
        patch: String,
        /// The repository.
        repository: Opt<String>,
    }

    /// The artifact that was read.
    #[derive(Default)]
    pub struct ArtifactRead {
        /// The artifact, by name.
        slug: String,
        /// The version.
        ver: Opt<String>,
        /// Set when it was not read before.
        seeded: Opt<bool>,
    }
}

open_enum! {
    /// The media type of a picture.
    pub enum ImageMediaType {
        Jpeg = "image/jpeg",
        Png = "image/png",
        Gif = "image/gif",
        Webp = "image/webp",
    }

    /// The kind of a cell.
    pub enum CellType {
        Code = "code",
        Markdown = "markdown",
    }

    /// What to do with a cell.
    pub enum CellEditMode {
        Replace = "replace",
        Insert = "insert",
        Delete = "delete",
    }

    /// Whether a file is new.
    pub enum WriteKind {
        Create = "create",
        Update = "update",
    }

    /// Whether version control knew the file.
    pub enum GitDiffStatus {
        Modified = "modified",
        Added = "added",
    }
}

union! {
    /// What reading a file gave, told apart by `type`.
    pub enum FileReadOutput by "type" {
        /// Text.
        "text" => Text(FileReadText),
        /// A picture.
        "image" => Image(FileReadImage),
        /// A notebook.
        "notebook" => Notebook(FileReadNotebook),
        /// A PDF.
        "pdf" => Pdf(FileReadPdf),
        /// A PDF in pages.
        "parts" => Parts(FileReadParts),
    }
}
