//! Which requests a limit or a fault is about: a method and a path below `/api/v10`.

/// The methods of the REST API.
const METHODS: [&str; 5] = ["GET", "POST", "PATCH", "PUT", "DELETE"];

/// A method and a path, each only if given. In the path `*` stands for one segment, and `**` at the end for all that follow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pattern<'a> {
    pub(crate) method: Option<&'a str>,
    pub(crate) path: Option<&'a str>,
}

impl Pattern<'_> {
    /// Whether a request is meant. `path` begins with `/`, below the version.
    pub(crate) fn matches(&self, method: &str, path: &str) -> bool {
        self.method.is_none_or(|wanted| wanted == method) && self.path.is_none_or(|wanted| alike(wanted, path))
    }

    /// What is wrong with it, and what to write instead.
    pub(crate) fn problem(&self) -> Option<String> {
        if let Some(method) = self.method.filter(|method| !METHODS.contains(method)) {
            return Some(format!("`method` is \"{method}\": use one of {}", METHODS.join(", ")));
        }
        let path =
            self.path.filter(|path| !path.starts_with('/') || path.starts_with("/api/") || path.contains('?'))?;
        Some(format!(
            "`path` is \"{path}\": write what follows the version, without a query, like \"/channels/*/messages\""
        ))
    }
}

fn alike(wanted: &str, path: &str) -> bool {
    let (mut wanted, mut found) = (segments(wanted), segments(path));
    loop {
        match (wanted.next(), found.next()) {
            (Some("**"), _) | (None, None) => return true,
            (Some(wanted), Some(found)) if wanted == "*" || wanted == found => {}
            _ => return false,
        }
    }
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|segment| !segment.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(method: Option<&str>, path: Option<&str>) -> bool {
        Pattern { method, path }.matches("POST", "/channels/12/messages")
    }

    #[test]
    fn a_star_is_one_segment_and_two_are_the_rest() {
        for path in ["/channels/*/messages", "/channels/12/messages", "/channels/**", "/**", "/*/*/*"] {
            assert!(matches(None, Some(path)), "{path}");
        }
        for path in ["/channels/*", "/channels/13/messages", "/channels/*/messages/*", "/guilds/**"] {
            assert!(!matches(None, Some(path)), "{path}");
        }
        assert!(matches(None, None) && matches(Some("POST"), None) && !matches(Some("GET"), None));
    }

    #[test]
    fn problems_say_what_to_write() {
        let problem = |method, path| Pattern { method, path }.problem().unwrap_or_default();
        assert!(problem(Some("post"), None).contains("use one of GET, POST"));
        for path in ["channels/*", "/api/v10/channels/*", "/channels/*?limit=1"] {
            assert!(problem(None, Some(path)).contains("/channels/*/messages"), "{path}");
        }
        assert_eq!(problem(Some("GET"), Some("/users/@me")), "");
    }
}
