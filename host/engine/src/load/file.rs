//! The file as such: is it a component at all, is it whole, and does it keep to the features that are on?

use wasmparser::{ComponentExternalKind, Encoding, Parser, Payload, Validator};

use super::error::LoadError;
use super::shape::{Item, Shape};
use crate::profile::FEATURES;

/// Largest component. Python ones have 20 MiB.
pub const COMPONENT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The first four bytes of every WebAssembly binary.
const MAGIC: &[u8] = b"\0asm";

/// Whether it is small enough to be looked at.
pub(super) fn measure(bytes: &[u8]) -> Result<(), LoadError> {
    if bytes.len() > COMPONENT_BYTES_MAX {
        return Err(LoadError::TooLarge { bytes: bytes.len(), max: COMPONENT_BYTES_MAX });
    }
    Ok(())
}

/// Checks the whole file with the features that are on, and lists what it imports and exports.
pub(super) fn validate(bytes: &[u8]) -> Result<Shape, LoadError> {
    measure(bytes)?;
    if !bytes.starts_with(MAGIC) {
        return Err(not_wasm(bytes));
    }
    if Parser::is_core_wasm(bytes) {
        return Err(LoadError::NotAComponent {
            what: "a core module",
            todo: "build it for `wasm32-wasip2`, or wrap it with `wasm-tools component new`",
        });
    }
    let invalid = |error: wasmparser::BinaryReaderError| LoadError::Invalid(error.to_string());
    let types = Validator::new_with_features(FEATURES).validate_all(bytes).map_err(invalid)?;
    let types = types.as_ref();

    let mut shape = Shape::default();
    let mut nesting = 0_usize;
    for payload in Parser::new(0).parse_all(bytes) {
        match payload.map_err(invalid)? {
            Payload::Version { encoding, .. } if nesting == 0 => debug_assert_eq!(encoding, Encoding::Component),
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => nesting += 1,
            Payload::End(_) => nesting = nesting.saturating_sub(1),
            Payload::ComponentImportSection(section) if nesting == 0 => {
                for import in section {
                    let name = import.map_err(invalid)?.name.name;
                    let ty = types.component_item_for_import(name).map(|item| item.ty);
                    shape.imports.push(Item { name: name.to_owned(), functions: functions(types, ty) });
                }
            }
            Payload::ComponentExportSection(section) if nesting == 0 => {
                for export in section {
                    let export = export.map_err(invalid)?;
                    // Types are exported to give them a name; nobody calls them.
                    if export.kind != ComponentExternalKind::Type {
                        let name = export.name.name;
                        let ty = types.component_item_for_export(name).map(|item| item.ty);
                        shape.exports.push(Item { name: name.to_owned(), functions: functions(types, ty) });
                    }
                }
            }
            _ => {}
        }
    }
    Ok(shape)
}

/// The functions of an interface; `None` when it is none.
fn functions(
    types: wasmparser::types::TypesRef<'_>,
    ty: Option<wasmparser::component_types::ComponentEntityType>,
) -> Option<Vec<String>> {
    use wasmparser::component_types::ComponentEntityType::{Func, Instance};
    let Some(Instance(id)) = ty else { return None };
    let instance = types.get(id)?;
    let functions = instance.exports.iter().filter(|(_, item)| matches!(item.ty, Func(_)));
    Some(functions.map(|(name, _)| name.clone()).collect())
}

fn not_wasm(bytes: &[u8]) -> LoadError {
    let not = |what, todo| LoadError::NotAComponent { what, todo };
    let rebuild = "give the `.wasm` file that the connector's build made";
    if bytes.is_empty() {
        return not("an empty file", rebuild);
    }
    if bytes.starts_with(b"\x7fELF") {
        return not(
            "a native or precompiled file (ELF)",
            "precompiled code is never taken from outside; give the `.wasm` file",
        );
    }
    let text = bytes.trim_ascii_start();
    if text.starts_with(b"(") || text.starts_with(b";;") {
        return not("WebAssembly text", "turn it into a binary with `wasm-tools parse`");
    }
    if MAGIC.starts_with(bytes) {
        return not("a truncated file", rebuild);
    }
    not("something else", rebuild)
}
