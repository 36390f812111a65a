//! To which bucket of the rate limits a request belongs.
//!
//! After Discord's page "Rate Limits": a bucket is a route with its method; within it each top-level resource (the channel, guild
//! or webhook that the path begins with) is counted for itself. What `X-RateLimit-Bucket` names is the route alone.

use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::call::Call;

/// A bucket and the resource within it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Bucket {
    /// What the header names: the same for the same route, and nothing to be read from it.
    pub(crate) hash: String,
    /// The top-level resource; empty for routes without one.
    resource: String,
}

impl Bucket {
    pub(crate) fn of(call: &Call) -> Self {
        let (_, path) = call.versioned();
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        let resource = match segments.as_slice() {
            [kind @ ("channels" | "guilds" | "webhooks"), id, ..] => format!("{kind}/{id}"),
            _ => String::new(),
        };
        let mut hasher = DefaultHasher::new();
        call.method.hash(&mut hasher);
        for segment in segments {
            let is_id = segment.bytes().all(|byte| byte.is_ascii_digit());
            (if is_id { "*" } else { segment }).hash(&mut hasher);
        }
        Self { hash: format!("{:016x}", hasher.finish()), resource }
    }
}

/// As the log has it: both parts.
impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hash)?;
        if !self.resource.is_empty() {
            write!(f, ":{}", self.resource)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(method: &str, path: &str) -> Bucket {
        let request = http::Request::builder().method(method).uri(format!("/api/v10{path}")).body(()).unwrap();
        Bucket::of(&Call::new(&request.into_parts().0))
    }

    #[test]
    fn a_channel_is_a_bucket_of_the_same_name() {
        let (one, other) = (bucket("POST", "/channels/1/messages"), bucket("POST", "/channels/2/messages?x=1"));
        assert_eq!(one.hash, other.hash);
        assert_ne!(one, other);
        assert_eq!(one, bucket("POST", "/channels/1/messages"));
    }

    #[test]
    fn other_messages_of_a_channel_are_the_same_bucket_and_other_methods_are_not() {
        assert_eq!(bucket("PATCH", "/channels/1/messages/5"), bucket("PATCH", "/channels/1/messages/6"));
        let (post, get) = (bucket("POST", "/channels/1/messages"), bucket("GET", "/channels/1/messages"));
        assert_ne!(post.hash, get.hash);
        assert_ne!(bucket("GET", "/guilds/1/roles").hash, bucket("GET", "/guilds/1/channels").hash);
        assert_eq!(bucket("GET", "/users/1"), bucket("GET", "/users/2"));
    }
}
