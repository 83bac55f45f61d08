//! Addresses and networks.

use std::net::IpAddr;

use super::{Function, none, one, tenth};
use crate::cel::value::{Outcome, Value};

const fn of_ip(name: &'static str) -> Function {
    Function { name, overloads: &[".ip bool"], cost: one, run }
}

const fn of_text(name: &'static str, overloads: &'static [&'static str]) -> Function {
    Function { name, overloads, cost: tenth, run }
}

pub(super) const TABLE: &[Function] = &[
    of_text("ip", &["string ip", ".cidr ip"]),
    of_text("isIP", &["string bool"]),
    of_text("ip.isCanonical", &["string bool"]),
    of_text("cidr", &["string cidr"]),
    of_text("isCIDR", &["string bool"]),
    Function { name: "family", overloads: &[".ip int"], cost: one, run },
    of_ip("isUnspecified"),
    of_ip("isLoopback"),
    of_ip("isLinkLocalMulticast"),
    of_ip("isLinkLocalUnicast"),
    of_ip("isGlobalUnicast"),
    of_text("containsIP", &[".cidr,string bool", ".cidr,ip bool"]),
    of_text("containsCIDR", &[".cidr,string bool", ".cidr,cidr bool"]),
    Function { name: "prefixLength", overloads: &[".cidr int"], cost: one, run },
    Function { name: "masked", overloads: &[".cidr cidr"], cost: one, run },
];

/// An address; one of the fourth version within one of the sixth is none, nor is one with a zone.
pub(super) fn address(text: &str) -> Option<IpAddr> {
    let ip = text.parse().ok()?;
    match ip {
        IpAddr::V6(it) if it.to_ipv4_mapped().is_some() => None,
        ip => Some(ip),
    }
}

pub(crate) fn network(text: &str) -> Option<(IpAddr, u8)> {
    let (ip, length) = text.split_once('/')?;
    let ip = address(ip)?;
    let is_plain = length == "0" || !length.starts_with(['0', '+']);
    let length = length.parse::<u8>().ok().filter(|it| is_plain && *it <= bits(ip))?;
    Some((ip, length))
}

fn bits(ip: IpAddr) -> u8 {
    if ip.is_ipv4() { 32 } else { 128 }
}

fn masked(ip: IpAddr, length: u8) -> IpAddr {
    match ip {
        IpAddr::V4(it) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0);
            IpAddr::V4((u32::from(it) & mask).into())
        }
        IpAddr::V6(it) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
            IpAddr::V6((u128::from(it) & mask).into())
        }
    }
}

fn run<'a>(name: &str, args: &[Value<'a>]) -> Outcome<'a> {
    let no_ip = |it: &str| {
        let first = it.chars().find(|it| matches!(it, '.' | ':' | '%'));
        let why = match first {
            Some('%') => "missing IPv6 address".to_owned(),
            Some(':') if !it.starts_with(|it: char| it.is_ascii_hexdigit()) => {
                format!("each colon-separated field must have at least one digit (at {it:?})")
            }
            _ => "unable to parse IP".to_owned(),
        };
        format!(
            "IP Address {it:?} parse error during conversion from string: ParseAddr({it:?}): {why}"
        )
    };
    let no_net =
        |it: &str| format!("network address parse error during conversion from string: {it}");
    let contains = |net: (IpAddr, u8), ip: IpAddr| {
        net.0.is_ipv4() == ip.is_ipv4() && masked(ip, net.1) == masked(net.0, net.1)
    };
    Ok(match (name, args) {
        ("ip", [Value::Text(it)]) => Value::Ip(address(it).ok_or_else(|| no_ip(it))?),
        ("ip", [Value::Cidr(it, _)]) => Value::Ip(*it),
        ("isIP", [Value::Text(it)]) => Value::Bool(address(it).is_some()),
        ("ip.isCanonical", [Value::Text(it)]) => {
            Value::Bool(address(it).ok_or_else(|| no_ip(it))?.to_string() == **it)
        }
        ("cidr", [Value::Text(it)]) => {
            let (ip, length) = network(it).ok_or_else(|| no_net(it))?;
            Value::Cidr(ip, length)
        }
        ("isCIDR", [Value::Text(it)]) => Value::Bool(network(it).is_some()),
        ("prefixLength", [Value::Cidr(_, length)]) => Value::Int(i64::from(*length)),
        ("masked", [Value::Cidr(ip, length)]) => Value::Cidr(masked(*ip, *length), *length),
        ("family", [Value::Ip(it)]) => Value::Int(if it.is_ipv4() { 4 } else { 6 }),
        ("containsIP", [Value::Cidr(net, length), other]) => {
            let ip = match other {
                Value::Ip(ip) => *ip,
                Value::Text(it) => address(it).ok_or_else(|| no_ip(it))?,
                _ => return none(),
            };
            Value::Bool(contains((*net, *length), ip))
        }
        ("containsCIDR", [Value::Cidr(net, length), other]) => {
            let (ip, inner) = match other {
                Value::Cidr(ip, inner) => (*ip, *inner),
                Value::Text(it) => network(it).ok_or_else(|| no_net(it))?,
                _ => return none(),
            };
            Value::Bool(*length <= inner && contains((*net, *length), masked(ip, inner)))
        }
        (_, [Value::Ip(it)]) => Value::Bool(is(name, *it)),
        _ => return none(),
    })
}

fn is(name: &str, ip: IpAddr) -> bool {
    let local = match ip {
        IpAddr::V4(it) => it.is_link_local(),
        IpAddr::V6(it) => it.segments()[0] & 0xffc0 == 0xfe80,
    };
    let local_multicast = match ip {
        IpAddr::V4(it) => it.octets()[..3] == [224, 0, 0],
        IpAddr::V6(it) => it.segments()[0] & 0xff0f == 0xff02,
    };
    let is_broadcast = matches!(ip, IpAddr::V4(it) if it.is_broadcast());
    match name {
        "isUnspecified" => ip.is_unspecified(),
        "isLoopback" => ip.is_loopback(),
        "isLinkLocalMulticast" => local_multicast,
        "isLinkLocalUnicast" => local,
        _ => {
            !(ip.is_unspecified() || ip.is_loopback() || ip.is_multicast() || local || is_broadcast)
        }
    }
}
