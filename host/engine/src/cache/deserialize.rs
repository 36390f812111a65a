//! The one place where bytes become code. Nothing else in Jackfield is unsafe.

use wasmtime::component::Component;

use crate::compile;
use crate::load::LoadError;

/// Code from an artifact whose seal was found intact.
///
/// Only the cache calls this, with bytes that it holds in memory: nobody can change them after they were verified.
pub(super) fn verified(engine: &wasmtime::Engine, artifact: &[u8]) -> wasmtime::Result<Component> {
    #[expect(
        unsafe_code,
        reason = "wasmtime trusts an artifact's machine code. This one comes from our own compiler: either it was just \
                  made by it, or a keyed MAC over artifact, component digest and engine compatibility was verified with a \
                  key that only this host can read"
    )]
    // SAFETY: as above, the bytes are the unmodified output of this engine's own compiler.
    unsafe {
        Component::deserialize(engine, artifact)
    }
}

/// Code from an artifact that our own compiler has just made.
pub(crate) async fn trusted(engine: &wasmtime::Engine, artifact: Vec<u8>) -> Result<Component, LoadError> {
    let engine = engine.clone();
    compile::blocking(move || verified(&engine, &artifact).map_err(|error| LoadError::Compile(format!("{error:#}"))))
        .await
}
