//! Several ordered lists as one.

use std::collections::BinaryHeap;

/// Greatest first, out of lists that are each greatest first. Costs the logarithm of the number of lists an element,
/// and reads no further than is asked for.
pub(super) fn merge<I>(lists: impl IntoIterator<Item = I>) -> impl Iterator<Item = I::Item>
where
    I: Iterator,
    I::Item: Ord,
{
    let mut lists: Vec<I> = lists.into_iter().collect();
    let mut heads = BinaryHeap::new();
    for (no, list) in lists.iter_mut().enumerate() {
        heads.extend(list.next().map(|head| (head, no)));
    }
    std::iter::from_fn(move || {
        let (head, no) = heads.pop()?;
        heads.extend(lists[no].next().map(|next| (next, no)));
        Some(head)
    })
}

#[cfg(test)]
mod tests {
    use super::merge;

    #[test]
    fn lists_come_out_as_one_in_order() {
        let lists = [vec![9, 4, 1], vec![], vec![8, 7, 2], vec![5]];
        let merged: Vec<_> = merge(lists.map(Vec::into_iter)).collect();
        assert_eq!(merged, [9, 8, 7, 5, 4, 2, 1]);
    }
}
