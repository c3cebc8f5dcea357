//! Ending work before it is done: its caller has gone, or the engine closes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, ErrorKind, Result};

/// Tells work that its result is no longer wanted. Clones stand for the same request to end. Long work looks at it every
/// few milliseconds.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    own: Arc<AtomicBool>,
    other: Option<Arc<AtomicBool>>,
}

impl Stop {
    /// Asks the work to end.
    pub fn ask(&self) {
        self.own.store(true, Ordering::Relaxed);
    }

    /// Whether the work is to end.
    pub fn is_asked(&self) -> bool {
        let is_set = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        is_set(&self.own) || self.other.as_deref().is_some_and(is_set)
    }

    /// One that is asked as soon as either of the two is.
    pub(crate) fn or(&self, other: &Stop) -> Stop {
        Stop { own: Arc::clone(&self.own), other: Some(Arc::clone(&other.own)) }
    }

    /// # Errors
    /// `Closed` when the work is to end.
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_asked() {
            let text = "the work has ended early: its caller has gone, or the engine closes";
            return Err(Error::new(ErrorKind::Closed, "store", text));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_of_two_ends_the_work() {
        for asked in 0..2 {
            let two = [Stop::default(), Stop::default()];
            let [caller, engine] = &two;
            let both = caller.or(engine);
            assert!(both.check().is_ok());
            two[asked].ask();
            assert!(both.is_asked() && both.check().is_err());
        }
    }
}
