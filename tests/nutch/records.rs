//! Records of any content come back; any bytes are a record or refused, and cost no more memory than they have.

use aduana::nutch::record::{
    Content, FetchListEntry, FetchStatus, FetcherContent, FetcherOutput, FetcherText, InPage, Outlink, Page,
    ParseData, ParseText,
};
use aduana::nutch::{Fault, Limits, Record};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::alloc::largest_during;
use crate::support::{encoded, output};

/// Half a surrogate pair cannot come from here: it would come back as U+FFFD.
const TEXT: &str = "[\\PC\0é€😀]{0,12}";

fn pages() -> impl Strategy<Value = Page> {
    (
        (TEXT, any::<[u8; 16]>(), any::<i64>(), any::<u8>(), any::<u8>()),
        (-1e9f32..1e9, -1e9f32..1e9, proptest::option::of(0..1_000_000i32)),
    )
        .prop_map(
            |((url, md5, next_fetch, retries, fetch_interval), (score, next_score, outlink_count))| Page {
                url,
                md5,
                next_fetch,
                retries,
                fetch_interval,
                score,
                next_score,
                outlink_count,
            },
        )
}

fn entries() -> impl Strategy<Value = FetchListEntry> {
    (any::<bool>(), pages(), vec(TEXT, 0..4)).prop_map(|(fetch, page, anchors)| FetchListEntry {
        fetch,
        page,
        anchors,
    })
}

fn outlinks() -> impl Strategy<Value = Vec<Outlink>> {
    vec((TEXT, TEXT).prop_map(|(url, anchor)| Outlink { url, anchor }), 0..4)
}

fn outputs() -> impl Strategy<Value = FetcherOutput> {
    let in_page = (TEXT, outlinks()).prop_map(|(title, outlinks)| InPage { title, outlinks });
    let parts = (entries(), any::<[u8; 16]>(), any::<u8>(), proptest::option::of(in_page), any::<i64>());
    parts.prop_map(|(entry, md5, status, in_page, fetch_date)| FetcherOutput {
        entry,
        md5,
        status: FetchStatus(status),
        in_page,
        fetch_date,
    })
}

fn properties() -> impl Strategy<Value = Vec<(String, String)>> {
    vec((TEXT, TEXT), 0..3)
}

fn comes_back<T: Record + PartialEq + std::fmt::Debug>(
    record: &T,
    has_page: bool,
) -> Result<(), TestCaseError> {
    let bytes = encoded(record);
    prop_assert_eq!(&T::decode(&bytes).unwrap(), record);
    for cut in 0..bytes.len() {
        let decoded = T::decode(&bytes[..cut]);
        // A piece of a record with a page can, with zeros in the right places, be one of the other layout.
        prop_assert!(decoded.is_err() || has_page, "{} of {} bytes", cut, bytes.len());
        prop_assert_ne!(decoded.as_ref(), Ok(record));
    }
    Ok(())
}

/// Decodes and, if that succeeds, encodes again.
fn decode_all(bytes: &[u8]) {
    fn one<T: Record>(bytes: &[u8]) {
        if let Ok(record) = T::decode(bytes) {
            let again = encoded(&record);
            assert!(T::decode(&again).is_ok());
        }
    }
    one::<Page>(bytes);
    one::<FetchListEntry>(bytes);
    one::<FetcherOutput>(bytes);
    one::<Content>(bytes);
    one::<FetcherContent>(bytes);
    one::<FetcherText>(bytes);
    one::<ParseData>(bytes);
    one::<ParseText>(bytes);
}

proptest! {
    #[test]
    fn pages_and_what_holds_them_come_back(page in pages(), entry in entries(), output in outputs()) {
        comes_back(&page, true)?;
        comes_back(&entry, true)?;
        comes_back(&output, true)?;
    }

    #[test]
    fn contents_come_back(
        texts in (TEXT, TEXT, TEXT, TEXT),
        content in proptest::option::of(vec(any::<u8>(), 0..100)),
        metadata in properties(),
        outlinks in outlinks(),
    ) {
        let (url, base, content_type, title) = texts;
        comes_back(&FetcherContent(content.clone()), false)?;
        comes_back(&FetcherText(content.clone()), false)?;
        comes_back(&ParseText(title.clone()), false)?;
        comes_back(&ParseData { title, outlinks, metadata: metadata.clone() }, false)?;
        comes_back(&Content { url, base, content, content_type, metadata }, false)?;
    }

    #[test]
    fn arbitrary_bytes_are_a_record_or_refused(bytes in vec(any::<u8>(), 0..120), version in 1u8..5) {
        let bytes = [&[version][..], &bytes].concat();
        // The decompressor's window is the largest.
        let (largest, ()) = largest_during(|| decode_all(&bytes));
        prop_assert!(largest < 1 << 18, "{} bytes", largest);
    }

    #[test]
    fn records_with_a_wrong_byte_are_a_record_or_refused(
        in_page in any::<bool>(), at in any::<prop::sample::Index>(), byte in any::<u8>()
    ) {
        let mut bytes = encoded(&output(in_page));
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let (largest, ()) = largest_during(|| decode_all(&bytes));
        prop_assert!(largest < 1 << 18, "{} bytes", largest);
    }
}

#[test]
fn a_count_beyond_the_record_allocates_nothing() {
    let mut bytes = encoded(&ParseData { title: "A".into(), outlinks: vec![], metadata: vec![] });
    bytes[4..8].copy_from_slice(&i32::MAX.to_be_bytes());
    let (largest, refused) = largest_during(|| ParseData::decode(&bytes).unwrap_err());
    assert_eq!((refused.offset, refused.fault), (4, Fault::CutOff("outlinks")));
    assert!(largest < 1 << 10, "{largest}");
}

#[test]
fn a_content_that_decompresses_beyond_the_limit_is_refused() {
    let bytes = encoded(&FetcherContent(Some(vec![0; 1 << 20])));
    let limits = Limits { record_bytes: 1 << 16, ..Limits::default() };
    let refused = FetcherContent::decode_within(&bytes, limits).unwrap_err();
    assert!(matches!(refused.fault, Fault::TooLong { limit: 65_536, .. }), "{refused}");
    assert!(FetcherContent::decode(&bytes).is_ok());
}

/// The description and the source differ by four bytes in each page. Records are read in either layout; a record
/// that fits both has a next score below 1e-41, read as a number of anchors.
#[test]
fn the_layout_of_a_page_is_told_from_its_length() {
    for count in [None, Some(0), Some(1), Some(i32::MAX)] {
        for score in [0.0, 1.0, f32::from_bits(1)] {
            for in_page in [false, true] {
                let mut output = output(in_page);
                let page = &mut output.entry.page;
                (page.outlink_count, page.score, page.next_score) = (count, score, score);
                for anchors in [vec![], vec![String::new()], vec!["any".to_owned()]] {
                    output.entry.anchors = anchors;
                    assert_eq!(FetcherOutput::decode(&encoded(&output)).unwrap(), output);
                    let entry = &output.entry;
                    assert_eq!(&FetchListEntry::decode(&encoded(entry)).unwrap(), entry);
                }
            }
        }
    }
}
