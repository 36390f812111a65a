//! What a connector written in Rust links.
extern crate self as jackfield_sdk;

#[doc(hidden)]
pub use wit_bindgen::rt as __rt;

#[doc(hidden)]
pub mod bindings;
