//! The picture of the curves, as lines and texts; `svg` and `png` draw them.

use super::curve::Curve;

pub const WIDTH: f64 = 900.0;
pub const HEIGHT: f64 = 600.0;
/// Corners of the diagram.
const LEFT: f64 = 70.0;
const RIGHT: f64 = 870.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 540.0;
/// Where the legend's first line stands: below right, where no curve that is worth its name passes.
const LEGEND: (f64, f64) = (510.0, 375.0);
const LINE_HEIGHT: f64 = 22.0;
/// Height of the letters, in pixels.
pub const TEXT: f64 = 16.0;
/// Points of a curve: more would not be seen.
const POINTS: usize = 150;

pub type Colour = [u8; 3];

const BLACK: Colour = [0x22, 0x22, 0x22];
const GREY: Colour = [0xdd, 0xdd, 0xdd];
/// Told apart by the colour-blind, too (Okabe and Ito 2008).
const COLOURS: [Colour; 8] = [
    [0x00, 0x00, 0x00],
    [0xd5, 0x5e, 0x00],
    [0x00, 0x72, 0xb2],
    [0x00, 0x9e, 0x73],
    [0xcc, 0x79, 0xa7],
    [0xe6, 0x9f, 0x00],
    [0x56, 0xb4, 0xe9],
    [0x99, 0x99, 0x99],
];

/// What is drawn, in pixels from the top left.
#[derive(Default)]
pub struct Figure {
    pub lines: Vec<Line>,
    pub texts: Vec<Text>,
}

pub struct Line {
    pub points: Vec<(f64, f64)>,
    pub colour: Colour,
    pub width: f64,
}

pub struct Text {
    pub text: String,
    /// Of the baseline.
    pub y: f64,
    pub x: f64,
    pub anchor: Anchor,
}

/// Which part of the text stands at its x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// The curves with their names, the first one on top of the others.
pub fn figure(curves: Vec<(String, &Curve)>) -> Figure {
    let mut figure = Figure::default();
    figure.axes();
    for (nth, (_, curve)) in curves.iter().enumerate().rev() {
        figure.line(points(curve), COLOURS[nth % COLOURS.len()], 2.0);
    }
    for (nth, (name, _)) in curves.into_iter().enumerate() {
        let (x, y) = (LEGEND.0, LEGEND.1 + nth as f64 * LINE_HEIGHT);
        figure.line(vec![(x, y), (x + 30.0, y)], COLOURS[nth % COLOURS.len()], 3.0);
        figure.text(name, x + 40.0, y + 5.0, Anchor::Start);
    }
    figure
}

fn at(share_of_pages: f64, share_of_mass: f64) -> (f64, f64) {
    (LEFT + share_of_pages * (RIGHT - LEFT), BOTTOM - share_of_mass * (BOTTOM - TOP))
}

fn points(curve: &Curve) -> Vec<(f64, f64)> {
    let pages = curve.pages();
    let marks = (0..=POINTS).map(|mark| mark * pages / POINTS);
    let mut points: Vec<(f64, f64)> =
        marks.map(|mark| at(mark as f64 / pages.max(1) as f64, curve.mass_after(mark))).collect();
    points.dedup();
    points
}

impl Figure {
    fn axes(&mut self) {
        for tenth in (0..=10).step_by(2) {
            let share = f64::from(tenth) / 10.0;
            let name = format!("{} %", tenth * 10);
            let (x, y) = at(share, share);
            self.line(vec![(x, BOTTOM), (x, TOP)], GREY, 1.0);
            self.line(vec![(LEFT, y), (RIGHT, y)], GREY, 1.0);
            self.text(name.clone(), x, BOTTOM + 22.0, Anchor::Middle);
            self.text(name, LEFT - 8.0, y + 5.0, Anchor::End);
        }
        self.line(vec![(LEFT, TOP), (LEFT, BOTTOM), (RIGHT, BOTTOM)], BLACK, 1.0);
        self.text("pages crawled".to_owned(), (LEFT + RIGHT) / 2.0, BOTTOM + 46.0, Anchor::Middle);
        self.text("PageRank collected".to_owned(), LEFT + 8.0, TOP + 16.0, Anchor::Start);
        let title = "area, whole / first fifth; omniscient = 1";
        self.text(title.to_owned(), LEGEND.0, LEGEND.1 - LINE_HEIGHT, Anchor::Start);
    }

    fn line(&mut self, points: Vec<(f64, f64)>, colour: Colour, width: f64) {
        self.lines.push(Line { points, colour, width });
    }

    fn text(&mut self, text: String, x: f64, y: f64, anchor: Anchor) {
        self.texts.push(Text { text, x, y, anchor });
    }
}
