//! How wasmtime is set up: the hardened profile.
//!
//! Everything that no connector needs is off; most advisories of this wasmtime line lie in what is off. What has to stay
//! on, and why: `multi_memory`, because wasmtime 48 panics while it makes adapter modules without it; the cargo features
//! `gc` and `threads`, because builds without them abort on some inputs. References to collected objects are off altogether
//! (`GC_TYPES`): a table of `externref` alone would reserve a heap.

use wasmparser::WasmFeatures;
use wasmtime::{Config, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig, RegallocAlgorithm, Strategy};

use crate::limits::{Ceilings, STORE_INSTANCES_MAX, STORE_MEMORIES_MAX, STORE_TABLE_ELEMENTS_MAX, STORE_TABLES_MAX};

/// Deepest guest stack in bytes. Wasmtime's own default; recursion beyond it traps.
const GUEST_STACK_BYTES: usize = 512 * 1024;

/// Stack of a call, host functions included.
const CALL_STACK_BYTES: usize = 1024 * 1024;

/// Memory of a pool slot that stays resident after use, in bytes from its beginning: as much as a small guest has, stack, data
/// and first heap together, so that a fresh instance costs a copy of that length and no page faults. Wasmtime could look up
/// which pages were written instead (`pagemap_scan`). It is off: that passes over pages that were swapped out, and the next
/// instance would find them as they were.
const KEEP_RESIDENT_BYTES: usize = 256 * 1024;

/// Address space for one linear memory, in bytes: all that a 32-bit index reaches, so that no access needs a check.
const MEMORY_RESERVATION_BYTES: u64 = 4 << 30;

/// What a component may use: WebAssembly 3.0 and the component model without everything that no connector needs. The
/// validation before compiling, the compiler and the engine all read it from here.
pub(crate) const FEATURES: WasmFeatures = WasmFeatures::WASM3
    .union(WasmFeatures::COMPONENT_MODEL)
    .difference(WasmFeatures::GC)
    .difference(WasmFeatures::GC_TYPES)
    .difference(WasmFeatures::EXCEPTIONS)
    .difference(WasmFeatures::FUNCTION_REFERENCES)
    .difference(WasmFeatures::THREADS)
    .difference(WasmFeatures::MEMORY64)
    .difference(WasmFeatures::RELAXED_SIMD);

/// What decides how code is compiled. The same in the compiling child and in the host, or artifacts would not fit.
fn code() -> Config {
    let mut config = Config::new();
    config
        .strategy(Strategy::Cranelift)
        .cranelift_opt_level(OptLevel::Speed)
        .cranelift_regalloc_algorithm(RegallocAlgorithm::Backtracking)
        .epoch_interruption(true)
        .concurrency_support(false)
        // For debuggers and for addresses in the WebAssembly file. A trap is told with the names of functions, which need
        // neither; without them an artifact is a seventh smaller, and reading it is most of what a cached load costs.
        .native_unwind_info(false)
        .generate_address_map(false)
        .shared_memory(false)
        .wasm_features(FEATURES, true)
        .wasm_features(FEATURES.complement(), false)
        .memory_reservation(MEMORY_RESERVATION_BYTES)
        .max_wasm_stack(GUEST_STACK_BYTES)
        .async_stack_size(CALL_STACK_BYTES);
    config
}

/// For compiling alone: no pool is reserved, so that it fits under an address-space limit.
pub(crate) fn compiling() -> Config {
    code()
}

/// For running: instances come from a pool with explicit ceilings.
pub(crate) fn running(ceilings: &Ceilings) -> Config {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(ceilings.instances)
        // Most components have a handful of each; the shares of those that have more come from the same totals.
        .total_core_instances(ceilings.instances.saturating_mul(8))
        .total_memories(ceilings.instances.saturating_mul(2))
        .total_tables(ceilings.instances.saturating_mul(4))
        .total_stacks(ceilings.instances)
        .max_core_instances_per_component(STORE_INSTANCES_MAX as u32)
        .max_memories_per_component(STORE_MEMORIES_MAX as u32)
        .max_tables_per_component(STORE_TABLES_MAX as u32)
        .max_memories_per_module(STORE_MEMORIES_MAX as u32)
        .max_tables_per_module(STORE_TABLES_MAX as u32)
        .table_elements(STORE_TABLE_ELEMENTS_MAX)
        .max_memory_size(ceilings.memory)
        .max_unused_warm_slots(ceilings.instances / 8)
        .linear_memory_keep_resident(KEEP_RESIDENT_BYTES)
        .table_keep_resident(KEEP_RESIDENT_BYTES);
    let mut config = code();
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}
