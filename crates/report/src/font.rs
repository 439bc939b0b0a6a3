use crate::paint::PlotError;
use plotters::style::{FontDesc, FontFamily, FontStyle, register_font};
use std::sync::OnceLock;

/// The CSS list that SVG text names; the same name is what the embedded font is registered under,
/// so that both outputs use one font and an SVG viewer without it falls back to its own.
const FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";

/// (ascent - descent) / units per em of the font: how plotters' glyph sizes relate to an em.
pub(crate) const LINE_PER_EM: f64 = 2384.0 / 2048.0;

static DEJAVU_SANS: &[u8] = include_bytes!("../fonts/DejaVuSans.ttf");

/// The embedded font at a glyph size in plotters' meaning.
pub(crate) fn font(size: f64) -> Result<FontDesc<'static>, PlotError> {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    let registered =
        *REGISTERED.get_or_init(|| register_font(FAMILY, FontStyle::Normal, DEJAVU_SANS).is_ok());
    if !registered {
        return Err(PlotError::Font);
    }
    Ok(FontDesc::new(
        FontFamily::Name(FAMILY),
        size,
        FontStyle::Normal,
    ))
}

/// Measures text in the embedded font.
#[derive(Clone)]
pub(crate) struct Ruler {
    /// At 1000 units per em, whole units are fine enough.
    font: FontDesc<'static>,
}

impl Ruler {
    pub(crate) fn new() -> Result<Self, PlotError> {
        Ok(Self {
            font: font(1000.0 * LINE_PER_EM)?,
        })
    }

    /// Width of `text` at `em` units per em.
    pub(crate) fn width(&self, text: &str, em: f64) -> f64 {
        self.font
            .layout_box(text)
            .map_or(0.0, |((left, _), (right, _))| {
                f64::from(right - left) * em / 1000.0
            })
    }
}
