//! Which certificates are trusted for what, by the rules of programs in Go. The library beneath asks an authority
//! neither whether it may sign nor whether its time is over.

use std::time::Duration;

use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, UnixTime};

use super::subject::{self, OBJECT, SEQUENCE, expect, take};
use crate::apiserver::stamp;

/// More tags of DER.
const BOOLEAN: u8 = 0x01;
const BITS: u8 = 0x03;
const OCTETS: u8 = 0x04;
const SHORT_TIME: u8 = 0x17;
const LONG_TIME: u8 = 0x18;
const EXTENSIONS: u8 = 0xa3;

const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x13];
const KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x0f];
/// The bit of the first byte of usages that lets a key sign certificates.
const SIGNS: u8 = 0x04;
const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x25];
const ANY_USAGE: &[u8] = &[0x55, 0x1d, 0x25, 0x00];

/// What a certificate is shown for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Server,
    Client,
}

impl Purpose {
    const fn object(self) -> &'static [u8] {
        match self {
            Self::Server => &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01],
            Self::Client => &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x02],
        }
    }
}

/// Certificates that somebody trusts: some may sign others, and each is trusted as it stands.
#[derive(Clone, Debug)]
pub(super) struct Authorities {
    pub(super) certificates: Vec<CertificateDer<'static>>,
    pub(super) purpose: Purpose,
}

impl Authorities {
    /// Those that may sign others now. Of the rest the holders of keys speak for themselves alone.
    pub(super) fn roots(&self, now: UnixTime) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        let may_sign = |it: &&CertificateDer<'_>| may_sign(it) && is_valid(it, now);
        roots.add_parsable_certificates(self.certificates.iter().filter(may_sign).cloned());
        roots
    }

    /// Whether a certificate is one of them, valid now and made for the purpose. Then it is trusted as it stands, as
    /// programs in Go do: envtest names the certificate of a webhook as its authority, not the one that has signed
    /// it.
    pub(super) fn has(&self, certificate: &CertificateDer<'_>, now: UnixTime) -> bool {
        self.certificates.contains(certificate)
            && is_valid(certificate, now)
            && is_for(certificate, self.purpose)
    }
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
    let mut times = subject::fields(certificate).map(|it| it.times).unwrap_or_default();
    let times = time(&mut times).zip(time(&mut times));
    times.is_some_and(|(begin, end)| begin <= now && now <= end)
}

/// The content of an extension, empty if the certificate has none of that name; none if that cannot be read.
fn extension<'a>(certificate: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let mut rest = subject::fields(certificate)?.rest;
    // The subject and its key come first; two numbers, which nobody uses, may follow.
    while !rest.is_empty() {
        let (tag, mut all) = take(&mut rest)?;
        if tag != EXTENSIONS {
            continue;
        }
        let mut all = expect(&mut all, SEQUENCE)?;
        while !all.is_empty() {
            let mut one = expect(&mut all, SEQUENCE)?;
            let is_it = expect(&mut one, OBJECT)? == name;
            if one.first() == Some(&BOOLEAN) {
                take(&mut one)?; // whether it is critical
            }
            if is_it {
                return expect(&mut one, OCTETS);
            }
        }
    }
    Some(&[])
}

/// Whether it is an authority, as all of the first version are. Its key may be for something else.
fn may_sign(certificate: &[u8]) -> bool {
    let mut usages = extension(certificate, KEY_USAGE).unwrap_or_default();
    // A byte says how many bits at the end do not count.
    if let Some([_, usages @ ..]) = expect(&mut usages, BITS)
        && usages.iter().any(|it| *it != 0)
        && usages[0] & SIGNS == 0
    {
        return false;
    }
    let is_first = subject::fields(certificate).is_some_and(|it| it.is_first_version);
    let mut constraints = extension(certificate, BASIC_CONSTRAINTS).unwrap_or_default();
    let mut constraints = expect(&mut constraints, SEQUENCE).unwrap_or_default();
    is_first || expect(&mut constraints, BOOLEAN).is_some_and(|it| it != [0])
}

