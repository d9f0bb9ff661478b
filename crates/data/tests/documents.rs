//! What the documents show is what the code reads.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_data::{Encoding, Schema};
use std::path::Path;

#[test]
fn every_schema_in_the_documents_is_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (document, entries) in [("docs/data.md", 11), ("README.md", 3)] {
        let text = std::fs::read_to_string(root.join(document)).unwrap();
        let block = text.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
        let schema = Schema::parse(block).unwrap();
        assert_eq!(Encoding::of(&schema).dimension(), entries, "{document}");
    }
}
