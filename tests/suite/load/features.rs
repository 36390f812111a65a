//! What is switched off: refused while the file is looked at, by name of the feature where the validator knows it.

use jackfield_engine::LoadErrorKind;

use super::refused;

/// Each is a component around something that this host does not run.
const OFF: [(&str, &str); 14] = [
    ("garbage collection", r"(component (core module (type (struct (field i32)))))"),
    ("function references", r"(component (core module (type $t (func)) (func (param (ref $t)))))"),
    ("exceptions", r"(component (core module (tag (param i32))))"),
    ("legacy exceptions", r"(component (core module (tag $e) (func (throw $e))))"),
    ("shared memory", r"(component (core module (memory 1 1 shared)))"),
    ("atomics", r"(component (core module (memory 1) (func (drop (i32.atomic.load (i32.const 0))))))"),
    ("64-bit memory", r"(component (core module (memory i64 1)))"),
    ("a 64-bit table of 2^60", r"(component (core module (table i64 0x1000000000000000 funcref)))"),
    (
        "relaxed SIMD",
        r"(component (core module (func (param v128 v128) (result v128) (i8x16.relaxed_swizzle (local.get 0) (local.get 1)))))",
    ),
    (
        "wide arithmetic",
        r"(component (core module (func (param i64 i64) (result i64 i64) (i64.mul_wide_u (local.get 0) (local.get 1)))))",
    ),
    ("stack switching", r"(component (core module (type $f (func)) (type $c (cont $f))))"),
    ("custom page sizes", r"(component (core module (memory 1 (pagesize 1))))"),
    (
        "an async lift with a callback",
        r#"(component
            (core module $m
                (func (export "f") (result i32) i32.const 0)
                (func (export "callback") (param i32 i32 i32) (result i32) i32.const 0))
            (core instance $i (instantiate $m))
            (func (export "f") async (canon lift (core func $i "f") async (callback (func $i "callback")))))"#,
    ),
    (
        "an async callback with the wrong results",
        r#"(component
            (core module $m
                (func (export "f") (result i32) i32.const 0)
                (func (export "callback") (param i32 i32 i32) (result i32 i32) i32.const 0 i32.const 0))
            (core instance $i (instantiate $m))
            (func (export "f") async (canon lift (core func $i "f") async (callback (func $i "callback")))))"#,
    ),
];

#[tokio::test]
async fn case_7_what_is_switched_off_is_refused() {
    for (what, text) in OFF {
        let bytes = wat::parse_str(text).unwrap_or_else(|error| panic!("{what}: {error}"));
        let error = refused(what, bytes, LoadErrorKind::File).await;
        assert!(error.to_string().contains("not a valid component"), "{what}: {error}");
    }
}

/// What real guests need stays on.
#[tokio::test]
async fn case_7_several_memories_stay_on() {
    let bytes = wat::parse_str("(component (core module (memory 1) (memory 1)))").unwrap();
    refused("several memories", bytes, LoadErrorKind::Contract).await;
}
