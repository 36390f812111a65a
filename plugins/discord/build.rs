//! Link arguments of the component.

/// The guest's stack. It is the lowest part of the component's memory, and a fresh instance is made by writing the lowest part
/// anew: small is quick. The deepest thing here is the parsing of nested command options, which ends at 128 levels and needs
/// less than half of it (`tests/suite/discord/stack.rs` runs it in the component).
const STACK_BYTES: u32 = 64 * 1024;

#[expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a build script hears from cargo through the environment and answers on stdout"
)]
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").as_deref() == Ok("wasm") {
        println!("cargo:rustc-link-arg-cdylib=-zstack-size={STACK_BYTES}");
    }
}
