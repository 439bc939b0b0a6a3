use crate::scene::{Color, Item, Place};
use std::collections::{BTreeMap, BTreeSet};

/// Colours of the Okabe-Ito set (Color Universal Design, jfly.uni-koeln.de/color) without its
/// yellow, which is too light for a line on white, and a wine red from Paul Tol's "muted" scheme.
/// They differ in lightness too, so that they survive a black-and-white print in part; marks tell
/// the rest.
const COLORS: [Color; 8] = [
    (0x00, 0x72, 0xB2),
    (0xD5, 0x5E, 0x00),
    (0x00, 0x9E, 0x73),
    (0xCC, 0x79, 0xA7),
    (0x22, 0x22, 0x22),
    (0x56, 0xB4, 0xE9),
    (0xE6, 0x9F, 0x00),
    (0x88, 0x22, 0x55),
];

/// Dash patterns of the curves that share a colour, in canvas units.
const DASHES: [&[f64]; 4] = [&[], &[8.0, 4.0], &[2.0, 3.0], &[10.0, 3.0, 2.0, 3.0]];

/// How a series looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Look {
    pub color: Color,
    pub mark: Mark,
    pub dash: &'static [f64],
}

/// Looks for series of these adapters, in order: all series of a report at once, so that a curve
/// looks the same on each of its plots.
///
/// An adapter's colour follows from its name alone, so that it stays the same over plots and
/// runs; only when two adapters of one report would share a colour does the one later in the
/// alphabet move on to the next free one. Series of one adapter share its colour and differ in mark
/// and dash; where a report shows no other adapter, each has a colour of its own, the first the adapter's. The first series of an adapter has the mark that belongs to its colour. Marks repeat
/// only once all are taken, and then with another dash as long as there is one: colour never tells
/// two of the first 32 series apart alone.
pub(crate) fn looks(adapters: &[&str]) -> Vec<Look> {
    let mut slots: BTreeMap<&str, usize> = adapters.iter().map(|&a| (a, slot(a))).collect();
    let mut taken = [false; COLORS.len()];
    for slot in slots.values_mut() {
        let free = (0..COLORS.len()).map(|i| (*slot + i) % COLORS.len());
        if let Some(free) = free.into_iter().find(|&i| !taken[i]) {
            *slot = free;
        }
        taken[*slot] = true;
    }
    let mut series_of: BTreeMap<&str, usize> = BTreeMap::new();
    let ordinals: Vec<usize> = adapters
        .iter()
        .map(|adapter| {
            let next = series_of.entry(adapter).or_default();
            *next += 1;
            *next - 1
        })
        .collect();
    // First series choose first.
    let mut order: Vec<usize> = (0..adapters.len()).collect();
    order.sort_by_key(|&i| ordinals[i]);
    let mut shapes = Shapes::default();
    let mut looks = vec![None; adapters.len()];
    for i in order {
        let slot = slots[adapters[i]];
        let (mark, dash) = shapes.take(slot + ordinals[i], ordinals[i]);
        // Nothing else would use the other colours.
        let own = if slots.len() == 1 { ordinals[i] } else { 0 };
        looks[i] = Some(Look {
            color: COLORS[(slot + own) % COLORS.len()],
            mark: Mark::ALL[mark],
            dash: DASHES[dash],
        });
    }
    looks.into_iter().flatten().collect()
}

/// Which marks have been given out, with which dashes.
#[derive(Default)]
struct Shapes {
    pairs: BTreeSet<(usize, usize)>,
}

impl Shapes {
    /// A mark and a dash near those wanted: a mark that none has, else a pair that none has, else
    /// those wanted.
    fn take(&mut self, mark: usize, dash: usize) -> (usize, usize) {
        let (marks, dashes) = (Mark::ALL.len(), DASHES.len());
        let unused = |mark: usize| (0..dashes).all(|dash| !self.pairs.contains(&(mark, dash)));
        let wanted = (mark % marks, dash % dashes);
        let fresh = (0..marks)
            .map(|i| ((mark + i) % marks, wanted.1))
            .find(|&(mark, _)| unused(mark));
        let pair = fresh.or_else(|| {
            (0..marks * dashes)
                .map(|i| ((mark + i % marks) % marks, (dash + i / marks) % dashes))
                .find(|pair| !self.pairs.contains(pair))
        });
        let pair = pair.unwrap_or(wanted);
        self.pairs.insert(pair);
        pair
    }
}

/// The colour that a name asks for: FNV-1a with each step folded, and a start value chosen so that
/// the adapters that meet most often ask for different ones.
fn slot(adapter: &str) -> usize {
    let hash = adapter.bytes().fold(HASH_START, |hash, byte| {
        let mixed = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        mixed ^ (mixed >> 32)
    });
    (hash % COLORS.len() as u64) as usize
}

const HASH_START: u64 = 0xFDD0_76B2_D990_549E;

/// `color` mixed with white: `strength` of it is left.
pub(crate) fn faint((red, green, blue): Color, strength: f64) -> Color {
    let mix = |c: u8| (f64::from(c) * strength + 255.0 * (1.0 - strength)).round() as u8;
    (mix(red), mix(green), mix(blue))
}

