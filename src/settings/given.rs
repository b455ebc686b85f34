//! A value as somebody wrote it: TOML from the settings file, plain text from the environment or a flag.
//! Readers return `None` for what is not a value of their kind; the table of keys says what was wanted.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use toml::de::{DeInteger, DeTable, DeValue};

/// See the module.
#[derive(Clone, Copy)]
pub enum Given<'a> {
    Toml(&'a DeValue<'a>),
    Text(&'a str),
}

/// Longest text that an error message repeats.
const MAX_SHOWN: usize = 60;

impl Given<'_> {
    pub fn text(&self) -> Option<&str> {
        let text = match *self {
            Given::Toml(value) => value.as_str(),
            Given::Text(text) => Some(text),
        };
        text.filter(|text| !text.is_empty())
    }

    pub fn path(&self) -> Option<PathBuf> {
        self.text().filter(|text| !text.contains('\0')).map(PathBuf::from)
    }

    pub fn parsed<T: FromStr>(&self) -> Option<T> {
        self.text()?.parse().ok()
    }

    pub fn one_of<T: Copy>(&self, names: &[(&str, T)]) -> Option<T> {
        let text = self.text()?;
        names.iter().find(|(name, _)| *name == text).map(|(_, value)| *value)
    }

    /// Texts: an array, or, as plain text, with commas between them.
    pub fn list(&self) -> Option<Vec<&str>> {
        match self {
            Given::Toml(value) => value.as_array()?.iter().map(|item| item.get_ref().as_str()).collect(),
            Given::Text(text) => Some(text.split(',').map(str::trim).filter(|_| !text.is_empty()).collect()),
        }
    }

    pub fn bool(&self) -> Option<bool> {
        match self {
            Given::Toml(value) => value.as_bool(),
            Given::Text(text) => text.parse().ok(),
        }
    }

    pub fn integer<T: TryFrom<u64>>(&self, range: RangeInclusive<u64>) -> Option<T> {
        let number: u64 = match self {
            Given::Toml(value) => integer(value.as_integer()?)?,
            Given::Text(text) => text.parse().ok()?,
        };
        if range.contains(&number) { T::try_from(number).ok() } else { None }
    }

    /// A number with or without decimals, `inf` included.
    pub fn number(&self, range: RangeInclusive<f64>) -> Option<f64> {
        let number: f64 = match self {
            Given::Toml(DeValue::Float(float)) => float.as_str().parse().ok()?,
            Given::Toml(value) => integer::<u64>(value.as_integer()?)? as f64,
            Given::Text(text) => text.parse().ok()?,
        };
        range.contains(&number).then_some(number)
    }

    pub fn seconds(&self, range: RangeInclusive<f64>) -> Option<Duration> {
        Duration::try_from_secs_f64(self.number(range)?).ok()
    }

    /// Bytes: a whole number, or text of a number and a unit such as `64GiB`.
    pub fn size<T: TryFrom<u64>>(&self, range: RangeInclusive<u64>) -> Option<T> {
        let size = match self {
            Given::Toml(DeValue::Integer(number)) => integer(number)?,
            Given::Toml(value) => size_of_text(value.as_str()?)?,
            Given::Text(text) => size_of_text(text)?,
        };
        if range.contains(&size) { T::try_from(size).ok() } else { None }
    }

    /// Calls `read` with the table; text is read as an inline table.
    pub fn table<T>(&self, read: impl FnOnce(&DeTable<'_>) -> T) -> Option<T> {
        match self {
            Given::Toml(value) => value.as_table().map(read),
            Given::Text(text) => DeValue::parse(text).ok()?.get_ref().as_table().map(read),
        }
    }
}

fn integer<T: TryFrom<u64>>(number: &DeInteger<'_>) -> Option<T> {
    u64::from_str_radix(number.as_str(), number.radix()).ok().and_then(|n| T::try_from(n).ok())
}

fn size_of_text(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit.trim_start() {
        "" | "B" => 1,
        "kB" | "KB" => 1000,
        "MB" => 1000 * 1000,
        "GB" => 1000 * 1000 * 1000,
        "TB" => 1000 * 1000 * 1000 * 1000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1 << 40,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

/// The value as it stands in an error message.
impl fmt::Display for Given<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Given::Toml(DeValue::String(text)) => quote(text, f),
            Given::Toml(DeValue::Integer(number)) => fmt::Display::fmt(number, f),
            Given::Toml(DeValue::Float(number)) => fmt::Display::fmt(number, f),
            Given::Toml(DeValue::Boolean(value)) => fmt::Display::fmt(value, f),
            Given::Toml(DeValue::Datetime(date)) => write!(f, "the date {date}"),
            Given::Toml(DeValue::Array(_)) => f.write_str("a list"),
            Given::Toml(DeValue::Table(_)) => f.write_str("a table"),
            Given::Text(text) => quote(text, f),
        }
    }
}

fn quote(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match text.char_indices().nth(MAX_SHOWN) {
        None => write!(f, "{text:?}"),
        Some((end, _)) => write!(f, "{:?}...", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_numbers_with_a_unit() {
        for (text, bytes) in [
            ("0", Some(0)),
            ("17", Some(17)),
            ("17B", Some(17)),
            ("64GiB", Some(64 << 30)),
            ("64 MiB", Some(64 << 20)),
            ("3kB", Some(3000)),
            ("16777216TiB", None),
            ("", None),
            ("GiB", None),
            ("1.5GiB", None),
            ("-1", None),
            ("64G", None),
        ] {
            assert_eq!(size_of_text(text), bytes, "{text}");
        }
    }

    #[test]
    fn text_and_toml_are_read_alike() {
        let toml = |text: &'static str| DeValue::parse(text).unwrap().into_inner();
        assert_eq!(Given::Toml(&toml("0x10")).integer::<u16>(0..=99), Some(16));
        assert_eq!(Given::Toml(&toml("1_000")).number(0.0..=f64::INFINITY), Some(1000.0));
        assert_eq!(Given::Toml(&toml("inf")).number(0.0..=f64::INFINITY), Some(f64::INFINITY));
        assert_eq!(Given::Text("inf").number(0.0..=f64::INFINITY), Some(f64::INFINITY));
        for nan in [Given::Toml(&toml("nan")), Given::Text("nan"), Given::Toml(&toml("-inf"))] {
            assert_eq!(nan.number(0.0..=f64::INFINITY), None);
        }
        assert_eq!(Given::Text("true").bool(), Some(true));
        assert_eq!(Given::Text("{ a = 1 }").table(|table| table.len()), Some(1));
    }
}
