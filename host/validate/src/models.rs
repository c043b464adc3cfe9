//! Resource models of a cluster: default grades, standard form, rules (spec 02 §3).

use serde_json::{Value, json};
use windlass_api::cluster::ResourceModel;
use windlass_object::path;
use windlass_object::quantity::Quantity;

use crate::fields::Errors;

/// The upper end of the last range.
const INFINITE: &str = "9223372036854775807";
/// Bounds of the default grades: cpu cores and memory.
const DEFAULT: [(&str, &str); 10] = [
    ("0", "0"),
    ("1", "4Gi"),
    ("2", "16Gi"),
    ("4", "32Gi"),
    ("8", "64Gi"),
    ("16", "128Gi"),
    ("32", "256Gi"),
    ("64", "512Gi"),
    ("128", "1Ti"),
    (INFINITE, INFINITE),
];

/// Sets the default grades on creation, and brings models to standard form: sorted, from 0, to infinity.
pub(crate) fn prepare(cluster: &mut Value, create: bool) {
    if path::list_at(cluster, &["spec", "resourceModels"]).is_empty() {
        if create {
            path::set(cluster, &["spec", "resourceModels"], defaults());
        }
        return;
    }
    let Some(Value::Array(models)) = path::get_mut(cluster, &["spec", "resourceModels"]) else { return };
    models.sort_by_key(|m| path::i64_at(m, &["grade"]).unwrap_or_default());
    set_bound(models.first_mut(), "min", "0");
    set_bound(models.last_mut(), "max", INFINITE);
}

/// Checks models in standard form; the first fault ends the check.
pub(crate) fn check(models: &[ResourceModel], errors: &mut Errors) {
    let mut previous: Option<&ResourceModel> = None;
    for (i, model) in models.iter().enumerate() {
        let at = format!("spec.resourceModels[{i}]");
        if let Some(previous) = previous {
            if previous.grade == model.grade {
                return errors.invalid(&format!("{at}.grade"), model.grade, "each grade may appear once");
            }
            if previous.ranges.len() != model.ranges.len() {
                return errors.invalid(
                    &format!("{at}.ranges"),
                    model.ranges.len(),
                    "all models must have the same number of ranges",
                );
            }
        }
        for (j, range) in model.ranges.iter().enumerate() {
            let at = format!("{at}.ranges[{j}]");
            let (Ok(min), Ok(max)) =
                (Quantity::parse(range.min.as_str()), Quantity::parse(range.max.as_str()))
            else {
                return errors.invalid(&at, range, "min and max must be quantities");
            };
            if max <= min {
                return errors.invalid(&format!("{at}.max"), &range.max, "max must be greater than min");
            }
            match previous.map(|p| p.ranges.get(j)) {
                None if !min.is_zero() => {
                    return errors.invalid(
                        &format!("{at}.min"),
                        &range.min,
                        "the first model must begin at 0",
                    );
                }
                Some(Some(before)) if before.name != range.name => {
                    let detail = "all models must name the same resources in the same order";
                    return errors.invalid(&format!("{at}.name"), &range.name, detail);
                }
                // Amounts are compared, not their spelling.
                Some(Some(before)) if Quantity::parse(before.max.as_str()).as_ref() != Ok(&min) => {
                    let detail = format!("must be the max of the model before, {}", before.max);
                    return errors.invalid(&format!("{at}.min"), &range.min, detail);
                }
                _ => {}
            }
            if i + 1 == models.len() && max.value() != i64::MAX {
                return errors.invalid(
                    &format!("{at}.max"),
                    &range.max,
                    format!("the last model must end at {INFINITE}"),
                );
            }
        }
        previous = Some(model);
    }
}

fn defaults() -> Value {
    DEFAULT
        .iter()
        .zip(DEFAULT.iter().skip(1))
        .enumerate()
        .map(|(grade, (low, high))| {
            json!({
                "grade": grade,
                "ranges": [
                    { "name": "cpu", "min": low.0, "max": high.0 },
                    { "name": "memory", "min": low.1, "max": high.1 },
                ],
            })
        })
        .collect()
}

fn set_bound(model: Option<&mut Value>, bound: &str, value: &str) {
    let ranges = model.and_then(|m| path::get_mut(m, &["ranges"])).and_then(Value::as_array_mut);
    for range in ranges.into_iter().flatten() {
        path::set(range, &[bound], value.into());
    }
}
