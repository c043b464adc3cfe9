//! The control plane's own rules, called by the API server in this process.

use windlass_apiserver::admission::{Admission, Denied, Operation, Review};
use windlass_validate as rules;

/// Defaults, permanent ids, finalizers and rules of our kinds; deletion protection of all.
pub(crate) struct Rules;

impl Admission for Rules {
    fn admit(&self, review: &mut Review) -> Result<(), Denied> {
        // Status and scale are other controllers' business, and have no rules here.
        if !review.subresource.is_empty() {
            return Ok(());
        }
        let operation = match review.operation {
            Operation::Create => rules::Operation::Create,
            Operation::Update => rules::Operation::Update,
            Operation::Delete => rules::Operation::Delete,
        };
        let old = review.old.clone();
        let mut gone = serde_json::Value::Null;
        let object = match (&mut review.object, &old) {
            (Some(object), _) => object,
            (None, Some(old)) => {
                gone.clone_from(old);
                &mut gone
            }
            (None, None) => return Ok(()),
        };
        match rules::admit(operation, &review.gvk, object, old.as_deref()) {
            Ok(warnings) => {
                review.warnings.extend(warnings.into_iter().map(|warning| warning.0));
                Ok(())
            }
            Err(denied) => Err(Denied { code: denied.code, message: denied.for_clients() }),
        }
    }
}
