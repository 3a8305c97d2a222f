//! The JSON Schemas of all documents.

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::{
    BenchCacheDocument, BenchFilesDocument, BenchMethodsDocument, Body, CompareDocument, Document,
    FindingsDocument, ListDocument, ListEventDocument, ServedDocument, ServingDocument, SimFitDocument,
    SimListDocument, SimReplayDocument, SimShowDocument, WatchDocument,
};

/// A schema and its name.
pub struct Schema {
    /// The name of its file in `docs/schema`, without `.json`.
    pub name: &'static str,
    /// Makes it.
    pub make: fn() -> Value,
}

/// The schemas of all documents.
pub const ALL: [Schema; 14] = [
    of::<FindingsDocument>(),
    of::<BenchFilesDocument>(),
    of::<BenchMethodsDocument>(),
    of::<BenchCacheDocument>(),
    of::<CompareDocument>(),
    of::<ListDocument>(),
    of::<ListEventDocument>(),
    of::<WatchDocument>(),
    of::<SimListDocument>(),
    of::<SimShowDocument>(),
    of::<ServingDocument>(),
    of::<ServedDocument>(),
    of::<SimReplayDocument>(),
    of::<SimFitDocument>(),
];

const fn of<T: Body + 'static>() -> Schema {
    Schema { name: T::NAME, make: make::<T> }
}

fn make<T: Body + 'static>() -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<Document<'static, T>>();
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let description = format!("{description} Printed by: {}.", T::COMMANDS);
    schema.insert("title".to_owned(), json!(format!("flashscope {}", T::NAME)));
    schema.insert("description".to_owned(), json!(description));
    schema.to_value()
}
