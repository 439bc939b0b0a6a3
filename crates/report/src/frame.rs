use crate::axis::Axis;
use crate::font::Ruler;
use crate::plot::{GRID, INK, MUTED, TICK_EM};
use crate::scene::{Anchor, Extent, Item, Scene};
use crate::ticks::{Tick, labelled};

/// Draws the frame, grid and tick labels around `area`; those of y only with `y_labels`.
pub(crate) fn draw_frame(
    scene: &mut Scene,
    area: Extent,
    axes: Option<&(Axis, Axis)>,
    y_labels: bool,
    ruler: &Ruler,
) {
    if let Some((x, y)) = axes {
        // Labels on x are chosen by their widths, so that its ticks may be denser than labels.
        x_ticks(scene, area, &x.ticks(TICK_EM), ruler);
        y_ticks(scene, area, y.ticks(TICK_EM), y_labels);
    }
    let Extent {
        left,
        top,
        right,
        bottom,
    } = area;
    scene.items.push(Item::Path {
        points: vec![
            (left, top),
            (right, top),
            (right, bottom),
            (left, bottom),
            (left, top),
        ],
        width: 1.0,
        color: MUTED,
    });
}

fn x_ticks(scene: &mut Scene, area: Extent, ticks: &[Tick], ruler: &Ruler) {
    let shown = labelled(ticks, 10.0, |label| ruler.width(label, TICK_EM));
    for (tick, shown) in ticks.iter().zip(shown) {
        scene.line((tick.at, area.top), (tick.at, area.bottom), 0.5, GRID);
        if shown {
            scene.line(
                (tick.at, area.bottom),
                (tick.at, area.bottom + 5.0),
                1.0,
                MUTED,
            );
            scene.text(
                (tick.at, area.bottom + 21.0),
                TICK_EM,
                Anchor::Middle,
                INK,
                tick.label.clone(),
            );
        }
    }
}

fn y_ticks(scene: &mut Scene, area: Extent, ticks: Vec<Tick>, labels: bool) {
    for tick in ticks {
        scene.line((area.left, tick.at), (area.right, tick.at), 0.5, GRID);
        if !labels {
            continue;
        }
        scene.line((area.left - 5.0, tick.at), (area.left, tick.at), 1.0, MUTED);
        scene.text(
            (area.left - 9.0, tick.at + 0.36 * TICK_EM),
            TICK_EM,
            Anchor::End,
            INK,
            tick.label,
        );
    }
}
