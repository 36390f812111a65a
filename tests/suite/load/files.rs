//! Files that are no component, in the ways in which files are broken.

use jackfield_engine::{LoadErrorKind, inspect};
use jackfield_tests::{guest, sandbox};

use super::refused;

/// The smallest core module.
const CORE: &[u8] = b"\0asm\x01\0\0\0";

/// 1 KiB that looks like nothing.
fn noise() -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0]
    };
    (0..1024).map(|_| next()).collect()
}

#[tokio::test]
async fn case_1_what_is_no_component() {
    let elf = std::fs::read(std::env::current_exe().unwrap()).unwrap()[..4096].to_vec();
    let artifact = [b"\x7fELF".as_slice(), &[0; 60], b".wasmtime.engine"].concat();
    let files: [(&str, Vec<u8>); 9] = [
        ("nothing", Vec::new()),
        ("noise", noise()),
        ("a magic number alone", b"\0asm".to_vec()),
        ("a core module", CORE.to_vec()),
        ("text", b"(component)".to_vec()),
        ("an ELF file", elf),
        ("a compiled artifact", artifact),
        ("a picture", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec()),
        ("an archive", b"PK\x03\x04\x14\0\0\0".to_vec()),
    ];
    for (what, bytes) in files {
        let error = refused(what, bytes, LoadErrorKind::File).await;
        assert!(error.to_string().len() > 20, "{what}: {error}");
    }
}

/// Cut anywhere, a component is refused: at every offset of a small one, at many of a large one.
#[tokio::test]
async fn case_1_cut_anywhere() {
    let small = guest::SANDBOX_RETURNS_A_GIANT_STRING.bytes();
    let large = guest::SESSION_ECHO.bytes();
    assert!(inspect(&small).is_ok() && inspect(&large).is_ok());
    let cuts = (0..small.len()).map(|end| &small[..end]).chain((0..large.len()).step_by(997).map(|end| &large[..end]));
    for cut in cuts {
        match inspect(cut) {
            // Between two sections the rest is a component, of too little.
            Err(error) => assert!(matches!(error.kind(), LoadErrorKind::File | LoadErrorKind::Contract), "{error}"),
            // Cut behind a whole export it is a connector with less in it; and it is another file.
            Ok(rest) => {
                let whole = if cut.len() < small.len() { &small } else { &large };
                assert_ne!(rest.digest, inspect(whole).unwrap().digest, "{} bytes", cut.len());
            }
        }
    }
}

/// One byte changed: refused, or loaded as what it then is; never a panic.
#[tokio::test]
async fn case_1_any_byte_changed() {
    let whole = guest::SANDBOX_RETURNS_A_GIANT_STRING.bytes();
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 0xff;
        let _ = inspect(&changed);
    }
}

/// A file with something appended is another file: its digest says so, and pins are digests.
#[tokio::test]
async fn case_5_junk_in_a_custom_section_changes_the_digest() {
    let whole = guest::SANDBOX_RETURNS_A_GIANT_STRING.bytes();
    // A custom section: id 0, length, name "x", one byte.
    let appended = [whole.as_slice(), &[0, 3, 1, b'x', 0xaa]].concat();
    let (before, after) = (inspect(&whole).unwrap(), inspect(&appended).unwrap());
    assert_ne!(before.digest, after.digest);
    assert_eq!(before.exports, after.exports);
}

#[tokio::test]
async fn report_w2_damaged_files_are_clean_refusals() {
    let whole = guest::SESSION_ECHO.bytes();
    let cut = whole[..whole.len() * 6 / 10].to_vec();
    for (what, bytes) in
        [("cut at 60 %", cut), ("0 bytes", Vec::new()), ("a module", CORE.to_vec()), ("a magic", b"\0asm".to_vec())]
    {
        refused(what, bytes, LoadErrorKind::File).await;
    }
    // The same engine goes on.
    assert!(sandbox::engine().load(whole).await.is_ok());
}
