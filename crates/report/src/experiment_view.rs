//! What a report says of each experiment: its method, and what it measured, in a few words.

use std::collections::BTreeSet;

use flashscope_infer::files::write_methods::ways;
use flashscope_record::observation::{
    AlignData, BlockEndsData, Data, DiscardData, ExperimentData, FatAreaData, FilesData, MethodsData,
    OpenUnitsData, Order, SpeedData, SustainedData, WriteBufferData, WriteSizeData,
};

use crate::clean::printable;
use crate::quantity::counted;

/// An experiment's data, in words.
pub trait ExperimentView: ExperimentData {
    /// The method, in one or two sentences.
    fn method(&self) -> &'static str {
        "Described in flashscope's docs/methods."
    }

    /// What was measured, in a few words.
    fn summary(&self) -> String {
        counted(self.records() as u64, "record")
    }
}

/// The view of each experiment.
pub fn view(data: &Data) -> &dyn ExperimentView {
    match data {
        Data::Align(data) => data,
        Data::OpenUnits(data) => data,
        Data::WriteSize(data) => data,
        Data::FatArea(data) => data,
        Data::Sustained(data) => data,
        Data::WriteBuffer(data) => data,
        Data::BlockEnds(data) => data,
        Data::Speed(data) => data,
        Data::Files(data) => data,
        Data::Methods(data) => data,
        Data::Discard(data) => data,
    }
}

impl ExperimentView for DiscardData {
    fn method(&self) -> &'static str {
        "Areas that hold data are discarded, read, and written again. The time of that write is compared with the time to \
         overwrite the same area."
    }

    fn summary(&self) -> String {
        format!("{} areas of {}", self.areas.len(), self.area)
    }
}

impl ExperimentView for AlignData {
    fn method(&self) -> &'static str {
        "Small reads just before, across and just after boundaries of every candidate size. Where the controller \
         crosses from one unit to another, the read across takes longer than those beside it."
    }

    fn summary(&self) -> String {
        let read = self.read.map(|read| format!("reads of {read}"));
        let contents = self.contents.mostly_blank().map(|_| self.contents.to_string());
        read.into_iter().chain(contents).collect::<Vec<_>>().join("; ")
    }
}

impl ExperimentView for OpenUnitsData {
    fn method(&self) -> &'static str {
        "Writes into several erase blocks in turn, with ever smaller requests. As long as the controller can keep all \
         of them open, speed depends on the request size alone; with one too many, every switch costs a copy."
    }

    fn summary(&self) -> String {
        let tested: BTreeSet<(Order, u32)> =
            self.cells.iter().map(|cell| (cell.order, cell.open_units)).collect();
        let tested: Vec<String> =
            tested.into_iter().map(|(order, count)| format!("{count} {}", order.as_str())).collect();
        format!("blocks of {} open: {}", self.erase_block, tested.join(", "))
    }
}

impl ExperimentView for WriteSizeData {
    fn method(&self) -> &'static str {
        "Writes of every size to one place at a time. Below the unit the controller programs, a smaller write takes as \
         long as a larger one."
    }

    fn summary(&self) -> String {
        format!("{} sizes", self.cells.len())
    }
}

impl ExperimentView for FatAreaData {
    fn method(&self) -> &'static str {
        "The same writes in each of the first erase blocks. Blocks that are managed for the file allocation table take \
         small writes faster than the others."
    }

    fn summary(&self) -> String {
        let units: BTreeSet<u32> = self.cells.iter().map(|cell| cell.unit).collect();
        format!("{} blocks of {}", units.len(), self.erase_block)
    }
}

impl ExperimentView for SustainedData {
    fn method(&self) -> &'static str {
        "Large writes one behind the other, until a cache would be full. Where they become slow the cache ends, and the \
         speed behind it is the one that lasts."
    }

    fn summary(&self) -> String {
        format!("{} in writes of {}", self.written(), self.request)
    }
}

impl ExperimentView for WriteBufferData {
    fn method(&self) -> &'static str {
        "Small writes one behind the other, after pauses of different length. Memory in the controller takes the first of \
         them as fast as they come; the others wait for the flash."
    }

    fn summary(&self) -> String {
        format!("{} bursts of writes of {}", self.bursts.len(), self.request)
    }
}

impl ExperimentView for BlockEndsData {
    fn method(&self) -> &'static str {
        "With as many erase blocks begun as the controller keeps open, beginning another one costs a copy. Of two small writes \
         one behind the other, the second pays for that only where an erase block ends between them."
    }

    fn summary(&self) -> String {
        format!("{} erase blocks opened", self.openings.len())
    }
}

impl ExperimentView for SpeedData {
    fn method(&self) -> &'static str {
        "Equal requests, one kind after the other, until their speed is clear. What the start-up took is told apart from \
         what stays, and every speed has its interval and the spread of its requests."
    }

    fn summary(&self) -> String {
        format!("{} kinds of request", self.cells.len())
    }
}

impl ExperimentView for FilesData {
    fn method(&self) -> &'static str {
        "Many small files, then one file of the same bytes: made, flushed, read back cold and removed. What reached the device tells \
         whether its writes, the filesystem's tables or the host take the time."
    }

    fn summary(&self) -> String {
        let rounds = counted(self.rounds.len() as u64, "round");
        format!("{rounds} of files ({})", printable(&self.profile))
    }
}

impl ExperimentView for MethodsData {
    fn method(&self) -> &'static str {
        "The same bytes in the ways in which people write them. Each claims a speed when it stops the clock; the true one is \
         that of data which nothing can guess, until a flush says that it is there."
    }

    fn summary(&self) -> String {
        let ways = ways(self);
        let rounds = ways.iter().map(|way| way.rounds as u64).max().unwrap_or(0);
        format!("{} to write, {}", counted(ways.len() as u64, "way"), counted(rounds, "round"))
    }
}
