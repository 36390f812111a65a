//! The contract as Rust: the only place where a connector's side of it is generated. Nothing else is in this file.
//!
//! One `generate!` for what the host supplies, and one for each interface that a connector may export, so that a
//! component promises exactly what its author wrote: the linker merges the worlds whose export macro was used.
#![allow(
    missing_docs,
    unreachable_pub,
    unsafe_code,
    clippy::allow_attributes_without_reason,
    reason = "generated code; its prose lives in the WIT"
)]

pub mod supplied {
    wit_bindgen::generate!({
        path: "../../wit/v0",
        world: "jackfield:connector/supplied",
        generate_all,
        generate_unused_types: true,
        pub_export_macro: true,
        additional_derives: [PartialEq],
        runtime_path: "jackfield_sdk::__rt",
    });
}

pub mod connector {
    wit_bindgen::generate!({
        path: "../../wit/v0",
        inline: "package jackfield:sdk; world exports-connector { export jackfield:connector/connector@0.1.0; }",
        with: { "jackfield:connector/types@0.1.0": crate::bindings::supplied::jackfield::connector::types },
        pub_export_macro: true,
        export_macro_name: "export_connector",
        default_bindings_module: "jackfield_sdk::bindings::connector",
        additional_derives: [PartialEq],
        runtime_path: "jackfield_sdk::__rt",
    });
}

pub mod transform {
    wit_bindgen::generate!({
        path: "../../wit/v0",
        inline: "package jackfield:sdk; world exports-transform { export jackfield:connector/transform@0.1.0; }",
        with: { "jackfield:connector/types@0.1.0": crate::bindings::supplied::jackfield::connector::types },
        pub_export_macro: true,
        export_macro_name: "export_transform",
        default_bindings_module: "jackfield_sdk::bindings::transform",
        additional_derives: [PartialEq],
        runtime_path: "jackfield_sdk::__rt",
    });
}

pub mod runtime {
    wit_bindgen::generate!({
        path: "../../wit/v0",
        inline: "package jackfield:sdk; world exports-runtime { export jackfield:connector/runtime@0.1.0; }",
        with: { "jackfield:connector/types@0.1.0": crate::bindings::supplied::jackfield::connector::types },
        pub_export_macro: true,
        export_macro_name: "export_runtime",
        default_bindings_module: "jackfield_sdk::bindings::runtime",
        additional_derives: [PartialEq],
        runtime_path: "jackfield_sdk::__rt",
    });
}

pub mod webhook {
    wit_bindgen::generate!({
        path: "../../wit/v0",
        inline: "package jackfield:sdk; world exports-webhook { export jackfield:connector/webhook@0.1.0; }",
        with: { "jackfield:connector/types@0.1.0": crate::bindings::supplied::jackfield::connector::types },
        pub_export_macro: true,
        export_macro_name: "export_webhook",
        default_bindings_module: "jackfield_sdk::bindings::webhook",
        additional_derives: [PartialEq],
        runtime_path: "jackfield_sdk::__rt",
    });
}

pub mod action {
    wit_bindgen::generate!({
        path: "../../wit/v0",
        inline: "package jackfield:sdk; world exports-action { export jackfield:connector/action@0.1.0; }",
        with: { "jackfield:connector/types@0.1.0": crate::bindings::supplied::jackfield::connector::types },
        pub_export_macro: true,
        export_macro_name: "export_action",
        default_bindings_module: "jackfield_sdk::bindings::action",
        additional_derives: [PartialEq],
        runtime_path: "jackfield_sdk::__rt",
    });
}
