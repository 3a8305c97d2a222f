//! How each thing was measured, in a sentence, and where the method is described.

use flashscope_record::observation::Data;
use maud::{Markup, html};

use crate::Report;
use crate::words::experiment;

pub fn section(report: &Report<'_>) -> Markup {
    let mut methods: Vec<(&str, &str)> =
        report.run.observations.iter().map(|seen| method(&seen.data)).collect();
    methods.dedup();
    html! {
        @if !methods.is_empty() {
            section class="methods" {
                h2 { "Methods" }
                dl { @for (name, text) in methods { dt { (name) } dd { (text) } } }
                p { "Each has a page of its own in flashscope's docs/methods: question, procedure, assumptions, and how it can mislead." }
            }
        }
    }
}

const fn method(data: &Data) -> (&'static str, &'static str) {
    let text = match data {
        Data::Align(_) => {
            "Small reads just before, across and just after boundaries of every candidate size. Where the controller \
             crosses from one unit to another, the read across takes longer than those beside it."
        }
        Data::OpenUnits(_) => {
            "Writes into several erase blocks in turn, with ever smaller requests. As long as the controller can keep all \
             of them open, speed depends on the request size alone; with one too many, every switch costs a copy."
        }
        Data::WriteSize(_) => {
            "Writes of every size to one place at a time. Below the unit the controller programs, a smaller write takes as \
             long as a larger one."
        }
        Data::BlockEnds(_) => {
            "With as many erase blocks begun as the controller keeps open, beginning another one costs a copy. Of two small writes \
             one behind the other, the second pays for that only where an erase block ends between them."
        }
        Data::FatArea(_) => {
            "The same writes in each of the first erase blocks. Blocks that are managed for the file allocation table take \
             small writes faster than the others."
        }
        Data::Sustained(_) => {
            "Large writes one behind the other, until a cache would be full. Where they become slow the cache ends, and the \
             speed behind it is the one that lasts."
        }
        Data::WriteBuffer(_) => {
            "Small writes one behind the other, after pauses of different length. Memory in the controller takes the first of \
             them as fast as they come; the others wait for the flash."
        }
        Data::Speed(_) => {
            "Equal requests, one kind after the other, until their speed is clear. What the start-up took is told apart from \
             what stays, and every speed has its interval and the spread of its requests."
        }
        Data::Files(_) => {
            "Many small files, then one file of the same bytes: made, flushed, read back cold and removed. What reached the device tells \
             whether its writes, the filesystem's tables or the host take the time."
        }
        Data::Methods(_) => {
            "The same bytes in the ways in which people write them. Each claims a speed when it stops the clock; the true one is \
             that of data which nothing can guess, until a flush says that it is there."
        }
    };
    (experiment(data), text)
}
