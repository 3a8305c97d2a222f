//! Sentences about disks and their activity, shared by the terminal output and the JSON documents.

pub mod activity;
pub mod disk;
mod fact;
mod partitions;
pub mod usb;
