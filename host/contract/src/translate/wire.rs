//! Requests on their way out.

use jackfield_model::wire::{HttpRequest, HttpResponse, Method, Place, SecretUse, SocketRequest};

use super::duration;
use crate::imports::{session, types};

impl From<types::HttpMethod> for Method {
    fn from(method: types::HttpMethod) -> Self {
        match method {
            types::HttpMethod::Get => Self::Get,
            types::HttpMethod::Head => Self::Head,
            types::HttpMethod::Post => Self::Post,
            types::HttpMethod::Put => Self::Put,
            types::HttpMethod::Patch => Self::Patch,
            types::HttpMethod::Delete => Self::Delete,
            types::HttpMethod::Options => Self::Options,
        }
    }
}

impl From<types::Place> for Place {
    fn from(place: types::Place) -> Self {
        match place {
            types::Place::Url => Self::Url,
            types::Place::Header => Self::Header,
            types::Place::Body => Self::Body,
        }
    }
}

impl From<types::HttpRequest> for HttpRequest {
    fn from(request: types::HttpRequest) -> Self {
        let types::HttpRequest { method, url, headers, body, secrets, timeout } = request;
        let secrets =
            secrets.into_iter().map(|types::SecretUse { secret, place }| SecretUse { secret, place: place.into() });
        Self {
            method: method.into(),
            url,
            headers,
            body: body.into(),
            secrets: secrets.collect(),
            timeout: duration(timeout),
        }
    }
}

impl From<HttpResponse> for types::HttpResponseResult {
    fn from(response: HttpResponse) -> Self {
        let HttpResponse { status, headers, body } = response;
        Self { status, headers, body: body.into() }
    }
}

impl From<session::SocketRequest> for SocketRequest {
    fn from(request: session::SocketRequest) -> Self {
        let session::SocketRequest { url, headers, secrets, subprotocols, silence, annotations } = request;
        Self { url, headers, secrets, subprotocols, silence: duration(silence), annotations }
    }
}
