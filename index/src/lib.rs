//! Pressmark's engine.

pub mod access;
pub mod error;
pub mod resource;
pub mod space;
