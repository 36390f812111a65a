//! Core WebAssembly without a component around it: what a boundary and an instance cost at least.

use anyhow::{Context as _, Result};
use jackfield_model::Dispatch;
use wasmparser::{Parser, Payload};
use wasmtime::{
    Config, Engine, Instance, InstanceAllocationStrategy, InstancePre, Linker, Memory, Module, PoolingAllocationConfig,
    Store, TypedFunc,
};

/// A module that has a memory of 512 KiB and takes bytes in it without looking at them.
const TAKES: &str = r#"
    (module
      (memory (export "memory") 8)
      (func (export "take") (param i32 i32) (result i32) i32.const 0))
"#;

/// An instance of [`TAKES`].
pub(crate) struct Taker {
    store: Store<()>,
    memory: Memory,
    take: TypedFunc<(u32, u32), u32>,
}

impl Taker {
    /// Makes it.
    pub(crate) fn new() -> Result<Self> {
        let engine = Engine::default();
        let mut store = Store::new(&engine, ());
        let instance = Instance::new(&mut store, &Module::from_binary(&engine, &wat::parse_str(TAKES)?)?, &[])?;
        let memory = instance.get_memory(&mut store, "memory").context("the module has no memory")?;
        let take = instance.get_typed_func(&mut store, "take")?;
        Ok(Self { store, memory, take })
    }

    /// Copies all bytes of these dispatches into its memory, one behind the other, and calls once.
    pub(crate) fn take(&mut self, dispatches: &[Dispatch]) -> Result<()> {
        let mut end = 0;
        for dispatch in dispatches {
            let Dispatch { kind, payload, lane, context } = dispatch;
            for part in [kind.as_bytes(), payload.bytes(), lane.as_bytes(), context.as_bytes()] {
                self.memory.write(&mut self.store, end, part)?;
                end += part.len();
            }
        }
        self.take.call(&mut self.store, (0, u32::try_from(end)?))?;
        Ok(())
    }
}

/// Pages of a slot that stay resident, as the host keeps them: else this side would fault in what ours does not.
const KEEP_RESIDENT_BYTES: usize = 128 * 1024;

/// The core module that does a component's work, without what it imports.
pub(crate) struct Core {
    engine: Engine,
    pre: InstancePre<()>,
}

impl Core {
    /// Takes the largest core module out of a component, and gives it imports that trap.
    pub(crate) fn of(component: &[u8]) -> Result<Self> {
        let mut config = Config::new();
        let mut pool = PoolingAllocationConfig::new();
        pool.linear_memory_keep_resident(KEEP_RESIDENT_BYTES).table_keep_resident(KEEP_RESIDENT_BYTES);
        // With the checks for deadlines, which ours has too. Nobody counts epochs here.
        config.epoch_interruption(true).allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
        let engine = Engine::new(&config)?;
        let module = Module::from_binary(&engine, largest(component)?)?;
        let mut linker = Linker::new(&engine);
        linker.define_unknown_imports_as_traps(&module)?;
        Ok(Self { pre: linker.instantiate_pre(&module)?, engine })
    }

    /// An instance, and its end.
    pub(crate) fn instantiate(&self) -> Result<()> {
        let mut store = Store::new(&self.engine, ());
        store.set_epoch_deadline(1);
        self.pre.instantiate(&mut store)?;
        Ok(())
    }
}

/// The core module that does the work: the others of a component are adapters.
pub(crate) fn largest(component: &[u8]) -> Result<&[u8]> {
    let mut modules = Vec::new();
    for payload in Parser::new(0).parse_all(component) {
        if let Payload::ModuleSection { unchecked_range, .. } = payload? {
            modules.extend(component.get(unchecked_range));
        }
    }
    modules.into_iter().max_by_key(|module| module.len()).context("the component has no core module")
}
