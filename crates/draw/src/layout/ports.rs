//! Decides where lines meet the boxes at their ends.

use super::Graph;
use super::grid::Grid;
use super::spine::Stands;

/// Between the lines that meet at a box, and between them and its corners.
const GAP: f64 = 22.0;
const GAP_MIN: f64 = 11.0;
const INSET: f64 = 16.0;
const UPRIGHT: f64 = 1_000.0;

/// The positions where a line leaves the upper and meets the lower box.
pub(super) type Ends = [f64; 2];

struct Port {
    chain: usize,
    wanted: f64,
    /// A line that stands straight at the box keeps its place; the others make room.
    weight: f64,
}

/// Returns the ends of each chain.
pub(super) fn ends(graph: &Graph, grid: &Grid, xs: &[f64], stands: &[Stands]) -> Vec<Ends> {
    let mut ends = vec![[0.0; 2]; grid.chains.len()];
    let mut meeting: Vec<[Vec<Port>; 2]> = graph.boxes.iter().map(|_| Default::default()).collect();
    for (index, chain) in grid.chains.iter().enumerate() {
        let (cells, stands) = (&chain.cells, stands[chain.link]);
        let weight = |here: bool| match here {
            true if stands.upright() => UPRIGHT,
            true => 20.0,
            false => 1.0,
        };
        let port = |next: usize, here: bool| Port { chain: index, wanted: xs[next], weight: weight(here) };
        meeting[cells[0]][0].push(port(cells[1], stands.below_upper));
        meeting[cells[cells.len() - 1]][1].push(port(cells[cells.len() - 2], stands.above_lower));
    }
    for (at, sides) in meeting.iter_mut().enumerate() {
        let half = (graph.boxes[at].width / 2.0 - INSET).max(0.0);
        for (end, lines) in sides.iter_mut().enumerate() {
            lines.sort_by(|a, b| a.wanted.total_cmp(&b.wanted).then(a.chain.cmp(&b.chain)));
            for (line, x) in lines.iter().zip(spread(lines, xs[at] - half, xs[at] + half)) {
                ends[line.chain][end] = x;
            }
        }
    }
    ends
}

/// Returns the distance between lines: closer where there are many, so that the upright among them may keep its place.
fn gap(ports: &[Port], low: f64, high: f64) -> f64 {
    let after = ports.len().saturating_sub(1);
    let mut gap = GAP.min((high - low) / after.max(1) as f64);
    if let Some(at) = ports.iter().position(|port| port.weight == UPRIGHT) {
        let x = ports[at].wanted.clamp(low, high);
        for (lines, room) in [(at, x - low), (after - at, high - x)] {
            if lines > 0 {
                gap = gap.min((room / lines as f64).max(GAP_MIN.min(gap)));
            }
        }
    }
    gap
}

/// Places the ports as near to what they want as they can be within the bounds, in order and apart.
fn spread(ports: &[Port], low: f64, high: f64) -> Vec<f64> {
    struct Group {
        place: f64,
        weight: f64,
        members: usize,
    }
    let count = ports.len();
    let gap = gap(ports, low, high);
    // Those that would overlap are put together around the mean of what they want.
    let mut groups: Vec<Group> = Vec::new();
    for (index, port) in ports.iter().enumerate() {
        let place = port.wanted.clamp(low, high) - gap * index as f64;
        let mut group = Group { place, weight: port.weight, members: 1 };
        while let Some(before) = groups.pop_if(|before| before.place > group.place) {
            let weight = before.weight + group.weight;
            let place = (before.place * before.weight + group.place * group.weight) / weight;
            group = Group { place, weight, members: before.members + group.members };
        }
        groups.push(group);
    }
    let places = groups.iter().flat_map(|group| std::iter::repeat_n(group.place, group.members));
    let bound = |index: usize| (low + gap * index as f64, high - gap * (count - 1 - index) as f64);
    let within = |index: usize, x: f64| x.max(bound(index).0).min(bound(index).1);
    places.enumerate().map(|(index, place)| within(index, place + gap * index as f64)).collect()
}
