//! A pipeline as a picture: text for Mermaid, or an SVG drawing that needs nothing else.

mod chart;
mod layout;
mod mermaid;
mod overlay;
mod path;
mod svg;
mod text;
mod theme;

pub use mermaid::mermaid;
pub use overlay::{Flow, Heat, Overlay, Stay};
pub use path::{Path, Step};
pub use svg::{picture, svg};
pub use theme::{page_style, style};
