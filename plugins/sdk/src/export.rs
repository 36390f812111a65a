//! The macro that makes exports of a type. One word for each interface; `connector` is always needed.

/// Exports the named interfaces of the contract with `$guest` as their implementation.
///
/// `$guest` implements the `Guest` trait of each module of the same name. Use it once in a component: the host
/// refuses a component without `connector`, and looks at which of the others are really there.
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
        $crate::bindings::connector::export_connector!($guest);
    };
    ($guest:ident transform) => {
        $crate::bindings::transform::export_transform!($guest);
    };
    ($guest:ident runtime) => {
        $crate::bindings::runtime::export_runtime!($guest);
    };
    ($guest:ident webhook) => {
        $crate::bindings::webhook::export_webhook!($guest);
    };
    ($guest:ident action) => {
        $crate::bindings::action::export_action!($guest);
    };
    ($guest:ident $other:ident) => {
        compile_error!(concat!(
            "no interface `",
            stringify!($other),
            "` in the contract: connector, transform, runtime, webhook or action"
        ));
    };
}
