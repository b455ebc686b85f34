//! A figure as SVG.

use std::fmt::{self, Write};

use super::picture::{Anchor, Figure, HEIGHT, Line, TEXT, Text, WIDTH};

pub fn write(figure: &Figure) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_to(&mut out, figure);
    out
}

fn write_to(out: &mut String, figure: &Figure) -> fmt::Result {
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" \
         height=\"{HEIGHT}\" font-family=\"sans-serif\" font-size=\"{TEXT}\" fill=\"none\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>"
    )?;
    for Line { points, colour: [r, g, b], width } in &figure.lines {
        write!(out, "<polyline stroke=\"#{r:02x}{g:02x}{b:02x}\" stroke-width=\"{width}\" points=\"")?;
        for (nth, (x, y)) in points.iter().enumerate() {
            write!(out, "{}{x:.1},{y:.1}", if nth > 0 { " " } else { "" })?;
        }
        writeln!(out, "\"/>")?;
    }
    for Text { text, x, y, anchor } in &figure.texts {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escape(text);
        writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"#222\">{text}</text>"
        )?;
    }
    writeln!(out, "</svg>")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::super::curve::Curve;
    use super::super::picture::figure;
    use super::*;

    #[test]
    fn curves_run_from_corner_to_corner_and_names_are_escaped() {
        let curve = Curve::new([0.5, 0.5].into_iter());
        let svg = write(&figure(vec![("a<b&c".to_owned(), &curve)]));
        assert!(svg.contains("points=\"70.0,540.0 470.0,280.0 870.0,20.0\""), "{svg}");
        assert!(svg.contains(">a&lt;b&amp;c</text>"), "{svg}");
        assert_eq!(svg.matches("<polyline").count(), svg.matches("/>").count() - 1);
    }
}
