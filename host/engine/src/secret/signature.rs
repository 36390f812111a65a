//! Checks and signatures that need a secret: what the contract's `signatures` promises.
//!
//! Comparisons take constant time. A secret that is not configured is `denied`, so that a forgotten secret can never make
//! a check pass. An HMAC key is the secret's bytes as they are; an Ed25519 secret is the private seed, as 32 bytes or as 64
//! hexadecimal digits.

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use hmac::digest::KeyInit;
use hmac::{Hmac, Mac};
use jackfield_model::Fault;
use sha1::Sha1;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::Secrets;

/// How a signature is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant is the word itself")]
pub enum Algorithm {
    HmacSha256,
    HmacSha1,
    Ed25519,
}

/// What a signature is checked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key<'a> {
    /// A secret, by name.
    Secret(&'a str),
    /// A public key.
    Known(&'a [u8]),
}

impl Secrets {
    /// Whether the signature fits. One of the wrong length does not.
    ///
    /// # Errors
    /// `Denied` when the secret is not configured. `Invalid` when the key can't be one of this algorithm.
    pub fn verify(&self, key: Key<'_>, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> Result<bool, Fault> {
        match (algorithm, key) {
            (Algorithm::HmacSha256, Key::Secret(name)) => {
                verify_hmac::<Hmac<Sha256>>(self.key(name)?, message, signature)
            }
            (Algorithm::HmacSha1, Key::Secret(name)) => verify_hmac::<Hmac<Sha1>>(self.key(name)?, message, signature),
            (Algorithm::Ed25519, Key::Secret(name)) => {
                Ok(verify_ed25519(&seed(name, self.key(name)?)?.verifying_key(), message, signature))
            }
            (Algorithm::Ed25519, Key::Known(public)) => {
                let key = public.try_into().ok().and_then(|bytes| VerifyingKey::from_bytes(bytes).ok());
                let key = key.ok_or_else(|| Fault::Invalid("key: an Ed25519 public key has 32 bytes".to_owned()))?;
                Ok(verify_ed25519(&key, message, signature))
            }
            // Whoever knows the key of an HMAC can sign, so a check with a public one says nothing.
            (Algorithm::HmacSha256 | Algorithm::HmacSha1, Key::Known(_)) => {
                Err(Fault::Invalid("key: an HMAC needs a secret, not a known key".to_owned()))
            }
        }
    }

    /// Whether the candidate is the secret. Takes the same time wherever they differ, in length too.
    ///
    /// # Errors
    /// `Denied` when the secret is not configured.
    pub fn equals(&self, secret: &str, candidate: &str) -> Result<bool, Fault> {
        let (expected, found) = (Sha256::digest(self.key(secret)?), Sha256::digest(candidate));
        Ok(expected.ct_eq(&found).into())
    }

    /// A signature over the message.
    ///
    /// # Errors
    /// `Denied` when the secret is not configured. `Invalid` when it can't be a key of this algorithm.
    pub fn sign(&self, secret: &str, algorithm: Algorithm, message: &[u8]) -> Result<Vec<u8>, Fault> {
        let key = self.key(secret)?;
        match algorithm {
            Algorithm::HmacSha256 => Ok(hmac::<Hmac<Sha256>>(key, message)?.finalize().into_bytes().to_vec()),
            Algorithm::HmacSha1 => Ok(hmac::<Hmac<Sha1>>(key, message)?.finalize().into_bytes().to_vec()),
            Algorithm::Ed25519 => Ok(seed(secret, key)?.sign(message).to_bytes().to_vec()),
        }
    }

    fn key(&self, name: &str) -> Result<&[u8], Fault> {
        let secret = self.get(name).map(super::Secret::value).filter(|value| !value.is_empty());
        secret.ok_or_else(|| Fault::Denied(format!("secret `{name}` is not configured for this connection")))
    }
}

fn hmac<M: Mac + KeyInit>(key: &[u8], message: &[u8]) -> Result<M, Fault> {
    let mac = <M as Mac>::new_from_slice(key);
    let mac = mac.map_err(|_| Fault::Invalid("secret: its length is not one of this algorithm".to_owned()))?;
    Ok(mac.chain_update(message))
}

fn verify_hmac<M: Mac + KeyInit>(key: &[u8], message: &[u8], signature: &[u8]) -> Result<bool, Fault> {
    // Compares in constant time; a truncated signature does not fit.
    Ok(hmac::<M>(key, message)?.verify_slice(signature).is_ok())
}

fn verify_ed25519(key: &VerifyingKey, message: &[u8], signature: &[u8]) -> bool {
    // Strict: no signature that fits more than one key or message.
    Signature::from_slice(signature).is_ok_and(|signature| key.verify_strict(message, &signature).is_ok())
}

fn seed(name: &str, value: &[u8]) -> Result<SigningKey, Fault> {
    let mut decoded = [0; 32];
    let seed = match value.try_into() {
        Ok(seed) => seed,
        Err(_) if hex::decode_to_slice(value, &mut decoded).is_ok() => &decoded,
        Err(_) => {
            let text = format!("secret `{name}`: an Ed25519 key has 32 bytes, or 64 hexadecimal digits");
            return Err(Fault::Invalid(text));
        }
    };
    Ok(SigningKey::from_bytes(seed))
}

#[cfg(test)]
#[path = "signature_tests.rs"]
mod tests;
