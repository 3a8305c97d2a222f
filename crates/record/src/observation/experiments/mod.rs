//! The data of each experiment, one file each, and the table of all of them.

mod align;
mod block_ends;
mod discard;
mod fat_area;
mod files;
mod methods;
mod open_units;
mod published_speeds;
mod speed;
mod sustained;
mod write_buffer;
mod write_size;

pub use self::align::{AlignData, AlignSample, Contents};
pub use self::block_ends::{BlockEndsData, Crossing, Opening};
pub use self::discard::{DiscardData, DiscardedArea, DiscardedContent};
pub use self::fat_area::{FatAreaCell, FatAreaData, Merges, OpenedBlock};
pub use self::files::{ColdBy, FilesData, FilesPart, FilesRound, FlushTime, Instead, Traffic};
pub use self::methods::{MethodTiming, MethodsData, WriteMethod};
pub use self::open_units::{Group, OpenUnitsCell, OpenUnitsData, OpeningPair, PassedOver};
pub use self::published_speeds::{PublishedSpeed, PublishedSpeedsData};
pub use self::speed::{Direction, LinkLimit, SpeedCase, SpeedCell, SpeedData};
pub use self::sustained::{LONG_WRITES_MAX, LongWrite, OtherWrites, Piece, Resumed, SustainedData};
pub use self::write_buffer::{Burst, WriteBufferData};
pub use self::write_size::{PageEdge, WriteSizeCell, WriteSizeData};

use crate::observation::data_enum::data_enum;

data_enum! {
    /// Reads beside and across boundaries.
    "align" => Align(AlignData),
    /// Round-robin writes into several erase blocks.
    "open-units" => OpenUnits(OpenUnitsData),
    /// Writes of every size.
    "write-size" => WriteSize(WriteSizeData),
    /// The same writes in each of the first erase blocks.
    "fat-area" => FatArea(FatAreaData),
    /// Large sequential writes until caches are exhausted.
    "sustained" => Sustained(SustainedData),
    /// Small sequential writes after pauses.
    "write-buffer" => WriteBuffer(WriteBufferData),
    /// Writes on both sides of offsets where erase blocks may end.
    "block-ends" => BlockEnds(BlockEndsData),
    /// Rows of equal requests of several kinds.
    "speed" => Speed(SpeedData),
    /// Speeds that another program measured.
    "published-speeds" => PublishedSpeeds(PublishedSpeedsData),
    /// Many small files beside one large file.
    "files" => Files(FilesData),
    /// The same bytes by several write methods.
    "methods" => Methods(MethodsData),
    /// Discards of areas, and writes into them before and after.
    "discard" => Discard(DiscardData),
}
