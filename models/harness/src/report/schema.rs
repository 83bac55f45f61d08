//! The form of the report, for other programs.

use serde_json::Value;

use super::Report;

/// Returns the JSON Schema of the report. It is made from the types that are written, so the two
/// cannot differ; a later version may have more fields.
pub fn schema() -> Value {
    schemars::schema_for!(Report).to_value()
}
