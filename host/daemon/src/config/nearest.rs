//! "Did you mean …?"

/// Least similarity (Jaro-Winkler, 0 to 1) of a word that is worth proposing: a typo or two in a short word.
const SIMILAR: f64 = 0.8;

/// The known word that is most like this one, if any is alike.
pub(crate) fn word<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let alike = known.into_iter().map(|word| (strsim::jaro_winkler(unknown, word), word));
    let best = alike.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (best.0 >= SIMILAR).then_some(best.1)
}