/// The shape of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Circle,
    Square,
    TriangleUp,
    Diamond,
    Cross,
    TriangleDown,
    Plus,
    Star,
}

impl Mark {
    pub(crate) const ALL: [Mark; 8] = [
        Mark::Circle,
        Mark::Square,
        Mark::TriangleUp,
        Mark::Diamond,
        Mark::Cross,
        Mark::TriangleDown,
        Mark::Plus,
        Mark::Star,
    ];

    /// The shape around `center`, about as large as a circle of `radius`.
    pub(crate) fn item(self, (x, y): Place, radius: f64, color: Color) -> Item {
        let around = |corners: &[(f64, f64)]| Item::Polygon {
            points: corners
                .iter()
                .map(|(dx, dy)| (x + dx * radius, y + dy * radius))
                .collect(),
            color,
        };
        match self {
            Mark::Circle => Item::Circle {
                center: (x, y),
                radius,
                color,
            },
            Mark::Square => around(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
            Mark::TriangleUp => around(&[(0.0, -1.25), (1.15, 0.8), (-1.15, 0.8)]),
            Mark::TriangleDown => around(&[(0.0, 1.25), (1.15, -0.8), (-1.15, -0.8)]),
            Mark::Diamond => around(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
            Mark::Plus => around(&plus(0.0)),
            Mark::Cross => around(&plus(std::f64::consts::FRAC_PI_4)),
            Mark::Star => around(&star()),
        }
    }
}

/// Corners of a plus sign turned by `angle`.
fn plus(angle: f64) -> [(f64, f64); 12] {
    const CORNERS: [(f64, f64); 12] = [
        (-0.4, -1.25),
        (0.4, -1.25),
        (0.4, -0.4),
        (1.25, -0.4),
        (1.25, 0.4),
        (0.4, 0.4),
        (0.4, 1.25),
        (-0.4, 1.25),
        (-0.4, 0.4),
        (-1.25, 0.4),
        (-1.25, -0.4),
        (-0.4, -0.4),
    ];
    let (sin, cos) = angle.sin_cos();
    CORNERS.map(|(x, y)| (x * cos - y * sin, x * sin + y * cos))
}

/// Corners of a five-pointed star.
fn star() -> [(f64, f64); 10] {
    std::array::from_fn(|i| {
        let angle = std::f64::consts::PI * (i as f64 / 5.0 - 0.5);
        let reach = if i % 2 == 0 { 1.5 } else { 0.65 };
        (reach * angle.cos(), reach * angle.sin())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_that_meet_often_differ_without_moving() {
        let names = [
            "faiss", "hnsw_rs", "exact", "usearch", "hnswlib", "diskann", "scann", "annoy",
        ];
        let slots: BTreeSet<usize> = names.iter().map(|name| slot(name)).collect();
        assert_eq!(slots.len(), names.len());
    }

    #[test]
    fn a_colour_depends_on_the_name_alone() {
        let alone = looks(&["faiss"])[0].color;
        assert_eq!(looks(&["exact", "faiss", "hnsw_rs"])[1].color, alone);
    }

    #[test]
    fn series_of_one_adapter_share_a_colour_only() {
        let looks = looks(&["faiss", "hnsw_rs", "faiss"]);
        assert_eq!(looks[0].color, looks[2].color);
        assert_ne!(looks[0].mark, looks[2].mark);
        assert_ne!(looks[0].dash, looks[2].dash);
        assert_ne!(looks[0].color, looks[1].color);
    }

    #[test]
    fn series_of_the_only_adapter_have_colours_of_their_own() {
        let looks = looks(&["faiss"; 4]);
        let colors: BTreeSet<Color> = looks.iter().map(|look| look.color).collect();
        assert_eq!(colors.len(), 4);
        assert_eq!(looks[0].color, self::looks(&["exact", "faiss"])[1].color);
    }

    #[test]
    fn more_series_do_not_move_a_library() {
        let one = looks(&["exact", "faiss", "hnsw_rs"]);
        let many = looks(&["exact", "exact", "exact", "faiss", "faiss", "hnsw_rs"]);
        assert_eq!([one[0], one[1], one[2]], [many[0], many[3], many[5]]);
    }

    #[test]
    fn colour_alone_tells_no_two_series_apart() {
        let names: Vec<String> = (0..32).map(|i| format!("lib{}", i / 2)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let shapes: Vec<(Mark, &[f64])> = looks(&names).iter().map(|l| (l.mark, l.dash)).collect();
        for (i, shape) in shapes.iter().enumerate() {
            assert!(!shapes[..i].contains(shape), "{shape:?} at {i}");
        }
    }

    #[test]
    fn any_number_of_series_has_a_look() {
        let names: Vec<String> = (0..40).map(|i| format!("lib{i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(looks(&names).len(), 40);
        let first: BTreeSet<Color> = looks(&names[..8]).iter().map(|l| l.color).collect();
        assert_eq!(first.len(), 8);
    }
}
