//! The tokens by which a list goes on.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

const VERSION: &str = "meta.k8s.io/v1";

/// The position at which a list goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// The revision of the first page; none: the newest.
    pub(crate) revision: Option<u64>,
    /// The first key, relative to the namespace.
    pub(crate) start: String,
}

impl Token {
    pub(crate) fn write(&self) -> String {
        let revision = self.revision.map_or(json!(-1), |revision| json!(revision));
        let token = json!({"v": VERSION, "rv": revision, "start": format!("/{}", self.start)});
        URL_SAFE_NO_PAD.encode(token.to_string())
    }

    /// Reads a token; the error is the server's message.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let invalid =
            |why: &str| format!("invalid continue token: continue key is not valid: {why}");
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|error| {
            let at = match error {
                base64::DecodeError::InvalidByte(at, _)
                | base64::DecodeError::InvalidLastSymbol(at, _) => at,
                _ => text.len() / 4 * 4,
            };
            invalid(&format!("illegal base64 data at input byte {at}"))
        })?;
        let token: Value =
            serde_json::from_slice(&bytes).map_err(|why| invalid(&why.to_string()))?;
        let version = token["v"].as_str().unwrap_or("");
        if version != VERSION {
            return Err(invalid(&format!(
                "server does not recognize this encoded version {version}"
            )));
        }
        let revision = match token["rv"].as_i64() {
            None | Some(0) => {
                let why = format!("incorrect encoded start resourceVersion (version {VERSION})");
                return Err(invalid(&why));
            }
            Some(revision) => u64::try_from(revision).ok(),
        };
        let start = token["start"].as_str().unwrap_or("");
        if start.is_empty() {
            return Err(invalid(&format!("encoded start key empty (version {VERSION})")));
        }
        let relative = start.strip_prefix('/').unwrap_or(start);
        // The key must not lead out of its folder.
        let strange = |part: &str| matches!(part, "" | "." | "..");
        let mut parts = relative.split('/').peekable();
        while let Some(part) = parts.next() {
            if strange(part) && (parts.peek().is_some() || !part.is_empty() || relative.is_empty())
            {
                return Err(invalid(start));
            }
        }
        Ok(Self { revision, start: relative.to_owned() })
    }
}

/// The content of a token: the revision, if it is bound to one, and the first key.
pub(crate) fn read(token: &str) -> Result<(Option<u64>, String), String> {
    Token::read(token).map(|it| (it.revision, format!("/{}", it.start)))
}
