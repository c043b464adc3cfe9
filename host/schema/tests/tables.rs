//! Tables of built-in kinds against those that a real kube-apiserver 1.36.3 gave for the same objects (recorded:
//! `cases/tables.json`).

use serde_json::Value;
use windlass_object::{Gvk, Meta, time};
use windlass_schema::builtin::table;
use windlass_schema::columns::Columns;

#[test]
fn columns_and_cells_are_kube_apiservers() {
    let recorded: Value = serde_json::from_str(include_str!("cases/tables.json")).unwrap();
    let mut faults = Vec::new();
    for (name, expected) in recorded.as_object().unwrap() {
        let (api_version, kind) = name.rsplit_once('/').unwrap();
        let Some(kind) = table().kind(&Gvk::from_api_version(api_version, kind)) else {
            faults.push(format!("{name} is not served"));
            continue;
        };
        let columns = Columns::builtin(kind);
        let own: Vec<Value> =
            columns.iter().map(|c| serde_json::json!([c.name, c.kind, c.format, c.priority])).collect();
        if expected["columns"] != Value::Array(own.clone()) {
            faults.push(format!(
                "{name}\n  expected {}\n  found    {}",
                expected["columns"],
                Value::Array(own)
            ));
            continue;
        }
        let now = time::parse(expected["now"].as_str().unwrap()).unwrap();
        for row in expected["rows"].as_array().unwrap() {
            let cells = columns.cells(&row["object"], now);
            for ((column, expected), found) in
                columns.iter().zip(row["cells"].as_array().unwrap()).zip(&cells)
            {
                if !same(expected, found) {
                    let name = row["object"].name();
                    faults.push(format!(
                        "{} {name}, {}: expected {expected}, found {found}",
                        kind.kind, column.name
                    ));
                }
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Ages may differ by the second that passed while they were recorded.
fn same(expected: &Value, found: &Value) -> bool {
    let seconds = |value: &Value| -> Option<(String, i64)> {
        let text = value.as_str()?.replace("m", "m ");
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        let rest: String = text.chars().filter(|c| !c.is_ascii_digit()).collect();
        let aged = text.ends_with('s') || text.ends_with("s ago)");
        Some((rest, digits.parse().ok()?)).filter(|_| aged)
    };
    expected == found
        || match (seconds(expected), seconds(found)) {
            (Some((a, x)), Some((b, y))) => a == b && (x - y).abs() <= 2,
            _ => false,
        }
}
