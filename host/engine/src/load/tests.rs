//! Files that are no component, components that don't fit, and what they say of themselves.

use super::*;
use crate::testing::{self, Descriptor, component};

fn refused(bytes: &[u8]) -> String {
    let error = inspect(bytes).unwrap_err();
    assert_eq!(error.kind(), LoadErrorKind::File, "{error}");
    error.to_string()
}

#[test]
fn case_1_and_w2_no_component() {
    assert!(refused(b"").contains("an empty file"));
    assert!(refused(b"\0as").contains("a truncated file"));
    assert!(refused(b"\0asm").contains("not a valid component"), "{}", refused(b"\0asm"));
    assert!(refused(&wat::parse_str("(module)").unwrap()).contains("a core module"));
    assert!(refused(b"  (component)").contains("WebAssembly text"));
    assert!(refused(b"\x7fELF\x02\x01\x01").contains("ELF"));
    assert!(refused(b"\x89PNG\r\n\x1a\n").contains("something else"));
    assert!(refused(&[0x5a; 4096]).contains("something else"));
    assert!(refused(&vec![0; COMPONENT_BYTES_MAX + 1]).contains("at most"));
}

#[test]
fn case_1_truncated_at_every_offset() {
    let whole = component("");
    let expected = inspect(&whole).unwrap();
    let mut accepted = 0;
    for end in 0..whole.len() {
        // A file without its last custom sections is whole in everything that counts; its digest says that it is another.
        if let Ok(shorter) = inspect(&whole[..end]) {
            accepted += 1;
            assert_eq!((&shorter.imports, shorter.exports), (&expected.imports, expected.exports));
            assert_ne!(shorter.digest, expected.digest);
        }
    }
    assert!(accepted < 8, "{accepted} of {}", whole.len());
}

#[test]
fn case_1_damaged_bytes_never_panic() {
    let whole = component("");
    for at in 0..whole.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut damaged = whole.clone();
            damaged[at] ^= flip;
            let _ = inspect(&damaged);
        }
    }
}

#[test]
fn case_7_what_is_switched_off() {
    for (feature, fields) in [
        ("collected types", "(type (struct (field i32)))"),
        ("externref", "(table 1 externref)"),
        ("exceptions", "(tag (param i32))"),
        ("function references", "(type $f (func)) (func (param (ref $f)))"),
        ("threads", "(memory 1 1 shared)"),
        ("atomics", "(func (drop (i32.atomic.load (i32.const 0))))"),
        ("memory64", "(memory i64 1)"),
        ("relaxed SIMD", "(func (param v128) (result v128) (i32x4.relaxed_trunc_f32x4_s (local.get 0)))"),
    ] {
        let wat = format!("(component (core module (memory 1) {fields}))");
        assert!(refused(&wat::parse_str(wat).unwrap()).contains("not a valid component"), "{feature}");
    }
    let with_async = r#"(component
        (import "f" (func $f async))
        (core func (canon lower (func $f) async)))"#;
    assert!(refused(&wat::parse_str(with_async).unwrap()).contains("not a valid component"));
    inspect(&component("(memory 1)")).expect("several memories are on");
}

/// A component with this one in it.
fn nest(inner: &[u8]) -> Vec<u8> {
    let mut outer = b"\0asm\x0d\0\x01\0".to_vec();
    if !inner.is_empty() {
        outer.push(4);
        let mut length = inner.len();
        while length > 0x7f {
            outer.push(length as u8 | 0x80);
            length >>= 7;
        }
        outer.push(length as u8);
        outer.extend(inner);
    }
    outer
}

