//! Sizes of messages: a client of gRPC takes 4 MiB of one unless it is told otherwise.

use prost::Message;

/// Bytes of a message, with some left for its own fields.
const MESSAGE_BYTES_MAX: usize = 4 * 1024 * 1024 - 1024;
/// The most that an item costs besides its own bytes: its field's number and its length.
const ITEM_FRAME_BYTES: usize = 6;

/// The items in their order, in groups that each fit into a message; an item that does not fit is alone in its group.
pub(super) fn in_messages<M: Message>(items: impl IntoIterator<Item = M>) -> Vec<Vec<M>> {
    let (mut groups, mut group, mut bytes) = (Vec::new(), Vec::new(), 0_usize);
    for item in items {
        let more = item.encoded_len().saturating_add(ITEM_FRAME_BYTES);
        if !group.is_empty() && bytes.saturating_add(more) > MESSAGE_BYTES_MAX {
            groups.push(std::mem::take(&mut group));
            bytes = 0;
        }
        bytes = bytes.saturating_add(more);
        group.push(item);
    }
    if !group.is_empty() {
        groups.push(group);
    }
    groups
}

#[cfg(test)]
mod tests {
    use pressmark_proto::v1;

    use super::*;

    fn resource(bytes: usize) -> v1::StoredResource {
        let resource = v1::Resource { title: Some("x".repeat(bytes)), ..v1::Resource::default() };
        v1::StoredResource { resource: Some(resource), ..v1::StoredResource::default() }
    }

    #[test]
    fn a_message_is_larger_than_its_bound_only_for_one_item() {
        for (sizes, groups) in [
            (&[][..], &[][..]),
            (&[1, 2, 3], &[3][..]),
            (&[900_000, 3_900_000], &[1, 1]),
            (&[9_000_000], &[1]),
            (&[10, 9_000_000, 10, 10], &[1, 1, 2]),
            (&[2_000_000, 2_000_000, 2_000_000], &[2, 1]),
        ] {
            let made = in_messages(sizes.iter().map(|bytes| resource(*bytes)));
            assert_eq!(made.iter().map(Vec::len).collect::<Vec<_>>(), groups, "{sizes:?}");
            for resources in made.into_iter().filter(|group| group.len() > 1) {
                let message = v1::ScanResourcesResponse { resources };
                assert!(message.encoded_len() <= 4 * 1024 * 1024, "{sizes:?}");
            }
        }
    }
}
