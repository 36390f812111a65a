//! What a session has, as one call sees it: the view it was given, and what it has asked for since.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jackfield_model::Fault;
use jackfield_model::wire::SocketRequest;

use crate::failure::Stop;
use crate::limits::SESSION_LABELS_MAX;
use crate::runtime::{SocketView, View};

/// Longest reason of a close frame, in bytes: a control frame has 125, two are the code (RFC 6455 §5.5).
const CLOSE_REASON_BYTES_MAX: usize = 123;

/// Labels and what they stand for.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    sockets: BTreeMap<String, SocketView>,
    fetches: BTreeSet<String>,
    /// Before the call.
    timers: usize,
    /// By the call.
    timers_set: BTreeSet<String>,
}

impl From<View> for Seen {
    fn from(View { sockets, fetches, timers }: View) -> Self {
        Self { sockets, fetches, timers, timers_set: BTreeSet::new() }
    }
}

impl Seen {
    pub(super) fn opening(&mut self, label: &str, request: &SocketRequest) -> Result<(), Fault> {
        if !self.sockets.contains_key(label) && self.sockets.len() >= SESSION_LABELS_MAX {
            return Err(Fault::Exhausted(format!("sockets: at most {SESSION_LABELS_MAX} at once")));
        }
        self.sockets.insert(label.to_owned(), SocketView { request: Arc::new(request.clone()), open: false });
        Ok(())
    }

    pub(super) fn open_socket(&self, label: &str) -> Result<Arc<SocketRequest>, Fault> {
        let socket = self.sockets.get(label).filter(|socket| socket.open);
        let socket = socket.ok_or_else(|| Fault::Invalid(format!("label: socket `{label}` is not open")))?;
        Ok(Arc::clone(&socket.request))
    }

    pub(super) fn closing(&mut self, label: &str) {
        self.sockets.remove(label);
    }

    /// Which timers run is not known here, only how many: one that is set again counts once more. So the ceiling holds
    /// for what ran before the call and for what the call sets, each.
    pub(super) fn setting(&mut self, label: &str) -> Result<(), Stop> {
        self.timers_set.insert(label.to_owned());
        if self.timers.max(self.timers_set.len()) > SESSION_LABELS_MAX {
            return Err(Stop::Budget { which: "timers", limit: SESSION_LABELS_MAX });
        }
        Ok(())
    }

    pub(super) fn cancelling(&mut self, label: &str) {
        self.timers_set.remove(label);
    }

    pub(super) fn free_to_fetch(&self, label: &str) -> Result<(), Fault> {
        if self.fetches.contains(label) {
            return Err(Fault::Invalid(format!("label: request `{label}` is under way")));
        }
        if self.fetches.len() >= SESSION_LABELS_MAX {
            return Err(Fault::Exhausted(format!("requests: at most {SESSION_LABELS_MAX} at once")));
        }
        Ok(())
    }

    pub(super) fn fetching(&mut self, label: String) {
        self.fetches.insert(label);
    }
}

/// A code that an endpoint may send, and a reason that fits (RFC 6455 §7.4).
pub(super) fn close_code(code: Option<u16>, reason: &str) -> Result<(), String> {
    match code {
        None | Some(1000..=1003 | 1007..=1014 | 3000..=4999) => {}
        Some(code) => {
            return Err(format!("code: {code} can't be sent; use 1000 to 1003, 1007 to 1014 or 3000 to 4999"));
        }
    }
    if reason.len() > CLOSE_REASON_BYTES_MAX {
        return Err(format!("reason: {} bytes, at most {CLOSE_REASON_BYTES_MAX}", reason.len()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> SocketRequest {
        SocketRequest {
            url: "wss://gateway.example".to_owned(),
            headers: Vec::new(),
            secrets: Vec::new(),
            subprotocols: Vec::new(),
            silence: std::time::Duration::from_secs(60),
            annotations: "{}".to_owned(),
        }
    }

    #[test]
    fn a_socket_is_open_when_the_view_says_so() {
        let open = SocketView { request: Arc::new(request()), open: true };
        let view = View { sockets: [("a".to_owned(), open)].into(), ..View::default() };
        let mut seen = Seen::from(view);
        assert!(seen.open_socket("a").is_ok());
        assert!(seen.open_socket("b").is_err());
        seen.opening("a", &request()).unwrap();
        assert!(seen.open_socket("a").is_err(), "opened again: it is on its way");
        seen.closing("a");
        assert!(seen.open_socket("a").is_err());
    }

    #[test]
    fn labels_are_bounded() {
        let mut seen = Seen::default();
        for index in 0..SESSION_LABELS_MAX {
            seen.opening(&format!("s{index}"), &request()).unwrap();
            seen.setting(&format!("t{index}")).unwrap();
            seen.free_to_fetch(&format!("f{index}")).unwrap();
            seen.fetching(format!("f{index}"));
        }
        assert!(matches!(seen.opening("one more", &request()), Err(Fault::Exhausted(_))));
        assert!(seen.opening("s0", &request()).is_ok(), "replacing is free");
        assert!(matches!(seen.free_to_fetch("one more"), Err(Fault::Exhausted(_))));
        assert!(matches!(seen.free_to_fetch("f0"), Err(Fault::Invalid(_))));
        assert!(seen.setting("t0").is_ok(), "replacing is free");
        assert!(seen.setting("one more").is_err());
    }

    #[test]
    fn close_codes() {
        for code in [1000, 1003, 1007, 1014, 3000, 4014, 4999] {
            assert!(close_code(Some(code), "").is_ok(), "{code}");
        }
        for code in [0, 999, 1004, 1005, 1006, 1015, 2999, 5000] {
            assert!(close_code(Some(code), "").is_err(), "{code}");
        }
        assert!(close_code(None, &"é".repeat(62)).is_err());
    }
}
