//! The checked-in CustomResourceDefinitions are those of the types. `UPDATE=1` writes them.

use std::{fs, path::Path};

#[test]
fn checked_in_crds_are_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/crds");
    let update = std::env::var_os("UPDATE").is_some();
    let mut expected = Vec::new();
    for crd in windlass_api::crds() {
        let file = format!(
            "{}_{}.yaml",
            crd["spec"]["group"].as_str().unwrap(),
            crd["spec"]["names"]["plural"].as_str().unwrap()
        );
        let text = serde_saphyr::to_string(&crd).unwrap();
        let path = folder.join(&file);
        if update {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, &text).unwrap();
        }
        let found = fs::read_to_string(&path).unwrap_or_default();
        let back: serde_json::Value = serde_saphyr::from_str(&found).unwrap_or_default();
        assert_eq!(back, crd, "{file} reads back as something else; run with UPDATE=1");
        assert!(found == text, "{file} is out of date; run with UPDATE=1");
        expected.push(file);
    }
    let mut found: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected, "files that no definition makes");
}
