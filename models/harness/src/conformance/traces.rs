//! The traces that a crate carries, compressed.

use std::io::Read as _;

use flate2::read::GzDecoder;

/// Files of recorded traces inside a program: the name of each, and its bytes as gzip packed them.
#[derive(Clone, Copy)]
pub struct Traces(pub &'static [(&'static str, &'static [u8])]);

impl Traces {
    /// Goes through the names.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|(name, _)| *name)
    }

    /// Returns the traces of a file, one a line; `None` if there is no file of that name.
    ///
    /// # Panics
    /// If the file is damaged.
    pub fn text(self, name: &str) -> Option<String> {
        let (_, bytes) = self.0.iter().find(|(known, _)| *known == name)?;
        let mut text = String::new();
        GzDecoder::new(*bytes).read_to_string(&mut text).expect("the carried traces are whole");
        Some(text)
    }
}

impl std::fmt::Debug for Traces {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
