//! Components from core modules in text form. What a module imports and exports decides the world that it is made for;
//! `connector` comes by itself.

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// Where the descriptor lies in the guest's memory. Tests keep away from the first page.
const BASE: u32 = 1024;

/// A descriptor as it lies in memory (Canonical ABI).
pub(crate) struct Descriptor {
    pub(crate) id: &'static str,
    pub(crate) schema: &'static str,
    pub(crate) http: &'static [&'static str],
}

impl Default for Descriptor {
    fn default() -> Self {
        Self { id: "test", schema: "{}", http: &[] }
    }
}

/// A component around this core module: its fields without `(module`, `(memory` and `cabi_realloc`, which are here. The first
/// page of memory is taken; the allocator hands out what lies behind the second.
pub(crate) fn component(fields: &str) -> Vec<u8> {
    described(&Descriptor::default(), fields)
}

pub(crate) fn described(descriptor: &Descriptor, fields: &str) -> Vec<u8> {
    // Imports have to come first.
    let (imports, rest): (Vec<_>, Vec<_>) = fields.lines().partition(|line| line.trim_start().starts_with("(import"));
    let wat = format!(
        r#"(module
            {imports}
            (memory (export "memory") 4)
            (global $next (mut i32) (i32.const 131072))
            (func $realloc (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (local $at i32)
                (local.set $at (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
                (global.set $next (i32.add (local.get $at) (local.get 3)))
                (if (i32.gt_u (global.get $next) (i32.mul (memory.size) (i32.const 65536)))
                    (then (if (i32.eq (memory.grow (i32.add (i32.const 1) (i32.shr_u (local.get 3) (i32.const 16)))) (i32.const -1))
                        (then unreachable))))
                (local.get $at))
            (func (export "jackfield:connector/connector@0.1.0#describe") (result i32) (i32.const {BASE}))
            (data (i32.const {BASE}) "{data}")
            {rest})"#,
        imports = imports.join("\n"),
        data = descriptor.data(),
        rest = rest.join("\n"),
    );
    let mut module = wat::parse_str(&wat).unwrap_or_else(|error| panic!("{error}\n{wat}"));
    let mut resolve = Resolve::default();
    resolve.push_dir("../../wit/v0").unwrap();
    resolve.push_str("wasi.wit", include_str!("wasi.wit")).unwrap();
    let world = format!("package test:guest;\nworld guest {{\n{}}}", world(&wat));
    let package = resolve.push_str("guest.wit", &world).unwrap();
    let world = resolve.select_world(&[package], Some("guest")).unwrap();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    ComponentEncoder::default().module(&module).unwrap().encode().unwrap_or_else(|error| panic!("{error:#}\n{wat}"))
}

/// The interfaces that are named in the module.
fn world(wat: &str) -> String {
    let mut items: Vec<String> = Vec::new();
    for line in wat.lines() {
        if let Some((_, rest)) = line.split_once("(import \"") {
            let name = rest.split('"').next().unwrap();
            items.push(format!("import {name};\n"));
        }
        if let Some((name, _)) = line.split_once("(export \"").and_then(|(_, rest)| rest.split_once('#')) {
            items.push(format!("export {name};\n"));
        }
    }
    items.sort();
    items.dedup();
    items.concat()
}

impl Descriptor {
    /// The bytes at [`BASE`], escaped for the text form: the record first, what it points to behind it.
    fn data(&self) -> String {
        let mut record: Vec<u32> = Vec::new();
        let mut heap: Vec<u8> = Vec::new();
        // Eleven pairs of words, three words, and a list at the end.
        let heap_at = BASE + 26 * 4;
        let mut put = |bytes: &[u8]| {
            while !heap.len().is_multiple_of(4) {
                heap.push(0);
            }
            let at = heap_at + heap.len() as u32;
            heap.extend(bytes);
            at
        };
        let mut text = |text: &str, record: &mut Vec<u32>| record.extend([put(text.as_bytes()), text.len() as u32]);
        for value in [self.id, "1.0.0", "Test", ""] {
            text(value, &mut record);
        }
        record.extend([0, 0]);
        text(self.schema, &mut record);
        let mut asks: Vec<u32> = Vec::new();
        for origin in self.http {
            // A variant of eight words: the tag, and the largest case.
            asks.push(0);
            text(origin, &mut asks);
            asks.extend([0; 5]);
        }
        let asks_at = put(&asks.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>());
        record.extend([asks_at, self.http.len() as u32]);
        record.extend([0; 4]);
        record.extend([0; 3]);
        record.extend([1, 0, 0]);
        record.extend([0, 0]);
        let bytes = record.iter().flat_map(|word| word.to_le_bytes());
        bytes
            .chain(std::iter::repeat(0))
            .take((heap_at - BASE) as usize)
            .chain(heap)
            .map(|b| format!("\\{b:02x}"))
            .collect()
    }
}
