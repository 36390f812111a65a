//! The macro that makes exports of a type. One word for each interface; `connector` is always needed.

/// Exports the named interfaces of the contract with `$guest` as their implementation.
///
/// `$guest` implements the `Guest` trait of each module of the same name. Use it once in a component: the host
/// refuses a component without `connector`, and looks at which of the others are really there.
///
/// Only in a component: natively it checks that the traits are there and exports nothing, since a linker takes neither
/// such symbols nor those of two connectors in one test binary.
///
/// ```ignore
/// jackfield_sdk::export!(Acme: connector, transform, runtime);
/// ```
#[macro_export]
macro_rules! export {
    ($guest:ident: $($interface:ident),+ $(,)?) => {
        $($crate::__export_one!($guest $interface);)+
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __export_one {
    ($guest:ident connector) => {
        #[cfg(target_family = "wasm")]
        $crate::bindings::connector::export_connector!($guest);
        #[cfg(not(target_family = "wasm"))]
        const _: fn() = || {
            fn implemented<G: $crate::connector::Guest>() {}
            implemented::<$guest>();
        };
    };
    ($guest:ident transform) => {
        #[cfg(target_family = "wasm")]
        $crate::bindings::transform::export_transform!($guest);
        #[cfg(not(target_family = "wasm"))]
        const _: fn() = || {
            fn implemented<G: $crate::transform::Guest>() {}
            implemented::<$guest>();
        };
    };
    ($guest:ident runtime) => {
        #[cfg(target_family = "wasm")]
        $crate::bindings::runtime::export_runtime!($guest);
        #[cfg(not(target_family = "wasm"))]
        const _: fn() = || {
            fn implemented<G: $crate::runtime::Guest>() {}
            implemented::<$guest>();
        };
    };
    ($guest:ident webhook) => {
        #[cfg(target_family = "wasm")]
        $crate::bindings::webhook::export_webhook!($guest);
        #[cfg(not(target_family = "wasm"))]
        const _: fn() = || {
            fn implemented<G: $crate::webhook::Guest>() {}
            implemented::<$guest>();
        };
    };
    ($guest:ident action) => {
        #[cfg(target_family = "wasm")]
        $crate::bindings::action::export_action!($guest);
        #[cfg(not(target_family = "wasm"))]
        const _: fn() = || {
            fn implemented<G: $crate::action::Guest>() {}
            implemented::<$guest>();
        };
    };
    ($guest:ident $other:ident) => {
        compile_error!(concat!(
            "no interface `",
            stringify!($other),
            "` in the contract: connector, transform, runtime, webhook or action"
        ));
    };
}
