//! `transform` of a component's core module, called without a component around it: every list and string is put into its
//! memory, and taken out again, as the canonical ABI wants it.
//!
//! The guest does exactly what it does for the host, so what differs is the host's side alone.

use anyhow::{Context as _, Result, bail};
use jackfield_model::Dispatch;
use wasmtime::{Engine, Linker, Memory, Module, Store, TypedFunc};

use crate::message;
use crate::raw::largest;

const INTERFACE: &str = "jackfield:connector/transform@0.1.0#transform";

/// Size and alignment of the contract's `received`, and where its parts lie.
mod received {
    pub(super) const SIZE: u32 = 48;
    pub(super) const ALIGN: u32 = 8;
    pub(super) const KIND: usize = 0;
    /// The case of the blob; its bytes follow at `PAYLOAD`.
    pub(super) const IS_BINARY: usize = 8;
    pub(super) const PAYLOAD: usize = 12;
    pub(super) const LANE: usize = 20;
    pub(super) const CONTEXT: usize = 28;
    pub(super) const VIA: usize = 36;
    pub(super) const RECEIVED_AT: usize = 40;
}

/// Size of the contract's `answer`: its case, then pointer and length of what it carries.
const ANSWER_SIZE: u32 = 12;
/// The case `ignored`.
const IGNORED: u32 = 1;

/// An instance.
pub(crate) struct ByHand {
    store: Store<()>,
    memory: Memory,
    allocate: TypedFunc<(u32, u32, u32, u32), u32>,
    transform: TypedFunc<(u32, u32), u32>,
    free: TypedFunc<u32, ()>,
}

impl ByHand {
    /// An instance of the largest core module of this component. What it imports traps: it needs nothing in `transform`.
    pub(crate) fn new(component: &[u8]) -> Result<Self> {
        let engine = Engine::default();
        let module = Module::from_binary(&engine, largest(component)?)?;
        let mut linker = Linker::new(&engine);
        linker.define_unknown_imports_as_traps(&module)?;
        let mut store = Store::new(&engine, ());
        let instance = linker.instantiate(&mut store, &module)?;
        Ok(Self {
            memory: instance.get_memory(&mut store, "memory").context("the module has no memory")?,
            allocate: instance.get_typed_func(&mut store, "cabi_realloc")?,
            transform: instance.get_typed_func(&mut store, INTERFACE)?,
            free: instance.get_typed_func(&mut store, &format!("cabi_post_{INTERFACE}"))?,
            store,
        })
    }

    /// Why each of these dispatches is ignored.
    pub(crate) fn transform(&mut self, dispatches: &[Dispatch]) -> Result<Vec<String>> {
        let count = u32::try_from(dispatches.len())?;
        let list = self.allocate.call(&mut self.store, (0, 0, received::ALIGN, count * received::SIZE))?;
        for (at, dispatch) in (list..).step_by(received::SIZE as usize).zip(dispatches) {
            self.lower(at as usize, dispatch)?;
        }
        let result = self.transform.call(&mut self.store, (list, count))?;
        let answers = self.lift(result as usize)?;
        self.free.call(&mut self.store, result)?;
        Ok(answers)
    }

    fn lower(&mut self, at: usize, dispatch: &Dispatch) -> Result<()> {
        let Dispatch { kind, payload, lane, context } = dispatch;
        self.bytes(at + received::KIND, kind.as_bytes())?;
        self.memory.write(&mut self.store, at + received::IS_BINARY, &[0])?;
        self.bytes(at + received::PAYLOAD, payload.bytes())?;
        self.bytes(at + received::LANE, lane.as_bytes())?;
        self.bytes(at + received::CONTEXT, context.as_bytes())?;
        // `socket`, the first case.
        self.memory.write(&mut self.store, at + received::VIA, &[0])?;
        self.memory.write(&mut self.store, at + received::RECEIVED_AT, &message::RECEIVED_AT.to_le_bytes())?;
        Ok(())
    }

    /// Copies bytes into the guest, and writes down where they are and how many.
    fn bytes(&mut self, at: usize, bytes: &[u8]) -> Result<()> {
        let length = u32::try_from(bytes.len())?;
        let copy = self.allocate.call(&mut self.store, (0, 0, 1, length))?;
        self.memory.write(&mut self.store, copy as usize, bytes)?;
        self.memory.write(&mut self.store, at, &copy.to_le_bytes())?;
        self.memory.write(&mut self.store, at + 4, &length.to_le_bytes())?;
        Ok(())
    }

    fn lift(&self, result: usize) -> Result<Vec<String>> {
        let (list, count) = self.pair(result)?;
        let mut answers = Vec::with_capacity(count as usize);
        for at in (list..).step_by(ANSWER_SIZE as usize).take(count as usize) {
            if self.word(at as usize)? & 0xff != IGNORED {
                bail!("the guest did not ignore a dispatch");
            }
            let (text, length) = self.pair(at as usize + 4)?;
            let mut copy = vec![0; length as usize];
            self.memory.read(&self.store, text as usize, &mut copy)?;
            answers.push(String::from_utf8(copy)?);
        }
        Ok(answers)
    }

    fn pair(&self, at: usize) -> Result<(u32, u32)> {
        Ok((self.word(at)?, self.word(at + 4)?))
    }

    fn word(&self, at: usize) -> Result<u32> {
        let mut word = [0; 4];
        self.memory.read(&self.store, at, &mut word)?;
        Ok(u32::from_le_bytes(word))
    }
}
