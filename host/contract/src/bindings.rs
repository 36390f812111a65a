//! The one place in the host where the contract becomes Rust. Nothing else is in this file.

wasmtime::component::bindgen!({
    path: "../../wit/v0",
    world: "jackfield:connector/full",
    imports: { default: async | trappable },
    exports: { default: async },
    additional_derives: [PartialEq],
});
