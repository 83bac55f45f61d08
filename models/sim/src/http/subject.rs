//! The user whom a certificate names: the common name is their name, organizations are their groups. And whether a
//! certificate is trusted as it stands.

use std::time::Duration;

use rustls::pki_types::{CertificateDer, UnixTime};

use crate::apiserver::{User, stamp};

/// The tags of DER that are looked at.
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OBJECT: u8 = 0x06;
const VERSION: u8 = 0xa0;
const SHORT_TIME: u8 = 0x17;
const LONG_TIME: u8 = 0x18;
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const ORGANIZATION: &[u8] = &[0x55, 0x04, 0x0a];

/// A value of DER: its tag and its content.
type Part<'a> = (u8, &'a [u8]);

/// Takes the first value off the bytes; none if they hold none.
fn take<'a>(bytes: &mut &'a [u8]) -> Option<Part<'a>> {
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
fn expect<'a>(bytes: &mut &'a [u8], tag: u8) -> Option<&'a [u8]> {
    take(bytes).filter(|it| it.0 == tag).map(|it| it.1)
}

/// The times and the subject of a certificate, in DER.
fn fields(mut certificate: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut signed = expect(&mut certificate, SEQUENCE)?;
    let mut fields = expect(&mut signed, SEQUENCE)?;
    if fields.first() == Some(&VERSION) {
        take(&mut fields)?;
    }
    // The number, the algorithm and the issuer come first.
    for _ in 0..3 {
        take(&mut fields)?;
    }
    Some((expect(&mut fields, SEQUENCE)?, fields))
}

/// A time as `20240229120000Z`. The short form has two digits of the year, from 1950 on.
fn time(times: &mut &[u8]) -> Option<String> {
    let (tag, text) = take(times)?;
    let text = std::str::from_utf8(text).ok()?;
    match tag {
        SHORT_TIME => Some(format!("{}{text}", if text < "5" { "20" } else { "19" })),
        LONG_TIME => Some(text.to_owned()),
        _ => None,
    }
}

fn is_valid(certificate: &[u8], now: UnixTime) -> bool {
    let now = stamp(Duration::from_secs(now.as_secs())).replace(['-', 'T', ':'], "");
    let times = fields(certificate).and_then(|(mut it, _)| Some((time(&mut it)?, time(&mut it)?)));
    times.is_some_and(|(begin, end)| begin <= now && now <= end)
}

/// Whether a certificate is one of the authorities and valid now. Then it is trusted as it stands, as programs
/// in Go do: envtest names the certificate of a webhook as its authority, not the one that has signed it.
pub(super) fn is_trusted(
    certificate: &CertificateDer<'_>,
    authorities: &[CertificateDer<'_>],
    now: UnixTime,
) -> bool {
    authorities.contains(certificate) && is_valid(certificate, now)
}

/// The user of a certificate, in DER; none if it names nobody.
pub(super) fn user(certificate: &[u8]) -> Option<User> {
    let (_, mut fields) = fields(certificate)?;
    let mut subject = expect(&mut fields, SEQUENCE)?;
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
    use std::time::Duration;

    use rcgen::{CertificateParams, DnType, KeyPair};
    use rustls::pki_types::UnixTime;

    use super::{is_trusted, user};

    #[test]
    fn an_authority_is_trusted_from_its_begin_to_its_end() {
        let mut params = CertificateParams::default();
        for (begin, first, end, last) in
            [(1999, 946_598_400, 2049, 2_493_072_000), (1950, 0, 2050, 2_524_608_000)]
        {
            params.not_before = rcgen::date_time_ymd(begin, 12, 31);
            params.not_after = rcgen::date_time_ymd(end, 1, 1);
            let key = KeyPair::generate().expect("a key");
            let own = params.self_signed(&key).expect("a certificate");
            let other = params.self_signed(&key).expect("a certificate");
            let trusted = |all: &[_], seconds| {
                let now = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
                is_trusted(own.der(), all, now)
            };
            let all = [own.der().clone()];
            assert!(first == 0 || !trusted(&all, first - 1));
            for (seconds, is) in [(first, true), (last, true), (last + 1, false)] {
                assert_eq!(trusted(&all, seconds), is, "{seconds} of {end}");
            }
            assert!(!trusted(&[], last) && !trusted(&[other.der().clone()], last));
        }
    }

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
