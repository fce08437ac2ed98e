//! Drawings of any graph: nothing lies on anything else.

use proptest::prelude::*;

use super::*;

fn graph(boxes: usize, links: &[(usize, usize, bool, bool)]) -> Graph {
    let size = |index: usize| Size {
        width: 90.0 + 40.0 * (index % 4) as f64,
        height: 30.0 + 15.0 * (index % 3) as f64,
    };
    let mut graph = Graph { boxes: (0..boxes).map(size).collect(), links: Vec::new() };
    for &(from, to, main, returns) in links {
        let (from, to) = (from % boxes, to % boxes);
        if !graph.links.iter().any(|link| (link.from, link.to) == (from, to)) {
            let label = Size { width: 20.0 + 30.0 * ((from + to) % 4) as f64, height: 18.0 };
            graph.links.push(Link { from, to, label, main, returns });
        }
    }
    graph
}

fn overlap(a: &Rect, b: &Rect) -> bool {
    let apart =
        a.right() <= b.left() || b.right() <= a.left() || a.bottom() <= b.top() || b.bottom() <= a.top();
    !apart
}

fn inside(rect: &Rect, (x, y): (f64, f64)) -> bool {
    x > rect.left() + 1.0 && x < rect.right() - 1.0 && y > rect.top() + 1.0 && y < rect.bottom() - 1.0
}

/// Points along a path of `M`, `V` and `C`.
fn points(line: &str) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut rest = line;
    while let Some(command) = rest.chars().next() {
        let end = rest[1..].find(['M', 'V', 'C']).map_or(rest.len(), |end| end + 1);
        let numbers: Vec<f64> = rest[1..end].split(' ').map(|number| number.parse().unwrap()).collect();
        let from = points.last().copied().unwrap_or_default();
        match command {
            'M' => points.push((numbers[0], numbers[1])),
            'V' => points
                .extend((1..=20).map(|t| (from.0, from.1 + (numbers[0] - from.1) * f64::from(t) / 20.0))),
            _ => points.extend((1..=20).map(|t| bezier(from, &numbers, f64::from(t) / 20.0))),
        }
        rest = &rest[end..];
    }
    points
}

fn bezier(from: (f64, f64), to: &[f64], t: f64) -> (f64, f64) {
    let u = 1.0 - t;
    let at = |a: f64, b: f64, c: f64, d: f64| {
        u * u * u * a + 3.0 * u * u * t * b + 3.0 * u * t * t * c + t * t * t * d
    };
    (at(from.0, to[0], to[2], to[4]), at(from.1, to[1], to[3], to[5]))
}

fn check(graph: &Graph) {
    let layout = graph.layout();
    assert_eq!((layout.boxes.len(), layout.routes.len()), (graph.boxes.len(), graph.links.len()));
    let labels: Vec<Rect> = layout.routes.iter().flatten().map(|route| route.label).collect();
    let all: Vec<Rect> = layout.boxes.iter().chain(&labels).copied().collect();
    for (index, a) in all.iter().enumerate() {
        assert!(a.left() >= 0.0 && a.right() <= layout.size.width, "{a:?} is outside {:?}", layout.size);
        assert!(a.top() >= 0.0 && a.bottom() <= layout.size.height, "{a:?} is outside {:?}", layout.size);
        for b in &all[index + 1..] {
            assert!(!overlap(a, b), "{a:?} overlaps {b:?}");
        }
    }
    for (index, route) in layout.routes.iter().enumerate() {
        let Some(route) = route else { continue };
        for point in points(&route.line) {
            assert!(!layout.boxes.iter().any(|rect| inside(rect, point)), "link {index} runs through a box");
            let others = layout.routes.iter().enumerate().filter(|(other, _)| *other != index);
            let hit = others.flat_map(|(_, route)| route).any(|other| inside(&other.label, point));
            assert!(!hit, "link {index} runs through another's label");
        }
    }
}

#[test]
fn every_line_of_a_machine_of_usual_size_is_drawn() {
    let graph = graph(
        4,
        &[
            (0, 1, true, false),
            (1, 2, true, false),
            (2, 1, false, false),
            (2, 3, true, false),
            (3, 3, false, true),
        ],
    );
    let layout = graph.layout();
    assert!(layout.routes.iter().all(Option::is_some));
    let rows: Vec<f64> = layout.boxes.iter().map(|rect| rect.y).collect();
    assert!(rows.is_sorted(), "{rows:?}");
    let xs: Vec<f64> = layout.boxes.iter().map(|rect| rect.x).collect();
    assert!(xs.iter().all(|x| (x - xs[0]).abs() < 1.0), "the main way is straight: {xs:?}");
    check(&graph);
}

#[test]
fn a_way_out_of_an_end_leads_upwards() {
    // The start leads to the end (3) as well, which is walked first; still the end stands below.
    let graph = graph(
        4,
        &[
            (0, 3, false, false),
            (0, 1, true, false),
            (1, 2, true, false),
            (2, 3, false, false),
            (3, 1, false, true),
        ],
    );
    let layout = graph.layout();
    assert!(layout.boxes[3].y > layout.boxes[2].y);
}

#[test]
fn a_hostile_machine_is_drawn_in_bounded_time() {
    let links: Vec<_> =
        (0..200).flat_map(|from| (0..50).map(move |n| (from, from * 7 + n * 3, n == 0, false))).collect();
    let graph = graph(200, &links);
    let layout = graph.layout();
    let drawn = layout.routes.iter().flatten().count();
    assert!(drawn > 100 && drawn < graph.links.len(), "{drawn}");
}

#[test]
fn nothing_is_a_drawing_too() {
    assert_eq!(graph(1, &[]).layout().boxes.len(), 1);
    assert!(Graph::default().layout().boxes.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn nothing_lies_on_anything_else(
        boxes in 1usize..18,
        links in prop::collection::vec((0usize..18, 0usize..18, any::<bool>(), prop::bool::weighted(0.2)), 0..40),
    ) {
        check(&graph(boxes, &links));
    }
}
