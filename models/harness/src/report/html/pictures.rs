//! Pictures of the results of simulations.

use std::fmt::Write as _;

use super::escape;
use crate::report::Report;

/// Shows the pictures of a report, each as an image of its own: the content of a report may come
/// from anywhere, and an image runs no script and reaches for nothing.
pub(super) fn pictures(report: &Report) -> String {
    if report.pictures.is_empty() {
        return String::new();
    }
    let mut text = "<section id=\"pictures\">\n<h2>What the simulations come to</h2>\n\
                    <div class=\"pictures\">\n"
        .to_owned();
    for picture in &report.pictures {
        let title = escape(&picture.title);
        let _infallible = writeln!(
            text,
            "<figure><img alt=\"{title}\" src=\"data:image/svg+xml,{}\"><figcaption>{title}\
             </figcaption></figure>",
            encoded(&picture.svg),
        );
    }
    text.push_str("</div>\n</section>\n");
    text
}

/// Writes a text so that it is valid in an address.
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len() * 2);
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~/:;=,()".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _infallible = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Picture;

    #[test]
    fn a_picture_cannot_leave_its_image() {
        let mut report = Report::new(0);
        report.pictures.push(Picture {
            component: "c".to_owned(),
            title: "a\"><script>".to_owned(),
            svg: "<svg>\"'> <script>#</svg>".to_owned(),
        });
        let page = pictures(&report);
        assert_eq!(page.matches('<').count(), page.matches('>').count());
        assert!(!page.contains("<script") && !page.contains("<svg"), "{page}");
        assert!(page.contains("%3Csvg%3E%22%27%3E%20"), "{page}");
    }
}
