use super::*;
use twox_hash::XxHash3_64;

fn text(pages: u64, seed: u64, order: Order) -> Vec<u8> {
    let mut out = Vec::new();
    Synth::new(pages, seed, order).write_to(&mut out).unwrap();
    out
}

/// The digests are of what the C program wrote that the numbers in README were first measured with.
#[test]
fn the_bytes_are_those_of_the_c_generator() {
    for (pages, seed, order, bytes, digest) in [
        (2_000, 42, Order::Mix, 3_670_812, 0xaf24_d807_072c_4bdc),
        (2_000, 42, Order::Fifo, 3_890_249, 0xb04d_09d3_4ff5_2a2d),
        (2_000, 7, Order::Mix, 3_574_553, 0x2f0f_228d_f8f6_a4f9),
        (20_000, 42, Order::Mix, 38_141_511, 0x74a4_5797_a570_549d),
    ] {
        let text = text(pages, seed, order);
        assert_eq!(
            (text.len(), XxHash3_64::oneshot(&text)),
            (bytes, digest),
            "{pages} pages, seed {seed}, {order:?}"
        );
    }
}

#[test]
fn pages_in_process_are_those_of_the_text() {
    let text = String::from_utf8(text(300, 42, Order::Mix)).unwrap();
    let mut synth = Synth::new(300, 42, Order::Mix);
    for line in text.lines() {
        let page = synth.next_page().unwrap();
        let links: Vec<String> = page.links().map(|(url, score)| format!("{url} {score:.3}")).collect();
        assert_eq!(format!("{}\t{:.3}\t{}", page.url, page.score, links.join(" ")), line);
    }
    assert!(synth.next_page().is_none());
    assert_eq!(synth.totals().pages, 300);
}

#[test]
fn the_first_page_is_a_front_page_with_a_score() {
    let text = String::from_utf8(text(2_000, 42, Order::Mix)).unwrap();
    assert!(text.starts_with(
        "https://www.sciencenorth12.co.uk/\t0.859\thttps://newsreview49.com/mountain/guide-mountain-2 0.333 \
         http://dataarchive17.com/user/video-north-119.html 0.540 "
    ));
}

#[test]
fn the_smallest_graphs_end() {
    assert!(text(0, 1, Order::Mix).is_empty());
    assert_eq!(text(1, 1, Order::Fifo).iter().filter(|&&b| b == b'\n').count(), 1);
}
