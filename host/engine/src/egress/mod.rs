//! The one door through which a connector reaches the network.
//!
//! Promised, for every request, socket and message:
//! - it goes only where the operator granted, compared after normalisation; redirects and proxies are not followed;
//! - a name is resolved once, every address of it has to be public, and the address that is dialled is one of these; private
//!   and loopback addresses are reached only where the operator's `connect` says so;
//! - a secret is filled in last, only where the request lists it and only for origins that the secret may go to;
//! - whatever comes back is masked;
//! - every size, number and time has a ceiling, and every decision is a line of the log.
//!
//! Not promised: that a granted platform keeps to itself what it is sent, or that an operator's `connect` target is safe.

// The WebSocket library writes whole frames to `log` at its lower levels, after secrets were filled in. They are compiled
// out of every build: a feature of that crate, which its manifest entry here sets.
const _: () = assert!(log::STATIC_MAX_LEVEL as usize <= log::LevelFilter::Info as usize);

mod address;
mod audit;
mod ceilings;
mod check;
mod dial;
mod exchange;
mod fill;
mod gate;
mod headers;
mod origin;
mod policy;
mod refusals;
mod resolver;
mod socket;
mod tally;
mod tls;
mod upgrade;
mod wire;

pub use self::audit::Departed;
pub use self::ceilings::Ceilings;
pub use self::gate::{Gate, GateConfig};
pub use self::origin::{Destination, Origin, OriginError, Scheme};
pub use self::policy::{Policy, Target, TargetError};
pub use self::resolver::{ResolveError, Resolver, SystemResolver};
pub use self::socket::{Incoming, Socket, SocketReader, SocketWriter};
pub use self::tally::{Counts, Tally};
pub use self::tls::{Trust, TrustError};
