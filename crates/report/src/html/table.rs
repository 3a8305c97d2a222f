//! Tables of a page.

use maud::{Markup, html};

use crate::chart::Table;

/// A plain table; its first column holds the row headers.
pub fn plain_table(table: &Table) -> Markup {
    html! {
        div class="scroll" {
            table {
                thead { tr { @for name in &table.header { th scope="col" { (name) } } } }
                tbody {
                    @for row in &table.rows {
                        tr {
                            @for (column, cell) in row.iter().enumerate() {
                                @if column == 0 { th scope="row" { (cell) } } @else { td { (cell) } }
                            }
                        }
                    }
                }
            }
        }
    }
}