/// Whether it names the purpose, or none at all.
fn is_for(certificate: &[u8], purpose: Purpose) -> bool {
    let Some(mut usages) = extension(certificate, EXTENDED_KEY_USAGE) else { return false };
    if usages.is_empty() {
        return true;
    }
    let mut usages = expect(&mut usages, SEQUENCE).unwrap_or_default();
    std::iter::from_fn(|| expect(&mut usages, OBJECT))
        .any(|it| it == ANY_USAGE || it == purpose.object())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rcgen::{
        BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, KeyPair,
        KeyUsagePurpose,
    };
    use rustls::pki_types::{CertificateDer, UnixTime};

    use super::{Authorities, Purpose, is_for, may_sign};

    fn made(params: &CertificateParams) -> CertificateDer<'static> {
        let key = KeyPair::generate().expect("a key");
        params.self_signed(&key).expect("a certificate").der().clone()
    }

    #[test]
    fn an_authority_is_trusted_from_its_begin_to_its_end() {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        for (begin, first, end, last) in
            [(1999, 946_598_400, 2049, 2_493_072_000), (1950, 0, 2050, 2_524_608_000)]
        {
            params.not_before = rcgen::date_time_ymd(begin, 12, 31);
            params.not_after = rcgen::date_time_ymd(end, 1, 1);
            let (own, other) = (made(&params), made(&params));
            let trusted = |all: &[&CertificateDer<'static>], seconds| {
                let certificates = all.iter().map(|&it| it.clone()).collect();
                let all = Authorities { certificates, purpose: Purpose::Server };
                let now = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
                (all.has(&own, now), all.roots(now).len())
            };
            assert!(first == 0 || trusted(&[&own], first - 1) == (false, 0));
            for (seconds, is) in [(first, true), (last, true), (last + 1, false)] {
                assert_eq!(trusted(&[&own], seconds), (is, usize::from(is)), "{seconds} of {end}");
            }
            assert_eq!(trusted(&[], last), (false, 0));
            assert_eq!(trusted(&[&other], last), (false, 1));
        }
    }

    #[test]
    fn only_an_authority_signs_others() {
        for (is_ca, may) in [
            (IsCa::NoCa, false),
            (IsCa::ExplicitNoCa, false),
            (IsCa::Ca(BasicConstraints::Unconstrained), true),
            (IsCa::Ca(BasicConstraints::Constrained(0)), true),
        ] {
            let mut params = CertificateParams::default();
            params.is_ca = is_ca;
            let certificate = made(&params);
            assert_eq!(may_sign(&certificate), may, "{is_ca:?}");
            for end in 0..certificate.len() {
                assert!(!may_sign(&certificate[..end]), "{is_ca:?}, cut at {end}");
            }
        }
    }

    #[test]
    fn an_authority_signs_with_a_key_that_may() {
        use KeyUsagePurpose as Usage;
        for (usages, may) in [
            (vec![], true),
            (vec![Usage::KeyCertSign], true),
            (vec![Usage::DigitalSignature, Usage::KeyCertSign, Usage::DecipherOnly], true),
            (vec![Usage::DigitalSignature, Usage::CrlSign], false),
            (vec![Usage::DecipherOnly], false),
        ] {
            let mut params = CertificateParams::default();
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            params.key_usages = usages.clone();
            assert_eq!(may_sign(&made(&params)), may, "{usages:?}");
        }
    }

    #[test]
    fn a_certificate_is_for_the_purposes_that_it_names() {
        use ExtendedKeyUsagePurpose as Usage;
        for (usages, server, client) in [
            (vec![], true, true),
            (vec![Usage::ServerAuth], true, false),
            (vec![Usage::ClientAuth], false, true),
            (vec![Usage::CodeSigning, Usage::ClientAuth], false, true),
            (vec![Usage::CodeSigning], false, false),
            (vec![Usage::Any], true, true),
        ] {
            let mut params = CertificateParams::default();
            params.extended_key_usages = usages.clone();
            let certificate = made(&params);
            let both = [Purpose::Server, Purpose::Client].map(|it| is_for(&certificate, it));
            assert_eq!(both, [server, client], "{usages:?}");
        }
    }
}
