use crate::axis::Axis;
use crate::curve::Curve;
use crate::font::Ruler;
use crate::frame::draw_frame;
use crate::palette::{Look, faint};
use crate::plot::{AXIS_EM, MUTED};
use crate::quantity::Quantity;
use crate::scene::{Anchor, Extent, Item, Scene, dash};
use crate::wrap::wrap;

pub(crate) const MARK_RADIUS: f64 = 5.0;
const FAINT_RADIUS: f64 = 3.5;
/// Room between a frame and the centre of a mark, at least: the reach of the largest mark.
const ROOM: f64 = 12.0;

/// A plotted area and the curves in it.
#[derive(Clone, Debug)]
pub(crate) struct Panel<'c> {
    pub area: Extent,
    pub curves: Vec<(&'c Curve, Look)>,
    /// What it says when no curve has a point.
    pub nothing: &'static str,
    /// Whether the ticks of y have their labels here.
    pub y_labels: bool,
}

/// The axes that these curves share in areas as large as `area`; `None` when they have no point.
pub(crate) fn axes<'c>(
    curves: impl Iterator<Item = &'c Curve> + Clone,
    (x, y): (Quantity, Quantity),
    slots: f64,
    area: Extent,
) -> Option<(Axis, Axis)> {
    let drawn = || curves.clone().flat_map(|curve| &curve.drawn);
    let xs: Vec<f64> = drawn().map(|d| d.x).collect();
    let ys: Vec<f64> = drawn()
        .flat_map(|d| {
            let (low, high) = d.y.spread.unwrap_or((d.y.value, d.y.value));
            [low, d.y.value, high]
        })
        .collect();
    if xs.is_empty() {
        return None;
    }
    let pad = |least: f64, length: f64| least.max(ROOM / length);
    Some((
        Axis::new(x, &xs, slots, pad(0.03, area.right - area.left)),
        Axis::new(y, &ys, slots, pad(0.05, area.bottom - area.top)),
    ))
}

impl Panel<'_> {
    /// Draws the panel on axes that it may share with others.
    pub(crate) fn draw(&self, scene: &mut Scene, axes: Option<&(Axis, Axis)>, ruler: &Ruler) {
        let area = self.area;
        let axes =
            axes.map(|(x, y)| (x.over(area.left, area.right), y.over(area.bottom, area.top)));
        draw_frame(scene, area, axes.as_ref(), self.y_labels, ruler);
        let empty = self.curves.iter().all(|(curve, _)| curve.drawn.is_empty());
        let (x, y) = match &axes {
            Some((x, y)) if !empty => (x, y),
            _ => return self.draw_nothing(scene, ruler),
        };
        // Faint things first, so that no dominated point of one series hides another's front.
        for (curve, look) in &self.curves {
            draw_dominated(scene, curve, look, x, y);
        }
        for (curve, look) in &self.curves {
            draw_front(scene, curve, look, x, y);
        }
    }

    fn draw_nothing(&self, scene: &mut Scene, ruler: &Ruler) {
        let area = self.area;
        let lines = wrap(self.nothing, area.right - area.left - 2.0 * ROOM, |t| {
            ruler.width(t, AXIS_EM)
        });
        let mut baseline = (area.top + area.bottom) / 2.0;
        for line in lines {
            let at = ((area.left + area.right) / 2.0, baseline);
            scene.text(at, AXIS_EM, Anchor::Middle, MUTED, line);
            baseline += 1.35 * AXIS_EM;
        }
    }
}

fn draw_dominated(scene: &mut Scene, curve: &Curve, look: &Look, x: &Axis, y: &Axis) {
    let color = faint(look.color, 0.35);
    for d in curve.drawn.iter().filter(|d| !d.on_front) {
        let at = x.at(d.x);
        if let Some((low, high)) = d.y.spread {
            scene.line((at, y.at(low)), (at, y.at(high)), 0.5, color);
        }
        let center = (at, y.at(d.y.value));
        scene
            .items
            .push(look.mark.item(center, FAINT_RADIUS, color));
    }
}

fn draw_front(scene: &mut Scene, curve: &Curve, look: &Look, x: &Axis, y: &Axis) {
    let front = curve.front();
    let centers: Vec<(f64, f64)> = front.iter().map(|d| (x.at(d.x), y.at(d.y.value))).collect();
    for points in dash(&centers, look.dash) {
        scene.items.push(Item::Path {
            points,
            width: 1.75,
            color: look.color,
        });
    }
    for (d, &center) in front.iter().zip(&centers) {
        // A rim of white keeps marks of different series apart where they meet.
        let rim = look.mark.item(center, MARK_RADIUS + 1.0, (255, 255, 255));
        scene.items.push(rim);
        if let Some((low, high)) = d.y.spread {
            let (low, high) = (y.at(low), y.at(high));
            scene.line((center.0, low), (center.0, high), 1.0, look.color);
            for end in [low, high] {
                scene.line(
                    (center.0 - 3.0, end),
                    (center.0 + 3.0, end),
                    1.0,
                    look.color,
                );
            }
        }
        scene
            .items
            .push(look.mark.item(center, MARK_RADIUS, look.color));
    }
}
