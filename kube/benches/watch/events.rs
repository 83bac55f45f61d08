//! The events: changes of `ConfigMap`s of a kilobyte each, in the form that an API server sends.

/// The number of events in a block, which is sent again and again.
pub(crate) const BLOCK: usize = 1000;

/// An event of 1000 bytes, including its line end.
fn event(number: usize) -> String {
    let head = format!(
        r#"{{"type":"MODIFIED","object":{{"kind":"ConfigMap","apiVersion":"v1","metadata":{{"name":"settings-{number}","namespace":"default","uid":"8a6d4a51-9c1c-4a31-8b1e-{number:012}","resourceVersion":"{number}","creationTimestamp":"2024-05-06T07:08:09Z","labels":{{"app":"web","tier":"front","copy":"yes"}},"annotations":{{"example.com/checked-at":"2024-05-06T07:08:10Z"}},"managedFields":[{{"manager":"kubectl","operation":"Update","apiVersion":"v1","time":"2024-05-06T07:08:09Z","fieldsType":"FieldsV1","fieldsV1":{{"f:data":{{".":{{}},"f:settings.toml":{{}}}}}}}}]}},"data":{{"#
    );
    let data = r#""level":"info","replicas":"3","settings.toml":"[server]\nport = 8080\n"#;
    let filler = "x".repeat(1000 - head.len() - data.len() - r#""}}}"#.len());
    format!("{head}{data}{filler}\"}}}}}}\n")
}

/// Lines that a server sends as one chunk.
pub(crate) fn block() -> String {
    (0..BLOCK).map(event).collect()
}
