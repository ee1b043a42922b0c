//! A table in a box that scrolls sideways on narrow screens.

use maud::{Markup, html};

use super::text::run;
use crate::document::line::Tone;
use crate::document::table::{Align, Cell, Column, Kind, Row, Table};

/// More rows than this are left to the other formats: a browser would take long.
const MOST_ROWS: usize = 2000;

/// The table; its caption is for everybody.
pub(super) fn table(table: &Table) -> Markup {
    let class = match table.kind {
        Kind::Figures => "cells",
        Kind::Words => "text",
        Kind::Map => "map",
    };
    let rows = table.rows.len();
    html! {
        div class="scroll" tabindex="0" {
            table class=(class) {
                caption { (table.caption) }
                thead { (heads(&table.columns)) }
                tbody { @for one in table.rows.iter().take(MOST_ROWS) { (row(table, one)) } }
            }
        }
        @if rows > MOST_ROWS {
            p class="note" {
                "The first " (MOST_ROWS) " of " (rows) " rows; the other formats have all."
            }
        }
    }
}

/// One line of heads, or two where columns have a head in common.
fn heads(columns: &[Column]) -> Markup {
    let has_groups = columns.iter().any(|column| !column.group.is_empty());
    let together = |a: &Column, b: &Column| !a.group.is_empty() && a.group == b.group;
    html! {
        tr {
            @for group in columns.chunk_by(together) {
                @if group[0].group.is_empty() {
                    (head(&group[0], has_groups))
                } @else {
                    th scope="colgroup" colspan=(group.len()) { (group[0].group) }
                }
            }
        }
        @if has_groups {
            tr {
                @for column in columns.iter().filter(|column| !column.group.is_empty()) {
                    (head(column, false))
                }
            }
        }
    }
}

fn head(column: &Column, is_tall: bool) -> Markup {
    let rows = if is_tall { Some(2) } else { None };
    html! {
        th scope="col" class=[class(column).filter(|class| *class == "n")] rowspan=[rows] {
            (column.label)
            @if !column.unit.is_empty() { small { (column.unit) } }
        }
    }
}

/// The class of a column's cells.
fn class(column: &Column) -> Option<&'static str> {
    match column.align {
        Align::Name => Some("point"),
        Align::Number => Some("n"),
        Align::Words => None,
    }
}

fn row(table: &Table, row: &Row) -> Markup {
    let class = match (row.begins, row.is_base) {
        (true, true) => Some("first baseline"),
        (true, false) => Some("first"),
        (false, true) => Some("baseline"),
        (false, false) => None,
    };
    html! {
        tr class=[class] {
            @for (at, (column, cell)) in table.columns.iter().zip(&row.cells).enumerate() {
                @if at == 0 {
                    th scope="row" {
                        (value(cell))
                        @if !row.remark.is_empty() { small class="remark" { (row.remark) } }
                    }
                } @else if table.kind == Kind::Map {
                    td class=(heat(cell)) {
                        (cell.text)
                        @if !cell.small.is_empty() { small { (cell.small) } }
                    }
                } @else {
                    td class=[self::class(column)] { (value(cell)) }
                }
            }
        }
    }
}

fn value(cell: &Cell) -> Markup {
    html! {
        (run(cell.tone, &cell.text))
        @if !cell.mark.is_empty() { span title=(cell.hint) { (cell.mark) } }
        @if !cell.small.is_empty() { small { (cell.small) } }
    }
}

/// The classes of a cell of a map.
fn heat(cell: &Cell) -> String {
    match cell.tone {
        Tone::Better => format!("heat b{}", cell.strength),
        Tone::Worse => format!("heat w{}", cell.strength),
        Tone::Same => "heat same".to_owned(),
        Tone::Doubt => "heat doubt".to_owned(),
        Tone::Base => "heat base".to_owned(),
        Tone::Quiet => "heat none".to_owned(),
        Tone::Plain | Tone::Name | Tone::Strong | Tone::Link => "heat".to_owned(),
    }
}
