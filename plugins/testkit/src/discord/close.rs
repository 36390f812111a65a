//! Close codes: which the gateway sends, and what each does to the session.
//!
//! After Discord's table "Gateway Close Event Codes". Where the table says "start a new session" or forbids a reconnect, the
//! double ends the session as well, so a client that resumes anyway is told so by opcode 9.

/// A WebSocket close code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Code(pub(crate) u16);

impl Code {
    pub(crate) const UNKNOWN_ERROR: Self = Self(4000);
    pub(crate) const UNKNOWN_OPCODE: Self = Self(4001);
    pub(crate) const DECODE_ERROR: Self = Self(4002);
    pub(crate) const NOT_AUTHENTICATED: Self = Self(4003);
    pub(crate) const AUTHENTICATION_FAILED: Self = Self(4004);
    pub(crate) const ALREADY_AUTHENTICATED: Self = Self(4005);
    pub(crate) const INVALID_SEQ: Self = Self(4007);
    pub(crate) const RATE_LIMITED: Self = Self(4008);
    pub(crate) const SESSION_TIMED_OUT: Self = Self(4009);
    pub(crate) const INVALID_SHARD: Self = Self(4010);
    pub(crate) const INVALID_API_VERSION: Self = Self(4012);
    pub(crate) const INVALID_INTENTS: Self = Self(4013);
    pub(crate) const DISALLOWED_INTENTS: Self = Self(4014);

    /// The reason sent along, in Discord's words.
    pub(crate) const fn reason(self) -> &'static str {
        match self.0 {
            4000 => "Unknown error.",
            4001 => "Unknown opcode.",
            4002 => "Error while decoding payload.",
            4003 => "Not authenticated.",
            4004 => "Authentication failed.",
            4005 => "Already authenticated.",
            4007 => "Invalid seq.",
            4008 => "Rate limited.",
            4009 => "Session timed out.",
            4010 => "Invalid shard.",
            4011 => "Sharding required.",
            4012 => "Invalid API version.",
            4013 => "Invalid intent(s).",
            4014 => "Disallowed intent(s).",
            _ => "",
        }
    }

    /// Whether a close that the gateway sends with this code ends the session.
    pub(crate) const fn sent_ends_session(self) -> bool {
        matches!(self.0, 4003 | 4004 | 4007 | 4009..=4014)
    }

    /// Whether a close that a client sends with this code ends the session. Every other code keeps it for the resume window.
    pub(crate) const fn received_ends_session(self) -> bool {
        matches!(self.0, 1000 | 1001)
    }

    /// Whether the code may stand in a close frame: 1004 to 1006 and 1015 are reserved for what happens without one.
    pub(crate) const fn sendable(self) -> bool {
        matches!(self.0, 1000..=1003 | 1007..=1014 | 3000..=4999)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clients_1000_and_1001_end_its_session() {
        let ending: Vec<u16> = (1000..5000).filter(|code| Code(*code).received_ends_session()).collect();
        assert_eq!(ending, [1000, 1001]);
    }

    #[test]
    fn resumable_closes_keep_the_session() {
        for code in [1000, 1001, 4000, 4001, 4002, 4005, 4008, 4999] {
            assert!(!Code(code).sent_ends_session(), "{code}");
        }
        for code in [4004, 4007, 4009, 4010, 4011, 4012, 4013, 4014] {
            assert!(Code(code).sent_ends_session(), "{code}");
        }
    }

    #[test]
    fn reserved_codes_are_not_sendable() {
        for code in [0, 999, 1004, 1005, 1006, 1015, 2999, 5000] {
            assert!(!Code(code).sendable(), "{code}");
        }
    }
}
