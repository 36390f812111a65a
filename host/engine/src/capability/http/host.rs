//! `http`, translated.

use jackfield_contract::imports::http::Host;
use jackfield_contract::imports::types::{FaultResult, HttpRequest, HttpResponseResult};
use jackfield_contract::translate::duration;

use super::HttpView;
use crate::failure::two_roads;

impl Host for HttpView<'_> {
    async fn send(&mut self, request: HttpRequest) -> wasmtime::Result<Result<HttpResponseResult, FaultResult>> {
        two_roads(self.send(request.into()).await)
    }

    async fn reserve(&mut self, bucket: String) -> wasmtime::Result<Result<(), FaultResult>> {
        two_roads(self.reserve(&bucket).await)
    }

    fn left(&mut self, bucket: String, remaining: u32, resets_in: u32) -> wasmtime::Result<()> {
        Ok(self.left(&bucket, remaining, duration(resets_in))?)
    }
}
