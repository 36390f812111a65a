//! `signatures`, translated.

use jackfield_contract::imports::signatures::{Algorithm as Wit, Host, Key as WitKey};
use jackfield_contract::imports::types::{BlobResult, FaultResult};
use jackfield_model::Blob;

use super::SignaturesView;
use crate::failure::two_roads;
use crate::secret::{Algorithm, Key};

fn algorithm(algorithm: Wit) -> Algorithm {
    match algorithm {
        Wit::HmacSha256 => Algorithm::HmacSha256,
        Wit::HmacSha1 => Algorithm::HmacSha1,
        Wit::Ed25519 => Algorithm::Ed25519,
    }
}

impl Host for SignaturesView<'_> {
    fn verify(
        &mut self,
        key: WitKey,
        wit: Wit,
        message: BlobResult,
        signature: Vec<u8>,
    ) -> wasmtime::Result<Result<bool, FaultResult>> {
        let key = match &key {
            WitKey::Secret(name) => Key::Secret(name),
            WitKey::Known(public) => Key::Known(public),
        };
        two_roads(self.verify(key, algorithm(wit), Blob::from(message).bytes(), &signature))
    }

    fn equals(&mut self, secret: String, candidate: String) -> wasmtime::Result<Result<bool, FaultResult>> {
        two_roads(self.equals(&secret, &candidate))
    }

    fn sign(
        &mut self,
        secret: String,
        wit: Wit,
        message: BlobResult,
    ) -> wasmtime::Result<Result<Vec<u8>, FaultResult>> {
        two_roads(self.sign(&secret, algorithm(wit), Blob::from(message).bytes()))
    }
}
