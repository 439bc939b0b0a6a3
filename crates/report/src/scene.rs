#[cfg(test)]
use crate::font::Ruler;

/// Red, green, blue.
pub(crate) type Color = (u8, u8, u8);
/// x to the right, y downwards, in units of which the canvas is [`crate::plot::WIDTH`] wide.
pub(crate) type Place = (f64, f64);

/// Which part of a text stands at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A line of text.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    /// On the baseline.
    pub at: Place,
    pub em: f64,
    pub anchor: Anchor,
    pub color: Color,
    pub text: String,
    /// Reads upwards, its baseline on the right.
    pub upward: bool,
}

/// Something to draw.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    Path {
        points: Vec<Place>,
        width: f64,
        color: Color,
    },
    Polygon {
        points: Vec<Place>,
        color: Color,
    },
    Circle {
        center: Place,
        radius: f64,
        color: Color,
    },
    Text(Text),
}

/// A drawing that no backend has seen yet, so that its layout can be checked.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub width: f64,
    pub height: f64,
    /// Later items cover earlier ones.
    pub items: Vec<Item>,
}

impl Scene {
    pub(crate) fn line(&mut self, from: Place, to: Place, width: f64, color: Color) {
        self.items.push(Item::Path {
            points: vec![from, to],
            width,
            color,
        });
    }

    /// Horizontal text.
    pub(crate) fn text(
        &mut self,
        at: Place,
        em: f64,
        anchor: Anchor,
        color: Color,
        text: impl Into<String>,
    ) {
        self.items.push(Item::Text(Text {
            at,
            em,
            anchor,
            color,
            text: text.into(),
            upward: false,
        }));
    }
}

/// A box: left, top, right, bottom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extent {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Extent {
    /// Whether the boxes share an area.
    #[cfg(test)]
    pub(crate) fn overlaps(&self, other: &Extent) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

impl Text {
    /// The box of its ink, from the height of capitals to below the descenders.
    #[cfg(test)]
    pub(crate) fn extent(&self, ruler: &Ruler) -> Extent {
        let width = ruler.width(&self.text, self.em);
        let before = match self.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width / 2.0,
            Anchor::End => width,
        };
        let (x, y) = self.at;
        let (rise, fall) = (0.76 * self.em, 0.24 * self.em);
        if self.upward {
            Extent {
                left: x - rise,
                top: y + before - width,
                right: x + fall,
                bottom: y + before,
            }
        } else {
            Extent {
                left: x - before,
                top: y - rise,
                right: x - before + width,
                bottom: y + fall,
            }
        }
    }
}

/// Cuts a path into the strokes of a dash pattern: lengths of strokes and gaps in turn. An empty
/// pattern, or one without length, leaves the path whole.
pub(crate) fn dash(points: &[Place], pattern: &[f64]) -> Vec<Vec<Place>> {
    let usable = pattern.iter().all(|l| l.is_finite() && *l > 0.0);
    if pattern.is_empty() || !usable {
        return vec![points.to_vec()];
    }
    let mut strokes = Vec::new();
    let mut stroke: Vec<Place> = points.first().copied().into_iter().collect();
    let (mut part, mut left) = (0, pattern[0]);
    for pair in points.windows(2) {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        let length = (x1 - x0).hypot(y1 - y0);
        let mut walked = 0.0;
        while length - walked > left {
            walked += left;
            let share = walked / length;
            let cut = (x0 + share * (x1 - x0), y0 + share * (y1 - y0));
            if part % 2 == 0 {
                if stroke.last() != Some(&cut) {
                    stroke.push(cut);
                }
                strokes.push(std::mem::take(&mut stroke));
            } else {
                stroke = vec![cut];
            }
            part = (part + 1) % (pattern.len() + pattern.len() % 2);
            left = pattern[part % pattern.len()];
        }
        left -= length - walked;
        if part % 2 == 0 && length > walked {
            stroke.push((x1, y1));
        }
    }
    if stroke.len() > 1 {
        strokes.push(stroke);
    }
    strokes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_cover_half_of_an_even_pattern() {
        let strokes = dash(&[(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)], &[2.0, 2.0]);
        assert_eq!(strokes.len(), 5);
        assert_eq!(strokes[0], [(0.0, 0.0), (2.0, 0.0)]);
        assert_eq!(strokes[2], [(8.0, 0.0), (10.0, 0.0)]);
        let length: f64 = strokes
            .iter()
            .flat_map(|s| s.windows(2))
            .map(|p| (p[1].0 - p[0].0).hypot(p[1].1 - p[0].1))
            .sum();
        assert!((length - 10.0).abs() < 1e-9, "{length}");
    }

    #[test]
    fn no_pattern_is_one_stroke() {
        assert_eq!(dash(&[(0.0, 0.0), (1.0, 1.0)], &[]).len(), 1);
    }
}
