//! Documents and run files against their JSON Schemas.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::Value;

use super::{flashscope, stdout};

/// Commands and the names of their schemas. The first command that fits counts.
const SCHEMAS: [(&[&str], &str); 19] = [
    (&["plan"], "plan"),
    (&["apply"], "apply"),
    (&["undo"], "undo"),
    (&["restore"], "restore"),
    (&["bench", "cache"], "bench-cache"),
    (&["bench", "files"], "bench-files"),
    (&["bench", "methods"], "bench-methods"),
    (&["report", "compare"], "report-compare"),
    (&["fs", "compare"], "fs-compare"),
    (&["sim", "fit"], "sim-fit"),
    (&["sim", "list"], "sim-list"),
    (&["sim", "replay"], "sim-replay"),
    (&["sim", "show"], "sim-show"),
    (&["list", "--watch"], "list-event"),
    (&["list"], "list"),
    (&["watch"], "watch"),
    (&["whatif"], "whatif"),
    (&["verify"], "verify"),
    (&[], "findings"),
];

/// The schemas of the program under test, by name.
static VALIDATORS: LazyLock<BTreeMap<String, Validator>> = LazyLock::new(|| {
    let names = stdout(&flashscope(&["schema"]));
    let validator = |name: &str| {
        let schema: Value = serde_json::from_str(&stdout(&flashscope(&["schema", name]))).unwrap();
        (name.to_owned(), jsonschema::draft202012::new(&schema).unwrap())
    };
    names.lines().map(validator).collect()
});

/// The names of all schemas.
pub fn names() -> Vec<&'static str> {
    VALIDATORS.keys().map(String::as_str).collect()
}

/// The name of the schema for the document of a command. A stored run of `bench files` or `bench methods`
/// keeps its own.
pub fn name_of(arguments: &[&str], document: &Value) -> &'static str {
    if arguments.first() == Some(&"report") && document.get("rounds").is_some() {
        return "bench-files";
    }
    if arguments.first() == Some(&"report") && document.get("ways").is_some() {
        return "bench-methods";
    }
    if arguments.first() == Some(&"verify") && arguments.contains(&"--full") {
        return "verify-full";
    }
    if arguments.first() == Some(&"check") && arguments.contains(&"--class") {
        return "classes";
    }
    if arguments.first() == Some(&"fs") && arguments.contains(&"--factors") {
        return "fs-factors";
    }
    if arguments.first() == Some(&"watch") && arguments.contains(&"--limit") {
        return "watch-limit";
    }
    SCHEMAS.iter().find(|(command, _)| arguments.starts_with(command)).unwrap().1
}

/// Fails if a document does not match its schema, or has an interval that holds none of its own numbers.
pub fn assert_valid(name: &str, document: &Value) {
    assert_intervals(name, document);
    let errors: Vec<String> = VALIDATORS[name]
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{name}: {errors:#?}\n{document:#}");
}

/// Fails if an object has `low` above `high`, or has other numbers and none of them lies between.
fn assert_intervals(name: &str, value: &Value) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| assert_intervals(name, item)),
        Value::Object(fields) => {
            fields.values().for_each(|field| assert_intervals(name, field));
            let number = |key: &str| fields.get(key).and_then(Value::as_f64);
            let (Some(low), Some(high)) = (number("low"), number("high")) else { return };
            let ends = ["low", "high"];
            let others: Vec<f64> = fields
                .iter()
                .filter(|(key, _)| !ends.contains(&key.as_str()))
                .filter_map(|(_, field)| field.as_f64())
                .collect();
            let is_inside = others.is_empty() || others.iter().any(|other| (low..=high).contains(other));
            assert!(low <= high && is_inside, "{name}: an interval without its value: {value:#}");
        }
        _ => {}
    }
}

/// Whether a document matches a schema.
pub fn is_valid(name: &str, document: &Value) -> bool {
    VALIDATORS[name].is_valid(document)
}
