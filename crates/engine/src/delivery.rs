//! The built-in pipeline that carries messages to the outside. Its file is one of those that ship; it is carried here so
//! that every deployment has it before anything notifies anybody.

use model::owed::DELIVERY;
use model::pipeline::Source;

use crate::shell::{ApplyError, Engine};

/// The pipeline as it ships.
#[must_use]
pub fn source() -> Source {
    const SCHEMA: &str = "schemas/delivery.json";
    let mut source = Source::new("delivery.toml", include_str!("../../sending/delivery.toml"));
    let schema = include_str!("../../sending/schemas/delivery.json");
    source.files.insert(SCHEMA.to_owned(), schema.to_owned());
    source
}

impl Engine {
    /// Applies the built-in pipeline where there is none of its name. A version of somebody's own stays as it is.
    /// Tells whether there was none.
    pub async fn apply_delivery(&self) -> Result<bool, ApplyError> {
        if self.pipelines().current().in_force(DELIVERY).is_some() {
            return Ok(false);
        }
        self.apply(&source()).await.map(|(_, changed)| changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pipeline_that_is_carried_loads_under_the_name_the_model_knows() {
        let source = source();
        let pipeline =
            model::pipeline::load(&source).unwrap_or_else(|problems| panic!("{}", problems.render(&source)));
        assert_eq!(&*pipeline.name, DELIVERY);
    }
}
