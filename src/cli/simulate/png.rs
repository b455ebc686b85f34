//! A figure as PNG: lines as dots set close to one another, letters from a font of pixels, so that the picture
//! is the same on every machine whatever fonts it has.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

use super::picture::{Anchor, Colour, Figure, HEIGHT, Line, Text, WIDTH};

const PIXELS: (usize, usize) = (WIDTH as usize, HEIGHT as usize);
const WHITE: u8 = 0xff;
const INK: Colour = [0x22, 0x22, 0x22];
/// Distance of a line's dots, in pixels.
const STEP: f64 = 0.5;
const WEIGHT: FontWeight = FontWeight::Regular;
const SIZE: RasterHeight = RasterHeight::Size16;
/// From the top of a letter's raster to the baseline, in pixels.
const BASELINE: f64 = 13.0;

/// RGB, eight bits each.
///
/// # Errors
/// Those of the encoder.
pub fn encode(figure: &Figure) -> Result<Vec<u8>, png::EncodingError> {
    let mut canvas = Canvas { pixels: vec![WHITE; PIXELS.0 * PIXELS.1 * 3] };
    figure.lines.iter().for_each(|line| canvas.line(line));
    figure.texts.iter().for_each(|text| canvas.text(text));
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, PIXELS.0 as u32, PIXELS.1 as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header()?.write_image_data(&canvas.pixels)?;
    Ok(out)
}

struct Canvas {
    pixels: Vec<u8>,
}

impl Canvas {
    fn line(&mut self, line: &Line) {
        // Each pixel takes the darkest dot that falls on it: dots lie over one another.
        let mut cover = std::collections::BTreeMap::new();
        for ends in line.points.windows(2) {
            let ((x0, y0), (x1, y1)) = (ends[0], ends[1]);
            let steps = ((x1 - x0).hypot(y1 - y0) / STEP).ceil().max(1.0);
            for step in 0..=steps as usize {
                let t = step as f64 / steps;
                dot(&mut cover, x0 + t * (x1 - x0), y0 + t * (y1 - y0), line.width / 2.0);
            }
        }
        for ((x, y), share) in cover {
            self.blend(x, y, line.colour, share);
        }
    }

    fn text(&mut self, text: &Text) {
        let advance = get_raster_width(WEIGHT, SIZE) as f64;
        let width = advance * text.text.chars().count() as f64;
        let left = match text.anchor {
            Anchor::Start => text.x,
            Anchor::Middle => text.x - width / 2.0,
            Anchor::End => text.x - width,
        };
        let top = (text.y - BASELINE).round() as i64;
        for (nth, letter) in text.text.chars().enumerate() {
            let Some(raster) = get_raster(letter, WEIGHT, SIZE).or_else(|| get_raster('?', WEIGHT, SIZE))
            else {
                continue;
            };
            let left = (left + nth as f64 * advance).round() as i64;
            for (y, row) in raster.rows().enumerate() {
                for (x, &ink) in row.iter().enumerate() {
                    self.blend(left + x as i64, top + y as i64, INK, f64::from(ink) / 255.0);
                }
            }
        }
    }

    /// `share` of the colour over what is there; nothing outside the picture.
    fn blend(&mut self, x: i64, y: i64, colour: Colour, share: f64) {
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else { return };
        if x >= PIXELS.0 || y >= PIXELS.1 {
            return;
        }
        let at = 3 * (y * PIXELS.0 + x);
        for (old, new) in self.pixels[at..at + 3].iter_mut().zip(colour) {
            *old = (f64::from(*old) + share * (f64::from(new) - f64::from(*old))).round() as u8;
        }
    }
}

/// A disc with a soft edge of a pixel.
fn dot(cover: &mut std::collections::BTreeMap<(i64, i64), f64>, x: f64, y: f64, radius: f64) {
    let reach = radius + 1.0;
    for py in (y - reach).floor() as i64..=(y + reach).ceil() as i64 {
        for px in (x - reach).floor() as i64..=(x + reach).ceil() as i64 {
            let distance = (px as f64 + 0.5 - x).hypot(py as f64 + 0.5 - y);
            let share = (radius + 0.5 - distance).clamp(0.0, 1.0);
            if share > 0.0 {
                let covered = cover.entry((px, py)).or_insert(share);
                *covered = covered.max(share);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::curve::Curve;
    use super::super::picture::figure;
    use super::*;

    #[test]
    fn the_picture_has_its_size_and_ink_where_the_curve_passes() {
        let curve = Curve::new([0.5, 0.5].into_iter());
        let bytes = encode(&figure(vec![("a name".to_owned(), &curve)])).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((frame.width, frame.height), (900, 600));
        let pixel = |x: usize, y: usize| &pixels[3 * (y * 900 + x)..][..3];
        assert!(pixel(470, 280)[0] < 64, "the middle of the curve");
        assert_eq!(pixel(300, 100), [255, 255, 255], "above it");
        let legend = (360..390).flat_map(|y| (550..620).map(move |x| (x, y)));
        assert!(legend.filter(|&(x, y)| pixel(x, y)[0] < 128).count() > 20, "the name in the legend");
    }
}
