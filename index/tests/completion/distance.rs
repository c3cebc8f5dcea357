//! Edits: insertion, deletion, substitution, and the swap of two neighbours (optimal string alignment).

/// The fewest edits from `typed` to a prefix of `value`, of the prefixes that `allowed` takes.
pub(crate) fn to_a_prefix(
    typed: &[char],
    value: &[char],
    allowed: impl Fn(&[char]) -> bool,
) -> Option<usize> {
    let alignments = alignments(typed, value);
    (0..=value.len())
        .filter(|length| allowed(&value[..*length]))
        .map(|length| alignments[typed.len()][length])
        .min()
}

/// `[i][j]`: the edits from the first `i` of one to the first `j` of the other.
fn alignments(one: &[char], other: &[char]) -> Vec<Vec<usize>> {
    let mut edits = vec![vec![0; other.len() + 1]; one.len() + 1];
    for i in 0..=one.len() {
        for j in 0..=other.len() {
            edits[i][j] = match (i, j) {
                (0, _) => j,
                (_, 0) => i,
                _ => {
                    let same = usize::from(one[i - 1] != other[j - 1]);
                    let mut least = (edits[i - 1][j - 1] + same)
                        .min(edits[i - 1][j] + 1)
                        .min(edits[i][j - 1] + 1);
                    let swapped =
                        i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
                    if swapped {
                        least = least.min(edits[i - 2][j - 2] + 1);
                    }
                    least
                }
            };
        }
    }
    edits
}

#[test]
fn distances() {
    for (typed, value, edits) in [
        ("", "abc", 0),
        ("abc", "abcdef", 0),
        ("acb", "abcdef", 1),
        ("requets", "requests", 1),
        ("reqeusts", "requests-oauth", 1),
        ("xrequests", "requests", 1),
        ("pythn", "python", 1),
        ("ca", "abc", 1),
        ("kitten", "sitting", 2),
        ("abcdef", "a", 5),
    ] {
        let [typed, value]: [Vec<char>; 2] = [typed, value].map(|text| text.chars().collect());
        assert_eq!(to_a_prefix(&typed, &value, |_| true), Some(edits), "{typed:?} {value:?}");
    }
    // No character is edited twice: a swap cannot be parted by an insertion.
    assert_eq!(to_a_prefix(&['c', 'a'], &['a', 'b', 'c'], |prefix| prefix.len() == 3), Some(3));
}
