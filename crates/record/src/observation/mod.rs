//! What was seen, unjudged: enough to infer again without the device. One file an experiment.

mod align;
mod block_ends;
mod ended;
mod fat_area;
mod files;
mod methods;
mod observations;
mod open_units;
mod refusal;
mod speed;
mod sustained;
mod times;
mod write_buffer;
mod write_size;

pub use self::align::{AlignData, AlignSample, Contents};
pub use self::block_ends::{BlockEndsData, Crossing, Opening};
pub use self::ended::{Cause, Ended, StopReason};
pub use self::fat_area::{BegunBlock, FatAreaCell, FatAreaData, Merges};
pub use self::files::{ColdBy, FilesData, FilesPart, FilesRound, FlushTime, Instead, Traffic};
pub use self::methods::{Claim, MethodsData, Way};
pub use self::observations::{Conditions, Data, Observations, Source};
pub use self::open_units::{Beginnings, BegunApart, Group, OpenUnitsCell, OpenUnitsData, PassedOver};
pub use self::refusal::{Refusal, Room};
pub use self::speed::{Direction, LinkLimit, ReadBack, SpeedCase, SpeedCell, SpeedData};
pub use self::sustained::{LONG_WRITES_MAX, LongWrite, Piece, Resumed, SustainedData};
pub use self::times::{Order, Times};
pub use self::write_buffer::{Burst, WriteBufferData};
pub use self::write_size::{PageEdge, WriteSizeCell, WriteSizeData};
