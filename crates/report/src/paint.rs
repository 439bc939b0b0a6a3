use crate::font::{LINE_PER_EM, font};
use crate::scene::{Anchor, Color, Item, Place, Scene, Text};
use plotters::backend::{BitMapBackend, DrawingBackend, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color as _, FontTransform, RGBColor, ShapeStyle, TextStyle};
use thiserror::Error;

/// Pixels per canvas unit: a PNG is sharp at full size and readable at half of it, and SVG, whose
/// backend rounds to whole units, places marks to half a unit.
pub(crate) const SCALE: f64 = 2.0;

/// Why a plot could not be drawn. The texts hold their causes, which therefore are no `source()`.
#[derive(Debug, Error)]
pub enum PlotError {
    /// The embedded font was refused.
    #[error(
        "the embedded font DejaVuSans.ttf cannot be read; the executable is damaged: rebuild it"
    )]
    Font,
    /// The drawing backend failed.
    #[error("drawing the plot failed: {0}; write the table or CSV instead and report this")]
    Draw(String),
    /// The image could not be encoded.
    #[error("encoding the plot as PNG failed: {0}; write it as SVG instead and report this")]
    Encode(png::EncodingError),
}

/// Where a backend puts glyphs, in em: how far below the place it is given the baseline of
/// top-aligned text lies, and how its font sizes relate to an em.
#[derive(Clone, Copy)]
struct Glyphs {
    baseline: f64,
    size_per_em: f64,
}

/// plotters draws glyphs half a size below the place; a size is a whole line.
const BITMAP_GLYPHS: Glyphs = Glyphs {
    baseline: LINE_PER_EM / 2.0,
    size_per_em: LINE_PER_EM,
};

/// plotters-svg writes `dy="0.76em"` and `font-size = size / 1.24`.
const SVG_GLYPHS: Glyphs = Glyphs {
    baseline: 0.76,
    size_per_em: 1.24,
};

/// The scene as an SVG document, sized in canvas units.
pub(crate) fn svg(scene: &Scene, title: &str) -> Result<String, PlotError> {
    let (width, height) = pixels(scene);
    let mut document = String::new();
    {
        let mut backend = SVGBackend::with_string(&mut document, (width, height));
        paint(scene, &mut backend, SVG_GLYPHS)?;
        backend.present().map_err(draw_error)?;
    }
    let size = format!("<svg width=\"{width}\" height=\"{height}\"");
    let shown = format!("<svg width=\"{}\" height=\"{}\"", scene.width, scene.height);
    let document = document.replacen(&size, &shown, 1);
    let title = title
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    Ok(document.replacen(">\n", &format!(">\n<title>{title}</title>\n"), 1))
}

/// The scene as a PNG file, [`SCALE`] pixels per canvas unit.
pub(crate) fn png(scene: &Scene) -> Result<Vec<u8>, PlotError> {
    let (width, height) = pixels(scene);
    let mut rgb = vec![255u8; 3 * width as usize * height as usize];
    {
        let mut backend = BitMapBackend::with_buffer(&mut rgb, (width, height));
        paint(scene, &mut backend, BITMAP_GLYPHS)?;
        backend.present().map_err(draw_error)?;
    }
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    // Most rows are like the one above.
    encoder.set_filter(png::FilterType::Up);
    let mut writer = encoder.write_header().map_err(PlotError::Encode)?;
    writer.write_image_data(&rgb).map_err(PlotError::Encode)?;
    writer.finish().map_err(PlotError::Encode)?;
    Ok(file)
}

fn pixels(scene: &Scene) -> (u32, u32) {
    // Saturating casts; the layout bounds both sides.
    (
        (scene.width * SCALE).ceil() as u32,
        (scene.height * SCALE).ceil() as u32,
    )
}

fn draw_error(error: impl std::fmt::Display) -> PlotError {
    PlotError::Draw(error.to_string())
}

fn pixel((x, y): Place) -> (i32, i32) {
    ((x * SCALE).round() as i32, (y * SCALE).round() as i32)
}

fn style((red, green, blue): Color, width: f64) -> ShapeStyle {
    ShapeStyle {
        color: RGBColor(red, green, blue).to_rgba(),
        filled: true,
        stroke_width: ((width * SCALE).round() as u32).max(1),
    }
}

fn paint<B: DrawingBackend>(
    scene: &Scene,
    backend: &mut B,
    glyphs: Glyphs,
) -> Result<(), PlotError> {
    let all = (pixels(scene).0 as i32, pixels(scene).1 as i32);
    backend
        .draw_rect((0, 0), all, &style((255, 255, 255), 1.0), true)
        .map_err(draw_error)?;
    for item in &scene.items {
        match item {
            Item::Path {
                points,
                width,
                color,
            } => {
                let mut path: Vec<(i32, i32)> = points.iter().map(|&p| pixel(p)).collect();
                // A segment without length has no direction for the rasteriser to follow.
                path.dedup();
                match path[..] {
                    [] | [_] => Ok(()),
                    [from, to] => backend.draw_line(from, to, &style(*color, *width)),
                    _ => backend.draw_path(path, &style(*color, *width)),
                }
                .map_err(draw_error)?;
            }
            Item::Polygon { points, color } => backend
                .fill_polygon(points.iter().map(|&p| pixel(p)), &style(*color, 1.0))
                .map_err(draw_error)?,
            Item::Circle {
                center,
                radius,
                color,
            } => {
                let radius = (radius * SCALE).round() as u32;
                backend
                    .draw_circle(pixel(*center), radius, &style(*color, 1.0), true)
                    .map_err(draw_error)?;
            }
            Item::Text(text) => write(text, backend, glyphs)?,
        }
    }
    Ok(())
}

fn write<B: DrawingBackend>(text: &Text, backend: &mut B, glyphs: Glyphs) -> Result<(), PlotError> {
    let em = text.em * SCALE;
    let mut face = font(em * glyphs.size_per_em)?;
    let (x, y) = (text.at.0 * SCALE, text.at.1 * SCALE);
    let rise = glyphs.baseline * em;
    let at = if text.upward {
        face = face.transform(FontTransform::Rotate270);
        (x - rise, y)
    } else {
        (x, y - rise)
    };
    let side = match text.anchor {
        Anchor::Start => HPos::Left,
        Anchor::Middle => HPos::Center,
        Anchor::End => HPos::Right,
    };
    let (red, green, blue) = text.color;
    let style = TextStyle {
        pos: Pos::new(side, VPos::Top),
        ..face.color(&RGBColor(red, green, blue))
    };
    backend
        .draw_text(
            &text.text,
            &style,
            (at.0.round() as i32, at.1.round() as i32),
        )
        .map_err(draw_error)
}
