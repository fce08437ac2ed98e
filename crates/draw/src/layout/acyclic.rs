//! Decides which lines lead upwards, so that all others can lead downwards.

use super::Graph;

/// Tells for each link whether it is drawn from a lower row to a higher one.
pub(super) fn upwards(graph: &Graph) -> Vec<bool> {
    let mut upwards = vec![false; graph.links.len()];
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); graph.boxes.len()];
    for (index, link) in graph.links.iter().enumerate() {
        if !link.is_loop() && !link.returns {
            below[link.from].push(index);
        }
    }
    for index in closing(graph, &below) {
        upwards[index] = true;
    }
    let mut down: Vec<Vec<usize>> = vec![Vec::new(); graph.boxes.len()];
    // Those that return come last: they lead upwards wherever the others lead down.
    let (others, returning): (Vec<_>, Vec<_>) = graph
        .links
        .iter()
        .enumerate()
        .filter(|(_, link)| !link.is_loop())
        .partition(|(_, link)| !link.returns);
    for (index, link) in others.into_iter().chain(returning) {
        if link.returns {
            upwards[index] = reaches(&down, link.to, link.from);
        }
        let (high, low) = if upwards[index] { (link.to, link.from) } else { (link.from, link.to) };
        down[high].push(low);
    }
    upwards
}

/// The links that close a cycle on a walk that goes as deep as it can, box by box.
fn closing(graph: &Graph, below: &[Vec<usize>]) -> Vec<usize> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; graph.boxes.len()];
    let mut closing = Vec::new();
    for root in 0..graph.boxes.len() {
        if marks[root] != Mark::New {
            continue;
        }
        marks[root] = Mark::Open;
        let mut stack = vec![(root, 0)];
        while let Some((at, next)) = stack.pop() {
            let Some(&index) = below[at].get(next) else {
                marks[at] = Mark::Done;
                continue;
            };
            stack.push((at, next + 1));
            let to = graph.links[index].to;
            match marks[to] {
                Mark::New => {
                    marks[to] = Mark::Open;
                    stack.push((to, 0));
                }
                Mark::Open => closing.push(index),
                Mark::Done => {}
            }
        }
    }
    closing
}

fn reaches(down: &[Vec<usize>], from: usize, to: usize) -> bool {
    let mut seen = vec![false; down.len()];
    let mut stack = vec![from];
    while let Some(at) = stack.pop() {
        if at == to {
            return true;
        }
        if !std::mem::replace(&mut seen[at], true) {
            stack.extend(&down[at]);
        }
    }
    false
}
