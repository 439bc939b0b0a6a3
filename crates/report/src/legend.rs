use crate::figures::plural;
use crate::font::Ruler;
use crate::palette::Look;
use crate::plot::{ALARM, INK, LEGEND_EM, MARGIN, MARK_RADIUS, MUTED, WIDTH};
use crate::scene::{Anchor, Color, Item, Scene, dash};
use crate::series::Series;
use crate::wrap::wrap;

const LINE: f64 = 1.35 * LEGEND_EM;
const SWATCH: f64 = 44.0;
const COLUMN_GAP: f64 = 24.0;

/// Draws the legend from `top` down, in as many columns as the labels leave room for, and returns
/// where it ends.
pub(crate) fn draw_legend(
    scene: &mut Scene,
    series: &[Series<'_>],
    looks: &[Look],
    top: f64,
    ruler: &Ruler,
) -> f64 {
    let room = WIDTH - 2.0 * MARGIN;
    let widest = series
        .iter()
        .flat_map(texts)
        .map(|(text, _)| SWATCH + ruler.width(&text, LEGEND_EM))
        .fold(0.0, f64::max);
    let columns = [3usize, 2]
        .into_iter()
        .find(|&n| n <= series.len() && widest <= (room - COLUMN_GAP * (n - 1) as f64) / n as f64)
        .unwrap_or(1);
    let width = (room - COLUMN_GAP * (columns - 1) as f64) / columns as f64;
    let mut y = top;
    for (entries, looks) in series.chunks(columns).zip(looks.chunks(columns)) {
        let mut lowest = y;
        for (column, (entry, look)) in entries.iter().zip(looks).enumerate() {
            let x = MARGIN + column as f64 * (width + COLUMN_GAP);
            swatch(scene, x, y + 0.64 * LINE, look);
            let mut line_y = y;
            for (text, color) in texts(entry) {
                let lines = wrap(&text, width - SWATCH, |t| ruler.width(t, LEGEND_EM));
                for line in lines {
                    line_y += LINE;
                    scene.text(
                        (x + SWATCH, line_y - 0.36 * LEGEND_EM),
                        LEGEND_EM,
                        Anchor::Start,
                        color,
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

/// What an entry says: its label, how many points stand behind it, and what is missing.
fn texts(series: &Series<'_>) -> Vec<(String, Color)> {
    let mut texts = vec![(series.label.clone(), INK)];
    let front = series.points.iter().filter(|p| p.on_front).count();
    texts.push((
        format!(
            "{}, {front} on the front",
            plural(series.counts.ok, "point")
        ),
        MUTED,
    ));
    if let Some(missing) = series.counts.missing() {
        texts.push((format!("not drawn: {missing}"), ALARM));
    }
    texts
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
