//! The JSON Schemas of all documents, and of run files.

use flashscope_record::RunFile;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::{
    ApplyDocument, BenchCacheDocument, BenchFilesDocument, BenchMethodsDocument, Body, ClassesDocument,
    CompareDocument, Document, FindingsDocument, FsCompareDocument, FsFactorsDocument, ListDocument,
    ListEventDocument, PlanDocument, RestoreDocument, ServedDocument, ServingDocument, SimFitDocument,
    SimListDocument, SimReplayDocument, SimShowDocument, UndoDocument, VerifyDocument, VerifyFullDocument,
    WatchDocument, WhatifDocument, WritebackLimitDocument,
};

/// A schema and its name.
pub struct Schema {
    /// The name of its file in `docs/schema`, without `.json`.
    pub name: &'static str,
    /// Makes it.
    pub make: fn() -> Value,
}

/// The schemas of all documents, and of run files.
pub const ALL: [Schema; 26] = [
    of::<FindingsDocument>(),
    of::<ClassesDocument>(),
    of::<BenchFilesDocument>(),
    of::<BenchMethodsDocument>(),
    of::<BenchCacheDocument>(),
    of::<CompareDocument>(),
    of::<FsCompareDocument>(),
    of::<FsFactorsDocument>(),
    of::<ListDocument>(),
    of::<ListEventDocument>(),
    of::<WatchDocument>(),
    of::<WritebackLimitDocument>(),
    of::<VerifyDocument>(),
    of::<VerifyFullDocument>(),
    of::<PlanDocument>(),
    of::<ApplyDocument>(),
    of::<UndoDocument>(),
    of::<RestoreDocument>(),
    of::<WhatifDocument>(),
    of::<SimListDocument>(),
    of::<SimShowDocument>(),
    of::<ServingDocument>(),
    of::<ServedDocument>(),
    of::<SimReplayDocument>(),
    of::<SimFitDocument>(),
    Schema { name: RUN_FILE, make: run_file },
];

/// The name of the schema of run files.
const RUN_FILE: &str = "run-file";

const fn of<T: Body + 'static>() -> Schema {
    Schema { name: T::NAME, make: make::<T> }
}

fn make<T: Body + 'static>() -> Value {
    titled::<Document<'static, T>>(T::NAME, &format!("Printed by: {}.", T::COMMANDS))
}

fn run_file() -> Value {
    titled::<RunFile>(RUN_FILE, "Written by: -o FILE.flashscope.json. Durations are in nanoseconds.")
}

/// The schema of what is written as `T`, with the name of the document and a sentence on its origin.
fn titled<T: JsonSchema>(name: &str, origin: &str) -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let description = format!("{description} {origin}");
    schema.insert("title".to_owned(), json!(format!("flashscope {name}")));
    schema.insert("description".to_owned(), json!(description));
    schema.to_value()
}
