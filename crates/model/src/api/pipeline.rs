//! Pipelines: what is in force, and bringing new versions into force.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Name;
use crate::digest::Digest;
use crate::json::Json;
use crate::submission::Status;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApplyBody {
    /// The pipeline file.
    pub toml: String,
    /// The files it names, by the path it names them with.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// This deployment's values for the file's parameters.
    #[serde(default)]
    pub params: Option<Json>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApplyAnswer {
    pub name: Name,
    pub version: u32,
    pub digest: Digest,
    /// False: exactly this was in force already.
    pub changed: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PipelineList {
    pub pipelines: Vec<PipelineView>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PipelineView {
    pub name: Name,
    pub title: String,
    pub version: u32,
    pub versions: Vec<u32>,
    pub digest: Digest,
    pub states: Vec<StateView>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StateView {
    pub name: Name,
    pub title: Option<String>,
    pub phase: Option<Name>,
    pub kind: String,
    pub actions: Vec<Name>,
    pub counts: Vec<StateCount>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StateCount {
    pub status: Status,
    pub count: u64,
}
