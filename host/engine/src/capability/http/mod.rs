//! HTTP that a call waits for. In `webhook` and `action` alone; nothing serves those yet, so every call is a trap that says
//! so. A session has `session.fetch`.
//!
//! Promised: every request goes through the egress gate; no redirect is followed; buckets are shared by every caller.

mod host;

use std::time::Duration;

use async_trait::async_trait;
use jackfield_model::Fault;
use jackfield_model::wire::{HttpRequest, HttpResponse};
use wasmtime::component::{HasData, Linker};

use crate::failure::{Refusal, Stop};
use crate::guest::Guest;
use crate::phase::{Call, OUTBOUND};

/// The connection's way out, and its rate limits.
#[async_trait]
pub trait Client: Send + Sync {
    /// Makes a request.
    ///
    /// # Errors
    /// What the egress gate says: whether it happened is in the variant.
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, Fault>;
    /// Asks for a place in a bucket, without waiting.
    ///
    /// # Errors
    /// `Unavailable` when it is used up.
    async fn reserve(&self, bucket: &str) -> Result<(), Fault>;
    /// What the platform says of a bucket.
    fn left(&self, bucket: &str, remaining: u32, resets_in: Duration);
}

/// What this import works on.
pub(super) struct HttpView<'a> {
    call: &'a mut Call,
    client: Option<&'a dyn Client>,
}

impl<'a> HttpView<'a> {
    fn client(&mut self, import: &'static str) -> Result<&'a dyn Client, Stop> {
        self.call.admit(import, OUTBOUND)?;
        self.client.ok_or_else(|| Stop::misuse(import, "not served to this call"))
    }

    async fn send(&mut self, request: HttpRequest) -> Result<HttpResponse, Refusal> {
        Ok(self.client("http.send")?.send(request).await?)
    }

    async fn reserve(&mut self, bucket: &str) -> Result<(), Refusal> {
        Ok(self.client("http.reserve")?.reserve(bucket).await?)
    }

    fn left(&mut self, bucket: &str, remaining: u32, resets_in: Duration) -> Result<(), Stop> {
        self.client("http.left")?.left(bucket, remaining, resets_in);
        Ok(())
    }
}

struct HasHttp;

impl HasData for HasHttp {
    type Data<'a> = HttpView<'a>;
}

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    jackfield_contract::imports::http::add_to_linker::<_, HasHttp>(linker, |guest| HttpView {
        call: &mut guest.call,
        client: guest.outbound.client.as_deref(),
    })
}
