//! How fast a crawl collects what is worth collecting.

/// Points of a curve that are kept, for files and pictures.
pub const POINTS: usize = 500;

/// Share of the mass that was collected against the share of the pages that were crawled.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Mass of the pages crawled so far, from none to all: one more than there are pages.
    mass: Vec<f64>,
}

impl Curve {
    /// `worth`: of each page in the order of the crawl.
    pub fn new(worth: impl Iterator<Item = f64>) -> Curve {
        let sums = worth.scan(0.0, |sum, worth| {
            *sum += worth;
            Some(*sum)
        });
        Curve { mass: std::iter::once(0.0).chain(sums).collect() }
    }

    /// How many pages were crawled.
    pub fn pages(&self) -> usize {
        self.mass.len() - 1
    }

    /// Mass of the first `pages` pages.
    pub fn mass_after(&self, pages: usize) -> f64 {
        self.mass[pages.min(self.pages())]
    }

    /// Area below the curve over the first `part` of the crawl, by trapezoids. A crawl of no pages has none.
    pub fn area(&self, part: f64) -> f64 {
        let pages = (part * self.pages() as f64) as usize;
        let area: f64 = self.mass[..=pages].windows(2).map(|pair| (pair[0] + pair[1]) / 2.0).sum();
        area / self.pages().max(1) as f64
    }

    /// After how many pages the curve is shown: evenly, from none to all.
    pub fn marks(pages: usize) -> impl Iterator<Item = usize> {
        let marks = pages.min(POINTS);
        (0..=marks).map(move |mark| (mark * pages).checked_div(marks).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_area_is_that_of_trapezoids() {
        // From (0, 0) over (0.5, 0.8) to (1, 1).
        let curve = Curve::new([0.8, 0.2].into_iter());
        assert!((curve.area(1.0) - (0.2 + 0.45)).abs() < 1e-12);
        assert!((curve.area(0.5) - 0.2).abs() < 1e-12);
        assert_eq!((curve.area(0.4), curve.mass_after(1), curve.mass_after(7)), (0.0, 0.8, 1.0));
    }

    #[test]
    fn worth_collected_sooner_makes_a_larger_area() {
        let even = Curve::new((0..10).map(|_| 0.1));
        assert!((even.area(1.0) - 0.5).abs() < 1e-12 && (even.area(0.2) - 0.02).abs() < 1e-12);
        let best = Curve::new([0.4, 0.3, 0.2, 0.1].into_iter());
        let worst = Curve::new([0.1, 0.2, 0.3, 0.4].into_iter());
        assert!(best.area(1.0) > worst.area(1.0));
        assert!((best.area(1.0) + worst.area(1.0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_crawl_of_nothing_has_no_area() {
        let curve = Curve::new(std::iter::empty());
        assert_eq!((curve.pages(), curve.area(1.0)), (0, 0.0));
        assert_eq!(Curve::marks(0).collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn marks_go_from_none_to_all() {
        assert_eq!(Curve::marks(3).collect::<Vec<_>>(), [0, 1, 2, 3]);
        let marks: Vec<usize> = Curve::marks(121_673).collect();
        assert_eq!((marks.len(), marks[0], marks[POINTS]), (POINTS + 1, 0, 121_673));
        assert!(marks.is_sorted());
    }
}
