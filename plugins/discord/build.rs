//! Link arguments of the component.

/// The guest's stack. A fresh instance dirties the pages it touches, so small is quick; the deepest thing here is the
/// parsing of nested command options, which ends at 128 levels (`tests/connector/hostile.rs` runs it on such a stack).
const STACK_BYTES: u32 = 256 * 1024;

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
