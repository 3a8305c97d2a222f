//! All policies. A new one is a file beside this one, and one line at the end.

use serde::{Deserialize, Serialize};

use super::hybrid_log::HybridLog;
use super::log_structured::LogStructured;
use super::open_blocks::OpenBlocks;
use super::page_mapped::PageMapped;
use super::section::PolicySection;

/// Declares the policies: each name is a section's type and the variant that holds it.
macro_rules! policies {
    ($($(#[$doc:meta])+ $name:ident,)+) => {
        /// The policy of a flash translation layer, with its parameters.
        #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Policy {
            $($(#[$doc])+ $name($name),)+
        }

        impl Policy {
            pub(crate) fn section(&self) -> &dyn PolicySection {
                match self {
                    $(Self::$name(section) => section,)+
                }
            }
        }
    };
}

policies! {
    /// A limited number of open erase blocks, each with a replacement block or a log of its own.
    OpenBlocks,
    /// Erase blocks mapped as wholes, with log blocks in front of them.
    HybridLog,
    /// A log over the whole flash, written at several append points.
    LogStructured,
    /// Every page mapped on its own, over spare flash.
    PageMapped,
}
