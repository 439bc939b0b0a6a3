use crate::axis::{QpsAxis, RecallAxis};
use crate::font::Ruler;
use crate::plot::{AXIS_EM, GRID, INK, MUTED, TICK_EM};
use crate::scene::{Anchor, Extent, Item, Scene, Text};
use crate::ticks::labelled;

/// Draws the frame, grid, tick labels and axis titles around `area`.
pub(crate) fn draw_frame(
    scene: &mut Scene,
    area: Extent,
    axes: Option<(&RecallAxis, &QpsAxis)>,
    k: u64,
    ruler: &Ruler,
) {
    if let Some((x, y)) = axes {
        recall_ticks(scene, area, x, ruler);
        qps_ticks(scene, area, y);
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
    scene.text(
        ((left + right) / 2.0, bottom + 46.0),
        AXIS_EM,
        Anchor::Middle,
        INK,
        format!("recall@{k}, spaced by −ln(1 − recall)"),
    );
    scene.items.push(Item::Text(Text {
        at: (26.0, (top + bottom) / 2.0),
        em: AXIS_EM,
        anchor: Anchor::Middle,
        color: INK,
        text: "queries per second".to_owned(),
        upward: true,
    }));
}

fn recall_ticks(scene: &mut Scene, area: Extent, axis: &RecallAxis, ruler: &Ruler) {
    let mut ticks = axis.ticks();
    // Multiples other than 1, 2 and 5 only where those are too few to read by.
    if ticks.iter().filter(|t| t.rank <= 3).count() >= 4 {
        ticks.retain(|t| t.rank <= 3);
    }
    let shown = labelled(&ticks, 10.0, |label| ruler.width(label, TICK_EM));
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

fn qps_ticks(scene: &mut Scene, area: Extent, axis: &QpsAxis) {
    for tick in axis.ticks(TICK_EM) {
        scene.line((area.left, tick.at), (area.right, tick.at), 0.5, GRID);
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
