//! Aligned columns.

/// Rows under headers; columns are as wide as their widest cell.
#[derive(Debug)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    #[must_use]
    pub fn new<const N: usize>(headers: [&str; N]) -> Table {
        Table { rows: vec![headers.map(str::to_owned).to_vec()] }
    }

    /// Makes rows without headers.
    #[must_use]
    pub fn bare() -> Table {
        Table { rows: Vec::new() }
    }

    /// Adds a row. Cells are made harmless: they hold text of others.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.map(|cell| plain(&cell)).to_vec());
    }

    /// Returns the rows as lines.
    #[must_use]
    pub fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                self.rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell)).max().unwrap_or(0)
            })
            .collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (cell, column) in row.iter().zip(&widths) {
                line.push_str(cell);
                line.push_str(&" ".repeat(column - width(cell) + 2));
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// Returns text of others on one line, without what could steer a terminal.
#[must_use]
pub fn plain(text: &str) -> String {
    let tame = |c: char| match c {
        '\n' | '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    text.chars().filter(|c| *c != '\r').map(tame).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_end_with_text() {
        let mut table = Table::new(["ID", "STATE", "KEY"]);
        table.row(["1".to_owned(), "RECEIVED".to_owned(), String::new()]);
        table.row(["größe".to_owned(), "A".to_owned(), "k".to_owned()]);
        assert_eq!(table.render(), "ID     STATE     KEY\n1      RECEIVED\ngröße  A         k\n");
    }

    #[test]
    fn hostile_cells_stay_in_their_place() {
        let mut table = Table::bare();
        table.row(["a\u{1b}[2Jb\nc\r".to_owned()]);
        assert_eq!(table.render(), "a\u{fffd}[2Jb c\n");
    }
}
