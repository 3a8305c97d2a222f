//! Workloads: what people do with a stick, as files and their sizes.

pub mod file_sizes;
