//! Bytes to messages and answers to bytes; nothing here knows what a method means.

pub mod http;

pub mod stdio;

pub(crate) mod accept;
pub(crate) mod line_reader;
