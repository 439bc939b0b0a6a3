use crate::font::Ruler;
use crate::palette::Look;
use crate::panel::MARK_RADIUS;
use crate::plot::{LEGEND_EM, MARGIN, WIDTH};
use crate::scene::{Anchor, Color, Item, Scene, dash};
use crate::wrap::wrap;

const LINE: f64 = 1.35 * LEGEND_EM;
const SWATCH: f64 = 44.0;
const COLUMN_GAP: f64 = 24.0;

/// What the legend tells about one series.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub look: Look,
    /// Its label, how many points stand behind it, and what is missing.
    pub texts: Vec<(String, Color)>,
}

/// Draws the legend from `top` down, in as many columns as the labels leave room for, and returns
/// where it ends.
pub(crate) fn draw_legend(scene: &mut Scene, entries: &[Entry], top: f64, ruler: &Ruler) -> f64 {
    let room = WIDTH - 2.0 * MARGIN;
    let widest = entries
        .iter()
        .flat_map(|entry| &entry.texts)
        .map(|(text, _)| SWATCH + ruler.width(text, LEGEND_EM))
        .fold(0.0, f64::max);
    let columns = [3usize, 2]
        .into_iter()
        .find(|&n| n <= entries.len() && widest <= (room - COLUMN_GAP * (n - 1) as f64) / n as f64)
        .unwrap_or(1);
    let width = (room - COLUMN_GAP * (columns - 1) as f64) / columns as f64;
    let mut y = top;
    for entries in entries.chunks(columns) {
        let mut lowest = y;
        for (column, entry) in entries.iter().enumerate() {
            let x = MARGIN + column as f64 * (width + COLUMN_GAP);
            swatch(scene, x, y + 0.64 * LINE, &entry.look);
            let mut line_y = y;
            for (text, color) in &entry.texts {
                let lines = wrap(text, width - SWATCH, |t| ruler.width(t, LEGEND_EM));
                for line in lines {
                    line_y += LINE;
                    scene.text(
                        (x + SWATCH, line_y - 0.36 * LEGEND_EM),
                        LEGEND_EM,
                        Anchor::Start,
                        *color,
                        line,
                    );
                }
            }
            lowest = f64::max(lowest, line_y);
        }
        y = lowest + 0.3 * LEGEND_EM;
    }
    y
}

fn swatch(scene: &mut Scene, x: f64, y: f64, look: &Look) {
    for points in dash(&[(x, y), (x + SWATCH - 10.0, y)], look.dash) {
        scene.items.push(Item::Path {
            points,
            width: 1.75,
            color: look.color,
        });
    }
    let center = (x + (SWATCH - 10.0) / 2.0, y);
    scene
        .items
        .push(look.mark.item(center, MARK_RADIUS, look.color));
}
