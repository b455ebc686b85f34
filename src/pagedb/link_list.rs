//! The value of `links`: the pages that a page links to, as indices. Two sorted groups, first the links to
//! other domains, then those inside the page's own, each delta and varint coded (Aduana, 3.3.2): whoever
//! wants only links between domains stops after the first group.

use crate::types::PageIndex;
use crate::types::codec::{Malformed, Reader, put_varint};

/// Appends the coded lists to `out`. Both must be sorted and free of duplicates.
pub fn encode(other_domains: &[PageIndex], same_domain: &[PageIndex], out: &mut Vec<u8>) {
    put_varint(out, other_domains.len() as u64);
    put_varint(out, same_domain.len() as u64);
    for group in [other_domains, same_domain] {
        let mut next = 0;
        for target in group {
            put_varint(out, target.0 - next);
            next = target.0 + 1;
        }
    }
}

/// The place of a target in the list that both groups make.
pub fn place(other_domains: &[PageIndex], same_domain: &[PageIndex], target: PageIndex) -> Option<usize> {
    let in_same = || Some(other_domains.len() + same_domain.binary_search(&target).ok()?);
    other_domains.binary_search(&target).ok().or_else(in_same)
}

/// Number of links in a coded list.
pub fn count(bytes: &[u8]) -> Result<u64, Malformed> {
    let mut reader = Reader::new(bytes);
    reader.varint()?.checked_add(reader.varint()?).ok_or(Malformed)
}

/// Decodes both groups, or with `only_other_domains` just the first, into `out` and returns how many of
/// them lead to other domains.
pub fn decode(bytes: &[u8], only_other_domains: bool, out: &mut Vec<PageIndex>) -> Result<usize, Malformed> {
    let mut reader = Reader::new(bytes);
    let n_other = reader.number::<usize>()?;
    let n_same = reader.number::<usize>()?;
    decode_group(&mut reader, n_other, out)?;
    if !only_other_domains {
        decode_group(&mut reader, n_same, out)?;
        reader.end()?;
    }
    Ok(n_other)
}

/// Whether a coded list has a target.
pub fn has(bytes: &[u8], target: PageIndex) -> Result<bool, Malformed> {
    let mut reader = Reader::new(bytes);
    let groups = [reader.varint()?, reader.varint()?];
    for n in groups {
        let mut next = 0u64;
        for _ in 0..n {
            let found = next.checked_add(reader.varint()?).ok_or(Malformed)?;
            if found == target.0 {
                return Ok(true);
            }
            next = found.checked_add(1).ok_or(Malformed)?;
        }
    }
    Ok(false)
}

fn decode_group(reader: &mut Reader<'_>, n: usize, out: &mut Vec<PageIndex>) -> Result<(), Malformed> {
    if n > reader.remaining() {
        return Err(Malformed);
    }
    out.reserve(n);
    let mut next = 0u64;
    for _ in 0..n {
        let target = next.checked_add(reader.varint()?).filter(|&t| t < PageIndex::LIMIT).ok_or(Malformed)?;
        out.push(PageIndex(target));
        next = target + 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::codec::example::assert_documented;
    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lists_come_back(
            other in btree_set(0..PageIndex::LIMIT, 0..50), same in btree_set(0..PageIndex::LIMIT, 0..50)
        ) {
            let other: Vec<_> = other.into_iter().map(PageIndex).collect();
            let same: Vec<_> = same.into_iter().map(PageIndex).collect();
            let mut bytes = Vec::new();
            encode(&other, &same, &mut bytes);
            let (mut all, mut only) = (Vec::new(), Vec::new());
            prop_assert_eq!(decode(&bytes, false, &mut all), Ok(other.len()));
            prop_assert_eq!(decode(&bytes, true, &mut only), Ok(other.len()));
            for target in other.iter().chain(&same).chain(&[PageIndex(3)]) {
                let is_there = other.contains(target) || same.contains(target);
                prop_assert_eq!(has(&bytes, *target), Ok(is_there));
            }
            prop_assert_eq!(count(&bytes), Ok((other.len() + same.len()) as u64));
            prop_assert_eq!(&only, &other);
            prop_assert_eq!(all, [other, same].concat());
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in vec(any::<u8>(), 0..60)) {
            let mut out = Vec::new();
            if let Ok(n_other) = decode(&bytes, false, &mut out) {
                let mut again = Vec::new();
                encode(&out[..n_other], &out[n_other..], &mut again);
                prop_assert_eq!(again, bytes);
            }
        }
    }

    #[test]
    fn the_document_has_the_bytes() {
        let mut bytes = Vec::new();
        encode(&[5, 1000].map(PageIndex), &[7, 8, 300].map(PageIndex), &mut bytes);
        assert_documented("links", &bytes);
    }

    #[test]
    fn near_links_take_one_byte_each() {
        let links: Vec<_> = [1243, 1245, 1251, 1254, 1260].map(PageIndex).into();
        let mut bytes = Vec::new();
        encode(&[], &links, &mut bytes);
        assert_eq!(bytes.len(), 2 + 2 + 4);
    }
}
