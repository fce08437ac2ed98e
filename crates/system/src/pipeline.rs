//! Pipeline files that a system carries.

/// A pipeline file, with the files that it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PipelineFile {
    /// The name of the file, such as `skill-review.toml`.
    pub file: &'static str,
    pub toml: &'static str,
    /// Schemas and templates: the path by which the file names each, and its text.
    pub named: &'static [(&'static str, &'static str)],
}

impl PipelineFile {
    /// Returns a file that names no others.
    #[must_use]
    pub const fn new(file: &'static str, toml: &'static str) -> PipelineFile {
        PipelineFile { file, toml, named: &[] }
    }

    /// Adds the files that it names.
    #[must_use]
    pub const fn naming(self, named: &'static [(&'static str, &'static str)]) -> PipelineFile {
        PipelineFile { named, ..self }
    }
}

/// Makes the [`PipelineFile`] of a file in the folder of the system, with the schemas and templates that it names. For use in a
/// file right beneath `src`.
#[macro_export]
macro_rules! pipeline_file {
    ($file:literal $(, $named:literal)* $(,)?) => {
        $crate::PipelineFile::new($file, include_str!(concat!("../", $file)))
            .naming(&[$(($named, include_str!(concat!("../", $named)))),*])
    };
}