#[tokio::test]
async fn case_8_too_much_of_everything() {
    for (what, fields) in [
        ("memories", "(memory 1)\n".repeat(50)),
        ("tables", "(table 1 funcref)\n".repeat(80)),
        ("a memory of 4 GiB", "(memory 65536)".to_owned()),
        ("a table of 2^32", "(table 4294967295 funcref)".to_owned()),
    ] {
        let error = testing::engine().load(component(&fields)).await.unwrap_err();
        assert!(matches!(error.kind(), LoadErrorKind::Compile | LoadErrorKind::Describe), "{what}: {error}");
    }
    for (what, fields) in [("memories", "(memory 1)".repeat(1001)), ("tables", "(table 1 funcref)".repeat(1001))] {
        let wat = format!("(component (core module {fields}))");
        assert!(refused(&wat::parse_str(wat).unwrap()).contains("not a valid component"), "{what}");
    }
    let nested = (0..5_000).fold(Vec::new(), |inner, _| nest(&inner));
    assert!(inspect(&nested).is_err(), "nested instances: nothing recurses over them before they are compiled");
    let instances = format!("(component (core module $m) {})", "(core instance (instantiate $m))".repeat(200));
    let error =
        wasmtime::component::Component::from_binary(testing::engine().wasmtime(), &wat::parse_str(instances).unwrap());
    assert!(error.err().unwrap().root_cause().to_string().contains("200 core module instances"));
}

#[tokio::test]
async fn case_9_initialisers_are_bounded() {
    let spin = "(func $init (loop $for_ever (br $for_ever)))\n(start $init)";
    let trap = "(func $init unreachable)\n(start $init)";
    for (fields, kind) in [(trap, crate::FailureKind::Trap), (spin, crate::FailureKind::Deadline)] {
        let component = testing::engine().load(component(fields)).await;
        let Err(LoadError::Describe(failure)) = component else { panic!("{component:?}") };
        assert_eq!((failure.kind, failure.export), (kind, "instantiate"));
    }
}

#[tokio::test]
async fn a_connector_that_fits() {
    let bytes = component("");
    let component = testing::engine().load(bytes.clone()).await.unwrap();
    assert_eq!(component.digest(), Digest::of(&bytes));
    assert_eq!((component.size(), component.cached()), (bytes.len(), false));
    assert_eq!(component.exports(), Exports::default());
    let descriptor = component.descriptor();
    assert_eq!((descriptor.id.as_str(), descriptor.config_schema.as_str()), ("test", "{}"));
    assert_eq!(component.contract(), "0.1.0");
}

#[tokio::test]
async fn what_it_says_is_checked_all_at_once() {
    let descriptor = Descriptor { id: "Bad Id", schema: "[1]", http: &["http://plain.example"] };
    let error = testing::engine().load(testing::described(&descriptor, "")).await.unwrap_err();
    let LoadError::Descriptor(problems) = &error else { panic!("{error}") };
    assert_eq!(problems.len(), 3, "{error}");
}

#[tokio::test]
async fn case_2_wrong_types_are_refused() {
    // `id` returns a string; this component wants a number.
    let wat = r#"(component
        (import "jackfield:connector/connection@0.1.0" (instance (export "id" (func (result u32)))))
        (component $c (type $d (func)) )
        (instance (export "jackfield:connector/connector@0.1.0") (instantiate $c)))"#;
    let error = inspect(&wat::parse_str(wat).unwrap()).unwrap_err();
    assert_eq!(error.kind(), LoadErrorKind::Contract, "{error}");
    assert!(error.to_string().contains("function `describe` is missing"), "{error}");

    let wat = r#"(component
        (import "jackfield:connector/connection@0.1.0" (instance (export "id" (func (result u32)))))
        (core module $m (func (export "describe")))
        (core instance $m (instantiate $m))
        (func $describe (canon lift (core func $m "describe")))
        (component $c (import "describe" (func $f)) (export "describe" (func $f)))
        (instance $i (instantiate $c (with "describe" (func $describe))))
        (export "jackfield:connector/connector@0.1.0" (instance $i)))"#;
    let error = testing::engine().load(wat::parse_str(wat).unwrap()).await.unwrap_err();
    assert_eq!(error.kind(), LoadErrorKind::Contract, "{error}");
    assert!(error.to_string().contains("connection"), "{error}");
}
