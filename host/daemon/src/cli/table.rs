//! Columns for people.

use crate::text;

/// Longest cell, in characters.
const CELL_CHARS_MAX: usize = 60;

/// Rows under a head, columns as wide as they need to be. Text of strangers can't steer the terminal.
pub(super) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    within(CELL_CHARS_MAX, head, rows)
}

/// The same with cells of at most so many characters, for what is read rather than skimmed.
pub(super) fn within(most: usize, head: &[&str], rows: &[Vec<String>]) -> String {
    let clean = |row: &Vec<String>| row.iter().map(|cell| text::line(cell, most)).collect::<Vec<String>>();
    let rows: Vec<Vec<String>> = rows.iter().map(clean).collect();
    let all = || rows.iter().map(Vec::as_slice);
    let width = |column: usize| {
        let cells = all().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain(head.get(column).map(|name| name.len())).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        format!("{}\n", padded.collect::<Vec<String>>().join("  ").trim_end())
    };
    let mut out = line(head.to_vec());
    for row in &rows {
        out.push_str(&line(row.iter().map(String::as_str).collect()));
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn columns_are_as_wide_as_they_need_to_be() {
        let rows = [vec!["1".to_owned(), "ü\u{1b}".to_owned()], vec!["100".to_owned(), "b".to_owned()]];
        assert_eq!(super::table(&["ID", "NAME"], &rows), "ID   NAME\n1    ü\\u{1b}\n100  b\n");
    }
}
