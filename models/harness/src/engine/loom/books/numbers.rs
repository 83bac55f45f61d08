//! The values that were written to atomic numbers.
//!
//! loom decides which of the written values an access reads. A replay does not ask loom, so the
//! decision is recorded: how many writes ago the value was the newest.

use super::Books;

/// All values of an atomic number, in the order in which they were written.
#[derive(Debug)]
pub(super) struct Number {
    values: Vec<u64>,
    /// The number that the record of accesses uses for it.
    object: usize,
}

impl Books {
    pub(in crate::engine::loom) fn new_number(&mut self, value: u64) -> usize {
        let object = self.new_lock();
        self.numbers.push(Number { values: vec![value], object });
        self.numbers.len() - 1
    }

    /// Tells whether the execution has atomic numbers, so that loom has to know what locks order.
    pub(in crate::engine::loom) fn has_numbers(&self) -> bool {
        !self.numbers.is_empty()
    }

    /// Returns the value that was written last.
    pub(in crate::engine::loom) fn newest(&self, number: usize) -> u64 {
        *self.numbers[number].values.last().expect("it was made with a value")
    }

    pub(in crate::engine::loom) fn write(&mut self, number: usize, value: u64) {
        let number = &mut self.numbers[number];
        number.values.push(value);
        self.record.acquired(self.threads[self.running].number, number.object);
    }

    /// Records which value the running thread has read.
    pub(in crate::engine::loom) fn has_read(&mut self, number: usize, value: u64) {
        let values = &self.numbers[number].values;
        let back = values.iter().rev().position(|&written| written == value);
        let back = back.expect("what is read was written") as u32;
        if values.len() > 1 {
            let object = self.numbers[number].object;
            self.record.looked_back(self.threads[self.running].number, object, back);
        }
    }

    /// Returns the value that a replay prescribes.
    pub(in crate::engine::loom) fn prescribed_value(&mut self, number: usize) -> u64 {
        let values = &self.numbers[number].values;
        if values.len() == 1 {
            return values[0];
        }
        match self.record.prescribed_answer(values.len() as u32) {
            Some(Some(back)) => values[values.len() - 1 - back as usize],
            _ => {
                self.diverge();
                self.newest(number)
            }
        }
    }
}
