//! Nothing is left of a token after its drop: the whole memory of this process is searched.

use std::fs::{self, File};
use std::io::BufRead as _;
use std::os::unix::fs::FileExt as _;

use crate::request::http::{HttpConfig, Token};

/// The searched text with every bit inverted, so that the search itself leaves no copy.
struct Inverted(Vec<u8>);

impl Inverted {
    /// Makes a text that occurs nowhere else, like a token.
    fn new(seed: u8) -> Self {
        Self((0..=255).map(|at: u8| !(b'a' + at.wrapping_mul(7).wrapping_add(seed) % 26)).collect())
    }

    fn text(&self) -> String {
        self.0.iter().map(|byte| char::from(!byte)).collect()
    }

    /// The part that is searched: an allocator overwrites the ends of freed memory.
    fn middle(&self) -> &[u8] {
        &self.0[64..192]
    }

    /// Counts its copies in memory.
    fn copies(&self) -> usize {
        let (memory, mut block) = (File::open("/proc/self/mem").unwrap(), vec![0; 1 << 20]);
        let mut copies = 0;
        for (mut at, end) in writable() {
            while at < end {
                let wanted = block.len().min((end - at) as usize);
                let Ok(read) = memory.read_at(&mut block[..wanted], at) else { break };
                copies += self.copies_in(&block[..read]);
                // A copy may span two blocks.
                let overlap = if at + read as u64 == end { 0 } else { self.middle().len() - 1 };
                let Some(step) = read.checked_sub(overlap).filter(|step| *step > 0) else { break };
                at += step as u64;
            }
        }
        copies
    }

    fn copies_in(&self, bytes: &[u8]) -> usize {
        let (first, mut rest, mut copies) = (!self.middle()[0], bytes, 0);
        while let Ok(1..) = rest.skip_until(first) {
            let from = bytes.len() - rest.len() - 1;
            let is_here = |here: &[u8]| here.iter().zip(self.middle()).all(|(it, not)| *it == !not);
            copies += usize::from(bytes.get(from..from + self.middle().len()).is_some_and(is_here));
        }
        copies
    }
}

/// Returns the memory ranges that this process may write to.
fn writable() -> Vec<(u64, u64)> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let ranges = maps.lines().filter(|line| line.contains(" rw")).filter_map(|line| {
        let (from, to) = line.split(' ').next()?.split_once('-')?;
        Some((u64::from_str_radix(from, 16).ok()?, u64::from_str_radix(to, 16).ok()?))
    });
    ranges.collect()
}

#[test]
fn nothing_is_left_of_a_token_that_is_dropped() {
    let secret = Inverted::new(1);
    let config = HttpConfig::new("localhost").unwrap().token(Token::new(secret.text()));
    assert!(secret.copies() > 0, "it is found while it is there");
    let copy = config.clone();
    drop((config, copy));
    assert_eq!(secret.copies(), 0);
}

#[test]
fn nothing_is_left_of_a_token_that_was_read_from_a_file() {
    let secret = Inverted::new(2);
    let path = std::env::temp_dir().join(format!("seatrial-wiped-{}", std::process::id()));
    fs::write(&path, zeroize::Zeroizing::new(secret.text()).as_bytes()).unwrap();
    let token = Token::file(&path);
    drop(token.now().unwrap());
    assert!(secret.copies() > 0, "it is found while it is there");
    drop(token);
    assert_eq!(secret.copies(), 0);
    fs::remove_file(path).unwrap();
}

#[test]
fn nothing_is_left_of_a_key_that_is_dropped() {
    let secret = Inverted::new(3);
    let config = HttpConfig::new("localhost").unwrap().identity("nobody", secret.text());
    assert!(secret.copies() > 0, "it is found while it is there");
    let copy = config.clone();
    assert!(copy.client(&crate::runtime::System::new()).is_err(), "it is no key");
    drop((config, copy));
    assert_eq!(secret.copies(), 0);
}
