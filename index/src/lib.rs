//! Pressmark's engine: resource spaces behind RFC 6570 templates.

pub mod access;
pub mod error;
pub mod fragment;
pub mod resource;
pub mod resource_uri;
pub mod space;
pub mod uri_template;
