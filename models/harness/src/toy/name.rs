//! How programs are called.

use std::fmt;
use std::str::FromStr;

use super::Program;

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Workers { producers, adds, workers } => {
                write!(f, "{producers}p{adds}a{workers}w")
            }
            Self::Pair => f.write_str("pair"),
            Self::Handoff { nested: true, producers } => write!(f, "handoff_nested_{producers}p"),
            Self::Handoff { nested: false, producers } => write!(f, "handoff_{producers}p"),
            Self::OppositeLocks => f.write_str("opposite_locks"),
            Self::Reorder { threads, started: false } => write!(f, "reorder_{threads}"),
            Self::Reorder { threads, started: true } => write!(f, "reorder_started_{threads}"),
            Self::Alternate(behind) => write!(f, "alternate_{behind}"),
            Self::TwoStage(threads) => write!(f, "twostage_{threads}"),
            Self::Stack => f.write_str("stack"),
            Self::Bluetooth => f.write_str("bluetooth"),
            Self::StringBuffer => f.write_str("stringbuffer"),
            Self::Impatient => f.write_str("impatient"),
        }
    }
}

impl FromStr for Program {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || format!("unknown program '{text}': such as 2p1a2w, pair, reorder_100");
        let number = |text: &str| text.parse::<u8>().map_err(|_| unknown());
        let handoff = |nested, producers: &str| {
            let producers = producers.strip_suffix('p').ok_or_else(unknown)?;
            Ok(Self::Handoff { nested, producers: number(producers)? })
        };
        match text {
            "pair" => return Ok(Self::Pair),
            "opposite_locks" => return Ok(Self::OppositeLocks),
            "stack" => return Ok(Self::Stack),
            "bluetooth" => return Ok(Self::Bluetooth),
            "stringbuffer" => return Ok(Self::StringBuffer),
            "impatient" => return Ok(Self::Impatient),
            _ => {}
        }
        if let Some(threads) = text.strip_prefix("twostage_") {
            return Ok(Self::TwoStage(number(threads)?));
        }
        if let Some(threads) = text.strip_prefix("reorder_started_") {
            return Ok(Self::Reorder { threads: number(threads)?, started: true });
        }
        if let Some(threads) = text.strip_prefix("reorder_") {
            return Ok(Self::Reorder { threads: number(threads)?, started: false });
        }
        if let Some(behind) = text.strip_prefix("alternate_") {
            return Ok(Self::Alternate(number(behind)?));
        }
        if let Some(producers) = text.strip_prefix("handoff_nested_") {
            return handoff(true, producers);
        }
        if let Some(producers) = text.strip_prefix("handoff_") {
            return handoff(false, producers);
        }
        let (producers, rest) = text.split_once('p').ok_or_else(unknown)?;
        let (adds, workers) = rest.split_once('a').ok_or_else(unknown)?;
        let workers = workers.strip_suffix('w').ok_or_else(unknown)?;
        let (producers, adds) = (number(producers)?, number(adds)?);
        Ok(Self::Workers { producers, adds, workers: number(workers)? })
    }
}
