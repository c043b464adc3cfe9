//! Work: its permanent id, and its manifests as they travel.

use serde_json::Value;
use windlass_api::labels::LABEL_WORK_ID;
use windlass_object::meta::Meta;
use windlass_object::path;
use windlass_policy::work::{prune, record_managed_keys};

use crate::denied::{Denied, Warning};
use crate::permanent_id;

pub(crate) fn admit(work: &mut Value) -> Result<Vec<Warning>, Denied> {
    permanent_id::ensure(work, LABEL_WORK_ID);
    let manifests = path::get_mut(work, &["spec", "workload", "manifests"]).and_then(Value::as_array_mut);
    for (i, object) in manifests.into_iter().flatten().enumerate() {
        if object.kind().is_empty() || object.api_version().is_empty() {
            return Err(Denied::forbidden(format!(
                "spec.workload.manifests[{i}]: Required value: a manifest needs apiVersion and kind"
            )));
        }
        prune(object);
    }
    record_managed_keys(work);
    Ok(Vec::new())
}
