//! The one place in the host where the contract becomes Rust. Nothing else is in this file.
#![expect(missing_docs, reason = "generated; its prose lives in the WIT")]

wasmtime::component::bindgen!({
    path: "../../wit/v0",
    world: "jackfield:connector/full",
    ownership: Borrowing { duplicate_if_necessary: true },
    imports: {
        "jackfield:connector/contacts.resolve": async | trappable,
        "jackfield:connector/http.send": async | trappable,
        "jackfield:connector/http.reserve": async | trappable,
        "jackfield:connector/lease.try-acquire": async | trappable,
        "jackfield:connector/lease.[method]guard.renew": async | trappable,
        "jackfield:connector/lease.[drop]guard": async | trappable,
        "jackfield:connector/session.spend-start": async | trappable,
        "jackfield:connector/state.get": async | trappable,
        "jackfield:connector/state.set": async | trappable,
        "jackfield:connector/state.delete": async | trappable,
        default: trappable,
    },
    exports: { default: async },
});
