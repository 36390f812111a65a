//! Memory and tables of one store, summed up: wasmtime's own ceilings are per memory and per table.

use wasmtime::ResourceLimiter;

use crate::limits::{STORE_INSTANCES_MAX, STORE_MEMORIES_MAX, STORE_TABLE_ELEMENTS_MAX, STORE_TABLES_MAX};

/// The sums.
#[derive(Debug)]
pub(crate) struct Limiter {
    memory_max: usize,
    memory: usize,
    table_elements: usize,
    /// A growth of memory was refused since this was last cleared.
    pub(crate) refused: bool,
}

impl Limiter {
    pub(crate) fn new(memory_max: usize) -> Self {
        Self { memory_max, memory: 0, table_elements: 0, refused: false }
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let sum = self.memory.saturating_add(desired.saturating_sub(current));
        if sum > self.memory_max {
            self.refused = true;
            return Ok(false);
        }
        // Counted before it happens: a growth that fails after this leaves the sum too high, never too low.
        self.memory = sum;
        Ok(true)
    }

    fn memory_grow_failed(&mut self, _: wasmtime::Error) -> wasmtime::Result<()> {
        self.refused = true;
        Ok(())
    }

    fn table_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let sum = self.table_elements.saturating_add(desired.saturating_sub(current));
        if sum > STORE_TABLE_ELEMENTS_MAX {
            self.refused = true;
            return Ok(false);
        }
        self.table_elements = sum;
        Ok(true)
    }

    fn instances(&self) -> usize {
        STORE_INSTANCES_MAX
    }

    fn tables(&self) -> usize {
        STORE_TABLES_MAX
    }

    fn memories(&self) -> usize {
        STORE_MEMORIES_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memories_are_summed() {
        let mut limiter = Limiter::new(100);
        assert!(limiter.memory_growing(0, 60, None).unwrap());
        assert!(!limiter.memory_growing(0, 60, None).unwrap(), "a second memory counts with the first");
        assert!(limiter.refused);
        assert!(limiter.memory_growing(0, 40, None).unwrap());
        assert!(!limiter.memory_growing(60, usize::MAX, None).unwrap());
        assert_eq!(limiter.memory, 100);
    }
}
