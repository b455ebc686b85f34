//! URLs of the synthetic pages: a function of domain and index alone.

use std::fmt::Write;

use super::random::mix;
use super::walk::Place;

#[rustfmt::skip]
const WORDS: [&str; 64] = [
    "news", "world", "article", "products", "blog", "about", "sports", "health", "science", "travel", "forum",
    "topic", "user", "profile", "category", "archive", "review", "guide", "market", "music", "video", "photo",
    "story", "local", "people", "design", "house", "garden", "food", "recipe", "school", "history", "energy",
    "climate", "finance", "report", "update", "release", "index", "search", "online", "digital", "mobile",
    "studio", "center", "group", "global", "media", "daily", "weekly", "summer", "winter", "green", "river",
    "mountain", "city", "north", "south", "open", "data", "code", "library", "paper", "project",
];
const ENDINGS: [&str; 10] = ["com", "com", "com", "org", "net", "co.uk", "de", "fr", "es", "io"];

/// The domains' front pages, made once: a page's URL is its front page's and a path.
pub struct Names {
    text: String,
    ends: Vec<u32>,
}

impl Names {
    pub fn new(domains: u32) -> Names {
        let mut text = String::new();
        let mut ends = vec![0];
        for domain in 0..domains {
            push_front_page(&mut text, domain);
            ends.push(text.len() as u32);
        }
        Names { text, ends }
    }

    pub fn push_url(&self, out: &mut String, Place { domain, index }: Place) {
        let at = domain as usize;
        out.push_str(&self.text[self.ends[at] as usize..self.ends[at + 1] as usize]);
        if index == 0 {
            return;
        }
        let hash = mix(u64::from(domain) << 32 | u64::from(index));
        for directory in 0..1 + (hash & 1) {
            out.push_str(word(hash >> (8 + 6 * directory)));
            out.push('/');
        }
        if (hash >> 30).is_multiple_of(8) {
            out.push_str("index.php?id=");
            push_number(out, index);
            out.push_str("&cat=");
            out.push_str(word(hash >> 34));
        } else {
            out.push_str(word(hash >> 34));
            out.push('-');
            out.push_str(word(hash >> 40));
            out.push('-');
            push_number(out, index);
            out.push_str(if hash >> 46 & 1 == 1 { ".html" } else { "" });
        }
    }
}

fn push_front_page(out: &mut String, domain: u32) {
    let hash = mix(u64::from(domain).wrapping_mul(2_654_435_761).wrapping_add(12345));
    let scheme = if hash >> 40 & 1 == 1 { "https" } else { "http" };
    let www = if hash >> 41 & 1 == 1 { "www." } else { "" };
    let ending = ENDINGS[((hash >> 12) % 10) as usize];
    // Writing to a String cannot fail.
    let _: std::fmt::Result =
        write!(out, "{scheme}://{www}{}{}{domain}.{ending}/", word(hash), word(hash >> 6));
}

fn word(bits: u64) -> &'static str {
    WORDS[(bits & 63) as usize]
}

/// Decimal digits without the formatting machinery: there are thirty URLs a page.
fn push_number(out: &mut String, number: u32) {
    let mut digits = [0; 10];
    let mut at = digits.len();
    let mut rest = number;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend(digits[at..].iter().map(|&digit| char::from(digit)));
}
