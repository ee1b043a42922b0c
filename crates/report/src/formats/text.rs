//! The page that a person reads after a trial, in 80 columns.
//!
//! From the top it has the task, reasons why the figures are useless (if there are any), the
//! figures, their cost, and their limit. The evidence follows, and caveats with what to do about
//! them. A metric that no section knows is listed, never dropped.

mod bulk;
mod caveats;
mod cost;
mod datagrams;
mod evidence;
mod exchanges;
mod figures;
mod header;
mod latency;
mod messages;
mod page;
mod pings;

use hopbench_model::{Record, Unit};

use self::figures::Figures;
use self::page::Page;
use crate::format::{Context, Format, RecordFormat};
use crate::{lines, sweep, wakeup};

/// The format; see the [module](self).
pub(super) const FORMAT: RecordFormat = Format {
    name: "text",
    summary: "for people: one page a trial, and a table when there are several",
    render,
};

fn render(records: &[Record], context: &Context) -> String {
    let mut parts: Vec<String> =
        records.iter().map(|record| trial(record, context.terminal)).collect();
    parts.extend(sweep::sweep_table(records));
    let costs = wakeup::wakeup_costs(records);
    if !costs.is_empty() {
        parts.push(costs.iter().map(|cost| lines(cost) + "\n").collect());
    }
    parts.join("\n")
}

fn trial(record: &Record, terminal: bool) -> String {
    let mut page = Page::new(terminal);
    let mut figures = Figures::new(record);
    caveats::alarms(&mut page, record);
    header::write(&mut page, record);
    page.blank();
    match record.kind().unit {
        Unit::Bits => bulk::write(&mut page, &mut figures),
        Unit::Messages => messages::write(&mut page, &mut figures),
        Unit::Packets => datagrams::write(&mut page, &mut figures),
        Unit::Echoes => pings::write(&mut page, &mut figures),
        Unit::Requests | Unit::Connections => exchanges::write(&mut page, &mut figures),
    }
    figures.over_time(&mut page);
    figures.rest(&mut page);
    latency::write(&mut page, record);
    cost::write(&mut page, record);
    evidence::write(&mut page, record);
    caveats::warnings(&mut page, record);
    page.finish()
}
