//! The user whom a certificate names: the common name is their name, organizations are their groups.

use crate::apiserver::User;

/// The tags of DER that are looked at.
pub(super) const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
pub(super) const OBJECT: u8 = 0x06;
const VERSION: u8 = 0xa0;
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const ORGANIZATION: &[u8] = &[0x55, 0x04, 0x0a];

/// A value of DER: its tag and its content.
type Part<'a> = (u8, &'a [u8]);

/// Takes the first value off the bytes; none if they hold none.
pub(super) fn take<'a>(bytes: &mut &'a [u8]) -> Option<Part<'a>> {
    let (&[tag, first], rest) = bytes.split_first_chunk()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    *bytes = rest;
    Some((tag, content))
}

/// The same, if it has the tag.
pub(super) fn expect<'a>(bytes: &mut &'a [u8], tag: u8) -> Option<&'a [u8]> {
    take(bytes).filter(|it| it.0 == tag).map(|it| it.1)
}

/// The fields of a certificate that are looked at, in DER.
pub(super) struct Fields<'a> {
    pub(super) is_first_version: bool,
    pub(super) times: &'a [u8],
    /// The subject and all that follows it.
    pub(super) rest: &'a [u8],
}

pub(super) fn fields(mut certificate: &[u8]) -> Option<Fields<'_>> {
    let mut signed = expect(&mut certificate, SEQUENCE)?;
    let mut fields = expect(&mut signed, SEQUENCE)?;
    // It is left out of a certificate of the first version.
    let is_first_version = fields.first() != Some(&VERSION);
    if !is_first_version {
        take(&mut fields)?;
    }
    // The number, the algorithm and the issuer come first.
    for _ in 0..3 {
        take(&mut fields)?;
    }
    let times = expect(&mut fields, SEQUENCE)?;
    Some(Fields { is_first_version, times, rest: fields })
}

/// The user of a certificate, in DER; none if it names nobody.
pub(super) fn user(certificate: &[u8]) -> Option<User> {
    let mut subject = expect(&mut fields(certificate)?.rest, SEQUENCE)?;
    let (mut name, mut groups) = (None, Vec::new());
    while let Some(mut set) = expect(&mut subject, SET) {
        while let Some(mut pair) = expect(&mut set, SEQUENCE) {
            let kind = expect(&mut pair, OBJECT)?;
            let text = String::from_utf8_lossy(take(&mut pair)?.1).into_owned();
            match kind {
                COMMON_NAME => name = Some(text),
                ORGANIZATION => groups.push(text),
                _ => {}
            }
        }
    }
    Some(User::new(name.filter(|it| !it.is_empty())?, groups))
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, KeyPair};

    use super::user;

    #[test]
    fn a_certificate_names_its_user_and_what_is_none_names_nobody() {
        let mut params = CertificateParams::new(vec!["a.example.com".to_owned()]).expect("a name");
        params.distinguished_name.push(DnType::CommonName, "jane");
        params.distinguished_name.push(DnType::OrganizationName, "makers");
        let key = KeyPair::generate().expect("a key");
        let certificate = params.self_signed(&key).expect("a certificate");
        let jane = user(certificate.der()).expect("somebody");
        assert_eq!(jane.name, "jane");
        assert_eq!(jane.groups, ["makers", "system:authenticated"]);
        let bytes: &[u8] = certificate.der();
        // However it is cut, nothing breaks.
        for end in 0..bytes.len() {
            assert_eq!(user(&bytes[..end]), None);
        }
        for at in 0..bytes.len().min(300) {
            let mut changed = bytes.to_vec();
            changed[at] ^= 0xff;
            drop(user(&changed));
        }
        assert_eq!(user(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff]), None);
    }
}
