//! Bytes to messages and answers to bytes.
