use super::*;
use crate::secret::SecretEntry;

fn secrets() -> Secrets {
    let entry = |name: &str, value: &[u8]| SecretEntry { name: name.to_owned(), value: value.to_vec(), to: Vec::new() };
    Secrets::new(vec![
        entry("signing", b"Jefe-but-longer"),
        entry("rfc4231", &[0x0b; 20]),
        entry("seed", &hex::decode("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60").unwrap()),
        entry("seed-hex", b"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"),
    ])
    .unwrap()
}

#[test]
fn hmac_fits_the_published_vectors() {
    // RFC 4231 §4.2 and RFC 2202 §3, test case 1.
    let expected = [
        (Algorithm::HmacSha256, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        (Algorithm::HmacSha1, "b617318655057264e28bc0b6fb378c8ef146be00"),
    ];
    let secrets = secrets();
    for (algorithm, digest) in expected {
        let signature = secrets.sign("rfc4231", algorithm, b"Hi There").unwrap();
        assert_eq!(hex::encode(&signature), digest);
        let verify = |message: &[u8], signature: &[u8]| {
            secrets.verify(Key::Secret("rfc4231"), algorithm, message, signature).unwrap()
        };
        assert!(verify(b"Hi There", &signature));
        assert!(!verify(b"Hi there", &signature));
        assert!(!verify(b"Hi There", &signature[1..]));
        assert!(!verify(b"Hi There", &[]));
    }
}

#[test]
fn ed25519_fits_the_published_vector() {
    // RFC 8032 §7.1, test 1: the empty message.
    let public = hex::decode("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a").unwrap();
    let secrets = secrets();
    for name in ["seed", "seed-hex"] {
        let signature = secrets.sign(name, Algorithm::Ed25519, b"").unwrap();
        assert!(
            hex::encode(&signature).starts_with("e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555f")
        );
        for key in [Key::Known(&public), Key::Secret(name)] {
            let verify = |message: &[u8], signature: &[u8]| secrets.verify(key, Algorithm::Ed25519, message, signature);
            assert_eq!(verify(b"", &signature), Ok(true));
            assert_eq!(verify(b"x", &signature), Ok(false));
            assert_eq!(verify(b"", &signature[..63]), Ok(false));
        }
    }
    // The neutral element as key and as half of a signature: without strictness this fits every message.
    let neutral: Vec<u8> = [1].into_iter().chain([0; 31]).collect();
    let forged = [neutral.as_slice(), &[0; 32]].concat();
    assert_eq!(secrets.verify(Key::Known(&neutral), Algorithm::Ed25519, b"anything", &forged), Ok(false));
}

#[test]
fn a_secret_is_compared_with_itself_alone() {
    let secrets = secrets();
    assert_eq!(secrets.equals("signing", "Jefe-but-longer"), Ok(true));
    for candidate in ["", "Jefe-but-longe", "Jefe-but-longer ", "jefe-but-longer"] {
        assert_eq!(secrets.equals("signing", candidate), Ok(false), "{candidate:?}");
    }
}

#[test]
fn case_36_a_missing_secret_never_makes_a_check_pass() {
    let secrets = secrets();
    let denied = |fault: Fault| assert!(matches!(fault, Fault::Denied(_)), "{fault}");
    for algorithm in [Algorithm::HmacSha256, Algorithm::HmacSha1, Algorithm::Ed25519] {
        denied(secrets.verify(Key::Secret("other"), algorithm, b"", b"").unwrap_err());
        denied(secrets.sign("other", algorithm, b"").unwrap_err());
    }
    denied(secrets.equals("other", "").unwrap_err());
}

#[test]
fn keys_that_can_not_be_are_named() {
    let secrets = secrets();
    let checks = [
        secrets.verify(Key::Known(b"public"), Algorithm::HmacSha256, b"", b""),
        secrets.verify(Key::Known(b"public"), Algorithm::Ed25519, b"", b""),
        secrets.verify(Key::Secret("signing"), Algorithm::Ed25519, b"", b""),
    ];
    for check in checks {
        assert!(matches!(check, Err(Fault::Invalid(_))), "{check:?}");
    }
}
