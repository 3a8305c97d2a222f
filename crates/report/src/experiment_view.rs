//! What a report says of each experiment: its method, and what it measured, in a few words.

use std::collections::{BTreeMap, BTreeSet};

use flashscope_infer::files::write_methods::method_speeds;
use flashscope_record::observation::{
    AlignData, BlockEndsData, Data, DiscardData, ExperimentData, FatAreaData, FilesData, MethodsData,
    OpenUnitsData, Order, PublishedSpeedsData, SpeedData, SustainedData, WriteBufferData, WriteSizeData,
};

use crate::printable::printable;
use crate::quantity::counted;
use crate::terms::order_name;

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
        Data::PublishedSpeeds(data) => data,
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
        "Small reads just before, across and just after boundaries of every candidate size. A read across a boundary \
         between two units of the controller takes longer than its neighbours."
    }

    fn summary(&self) -> String {
        let read = self.read.map(|read| format!("reads of {read}"));
        let contents = self.contents.mostly_blank().map(|_| self.contents.to_string());
        read.into_iter().chain(contents).collect::<Vec<_>>().join("; ")
    }
}

impl ExperimentView for OpenUnitsData {
    fn method(&self) -> &'static str {
        "Round-robin writes into several erase blocks, with decreasing request size. While the controller keeps all of \
         them open, throughput depends on the request size alone; with one more, every switch costs a merge."
    }

    fn summary(&self) -> String {
        let mut by_order: BTreeMap<Order, BTreeSet<u32>> = BTreeMap::new();
        for cell in &self.cells {
            by_order.entry(cell.order).or_default().insert(cell.open_units);
        }
        let tested: Vec<String> = by_order
            .into_iter()
            .map(|(order, counts)| {
                let counts: Vec<String> = counts.iter().map(u32::to_string).collect();
                format!("{} {}", order_name(order), counts.join(", "))
            })
            .collect();
        format!("{} erase blocks; open at a time: {}", self.erase_block, tested.join("; "))
    }
}

impl ExperimentView for WriteSizeData {
    fn method(&self) -> &'static str {
        "A single stream of writes at every request size. Below the page size, a smaller write takes as long as a whole \
         page."
    }

    fn summary(&self) -> String {
        format!("{} sizes", self.cells.len())
    }
}

impl ExperimentView for FatAreaData {
    fn method(&self) -> &'static str {
        "The same writes in each of the first erase blocks. Blocks managed for the file allocation table take small \
         writes faster than the others."
    }

    fn summary(&self) -> String {
        let units: BTreeSet<u32> = self.cells.iter().map(|cell| cell.unit).collect();
        format!("{} erase blocks of {}", units.len(), self.erase_block)
    }
}

impl ExperimentView for SustainedData {
    fn method(&self) -> &'static str {
        "Large sequential writes until an SLC cache would be full. A drop in write speed marks the end of the cache; the \
         speed after it is the sustained speed."
    }

    fn summary(&self) -> String {
        format!("{} in writes of {}", self.written(), self.request)
    }
}

impl ExperimentView for WriteBufferData {
    fn method(&self) -> &'static str {
        "Bursts of small sequential writes after idle times of different lengths. A write buffer takes the first writes \
         at link speed; the others wait for the flash."
    }

    fn summary(&self) -> String {
        format!("{} bursts of writes of {}", self.bursts.len(), self.request)
    }
}

impl ExperimentView for BlockEndsData {
    fn method(&self) -> &'static str {
        "With as many erase blocks open as the controller keeps, opening another costs a merge. Of two consecutive small \
         writes, the second pays for a merge only if an erase block ends between them."
    }

    fn summary(&self) -> String {
        format!("{} erase blocks opened", self.openings.len())
    }
}

impl ExperimentView for SpeedData {
    fn method(&self) -> &'static str {
        "Equal requests, one kind after the other, until the interval of their speed is narrow. The warm-up is excluded; \
         every speed has an interval and latency percentiles."
    }

    fn summary(&self) -> String {
        counted(self.cells.len() as u64, "request kind")
    }
}

impl ExperimentView for PublishedSpeedsData {
    fn method(&self) -> &'static str {
        "Another program measured these speeds. They show how fast the device was, not how it is built."
    }

    fn summary(&self) -> String {
        counted(self.rows.len() as u64, "speed")
    }
}

impl ExperimentView for FilesData {
    fn method(&self) -> &'static str {
        "Many small files, then one file of the same size: written, flushed, read back cold and deleted. The writes that \
         reach the device show whether small writes, filesystem metadata or the host takes the time."
    }

    fn summary(&self) -> String {
        let rounds = counted(self.rounds.len() as u64, "round");
        format!("{rounds} of files ({})", printable(&self.profile))
    }
}

impl ExperimentView for MethodsData {
    fn method(&self) -> &'static str {
        "The same bytes written by several common methods. Each reports a speed when its command ends; the durable speed \
         includes a final flush of incompressible data."
    }

    fn summary(&self) -> String {
        let methods = method_speeds(self);
        let rounds = methods.iter().map(|method| method.rounds as u64).max().unwrap_or(0);
        format!("{}, {}", counted(methods.len() as u64, "write method"), counted(rounds, "round"))
    }
}
