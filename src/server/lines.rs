//! Lines out of a stream of chunks, with bounded memory: a line beyond the limit is skipped to its end.

/// A line without its end.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    Whole(&'a [u8]),
    /// Longer than the limit; its bytes are gone.
    TooLong,
}

/// Cuts chunks into lines; keeps the last line of a chunk until its end comes.
#[derive(Debug)]
pub struct Lines {
    limit: usize,
    partial: Vec<u8>,
    too_long: bool,
    /// `partial` was given out and is to be forgotten.
    given: bool,
}

impl Lines {
    pub fn new(limit: usize) -> Self {
        Lines { limit, partial: Vec::new(), too_long: false, given: false }
    }

    /// The next line that ends in `chunk`, and `chunk` moves behind it; `None` takes what is left of the
    /// chunk as the beginning of a line.
    pub fn next<'l, 'c: 'l>(&'l mut self, chunk: &mut &'c [u8]) -> Option<Line<'l>> {
        self.forget_given();
        let Some(end) = chunk.iter().position(|&byte| byte == b'\n') else {
            self.keep(chunk);
            *chunk = &[];
            return None;
        };
        let (line, rest) = (&chunk[..end], &chunk[end + 1..]);
        *chunk = rest;
        if self.partial.is_empty() && !self.too_long && line.len() <= self.limit {
            return Some(Line::Whole(line));
        }
        self.keep(line);
        Some(self.give())
    }

    /// The line that the end of the stream ends, if any.
    pub fn last(&mut self) -> Option<Line<'_>> {
        self.forget_given();
        (self.too_long || !self.partial.is_empty()).then(|| self.give())
    }

    fn forget_given(&mut self) {
        if self.given {
            self.partial.clear();
            self.too_long = false;
            self.given = false;
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.partial.len() + bytes.len() > self.limit {
            self.too_long = true;
            self.partial = Vec::new();
        }
        if !self.too_long {
            self.partial.extend_from_slice(bytes);
        }
    }

    fn give(&mut self) -> Line<'_> {
        self.given = true;
        if self.too_long { Line::TooLong } else { Line::Whole(&self.partial) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cut(chunks: &[&[u8]], limit: usize) -> Vec<Option<Vec<u8>>> {
        let owned = |line: Line<'_>| match line {
            Line::Whole(bytes) => Some(bytes.to_vec()),
            Line::TooLong => None,
        };
        let mut lines = Lines::new(limit);
        let mut out = Vec::new();
        for chunk in chunks {
            let mut rest = *chunk;
            while let Some(line) = lines.next(&mut rest) {
                out.push(owned(line));
            }
            assert!(lines.partial.len() <= limit);
        }
        out.extend(lines.last().map(owned));
        out
    }

    proptest! {
        #[test]
        fn however_a_stream_is_chunked_its_lines_are_the_same(text in "[ab\n]{0,60}", size in 1usize..20, limit in 0usize..9) {
            let mut expected: Vec<&str> = text.split('\n').collect();
            if expected.last() == Some(&"") {
                expected.pop();
            }
            let expected: Vec<_> =
                expected.into_iter().map(|l| (l.len() <= limit).then(|| l.as_bytes().to_vec())).collect();
            let chunks: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
            prop_assert_eq!(cut(&chunks, limit), expected);
        }
    }
}
