//! A scan that keeps step with another one: what belongs to an entry there is mostly the next entry here, which costs
//! a step where a look-up would search filters, indexes and blocks.

use crate::error::Result;
use crate::store::{Cf, Scan, View};

/// After this many steps the key is searched for: it is further away than a search costs.
const STEPS_MAX: usize = 8;

/// A scan of a whole family that is asked for one key after the other, mostly in rising order.
pub(super) struct Beside<'v> {
    scan: Scan<'v>,
    /// The scan stands at the first key that is not less than this one.
    asked: Vec<u8>,
}

impl<'v> Beside<'v> {
    pub(super) fn new(view: &'v View<'_>, cf: Cf) -> Result<Beside<'v>> {
        Ok(Beside { scan: view.pass(cf, b"", b"")?, asked: Vec::new() })
    }

    /// The value of a key, as a look-up would find it.
    ///
    /// # Errors
    /// `Corrupt` where it lies in what cannot be read; other keys can still be asked for.
    pub(super) fn value(&mut self, key: &[u8]) -> Result<Option<&[u8]>> {
        if !self.steps_to(key) {
            self.scan.seek(key);
        }
        self.asked.clear();
        self.asked.extend_from_slice(key);
        let item = self.scan.item()?;
        Ok(item.filter(|(found, _)| *found == key).map(|(_, value)| value))
    }

    /// Whether the scan has come to stand at the first key that is not less than this one.
    fn steps_to(&mut self, key: &[u8]) -> bool {
        if self.asked.as_slice() > key {
            return false;
        }
        for _ in 0..STEPS_MAX {
            match self.scan.item() {
                Ok(Some((found, _))) if found < key => self.scan.advance(),
                Ok(_) => return true,
                // A search decides whether this very key is where nothing can be read.
                Err(_) => return false,
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Opened, Store};

    #[test]
    fn it_answers_as_a_look_up_does() {
        let folder = tempfile::tempdir().unwrap();
        let Opened::Writable(store) = Store::open(folder.path(), 1 << 20).unwrap() else {
            panic!("a new store can be written");
        };
        let mut batch = store.batch();
        for number in (0..100_u32).filter(|number| number % 7 != 3) {
            batch.put(Cf::Descriptors, &number.to_be_bytes(), &number.to_be_bytes()).unwrap();
        }
        store.write(batch, false).unwrap();
        let view = store.view();
        for order in [
            (0..110).collect::<Vec<u32>>(),
            (0..110).rev().collect(),
            (0..110).map(|number| number * 37 % 110).collect(),
            vec![3, 3, 4, 4, 3, 99, 109, 98],
        ] {
            let mut beside = Beside::new(&view, Cf::Descriptors).unwrap();
            for number in order {
                let key = number.to_be_bytes();
                let expected = view.get(Cf::Descriptors, &key).unwrap();
                assert_eq!(beside.value(&key).unwrap(), expected.as_deref(), "{number}");
            }
        }
        let mut none = Beside::new(&view, Cf::Tombstones).unwrap();
        assert_eq!(none.value(b"x").unwrap(), None);
    }
}
