use proptest::prelude::*;

use super::*;

fn origin(text: &str) -> Origin {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn goes_to(url: &str) -> Result<Destination, String> {
    Url::parse(url).map_err(|error| error.to_string()).and_then(|url| Destination::of(&url))
}

fn admits(grant: &str, url: &str) -> bool {
    goes_to(url).is_ok_and(|destination| origin(grant).admits(&destination))
}

#[test]
fn case_25_origins_are_matched_normalised() {
    for (grant, url) in [
        ("https://discord.com", "https://discord.com/api"),
        ("https://discord.com", "https://discord.com:443/"),
        ("https://discord.com:443", "https://discord.com"),
        ("https://discord.com", "HTTPS://DISCORD.COM"),
        ("https://Discord.Com.", "https://discord.com"),
        ("https://discord.com", "https://discord.com./x"),
        ("https://bücher.example", "https://xn--bcher-kva.example"),
        ("https://xn--bcher-kva.example", "https://BÜCHER.example"),
        ("https://a.example:8443", "https://a.example:8443"),
        ("wss://*.discord.gg", "wss://gateway-us-east1-b.discord.gg/?v=10"),
        ("wss://*.discord.gg", "wss://a.b.discord.gg"),
        ("https://8.8.8.8", "https://0x8080808"),
        ("https://8.8.8.8", "https://134744072"),
        ("https://8.8.8.8", "https://0010.8.8.8"),
        ("https://[2606:4700::1111]", "https://[2606:4700:0:0::1111]"),
    ] {
        assert!(admits(grant, url), "{grant} {url}");
    }
    for (grant, url) in [
        ("https://discord.com", "http://discord.com"),
        ("https://discord.com", "wss://discord.com"),
        ("https://discord.com", "https://discord.com:8443"),
        ("https://discord.com", "https://api.discord.com"),
        ("https://discord.com", "https://discord.com.evil.example"),
        ("https://discord.com", "https://evildiscord.com"),
        // A Cyrillic letter, and a user name that looks like a host.
        ("https://discord.com", "https://disc\u{43e}rd.com"),
        ("https://discord.com", "https://discord.com@evil.example"),
        ("https://discord.com", "https://discord.com:x@discord.com"),
        ("https://discord.com", "https://[discord.com]"),
        ("https://discord.com", "https://discord.com.."),
        ("wss://*.discord.gg", "wss://discord.gg"),
        ("wss://*.discord.gg", "wss://.discord.gg"),
        ("wss://*.discord.gg", "wss://evildiscord.gg"),
        ("wss://*.discord.gg", "wss://*.discord.gg"),
        ("https://*.8.8.example", "https://8.8.8.8"),
        ("https://localhost.example", "https://localhost"),
    ] {
        assert!(!admits(grant, url), "{grant} {url}");
    }
}

#[test]
fn case_25_a_grant_says_what_is_wrong_with_it() {
    for (text, part) in [
        ("discord.com", "begin with"),
        ("http://discord.com", "begin with"),
        ("https://discord.com/api", "remove the path"),
        ("https://discord.com/", "remove the path"),
        ("https://discord.com?x", "remove the query"),
        ("https://discord.com#x", "remove the fragment"),
        ("https://me@discord.com", "remove the user name"),
        ("https://*", "`*.` may only"),
        ("https://*.com", "`*.` may only"),
        ("https://*.10.0.0.1", "`*.` may only"),
        ("https://a.*.example.com", "`*.` may only"),
        ("https://**.example.com", "`*.` may only"),
        ("https://", "host"),
        ("https://a b.example", "spaces"),
        ("https://a.example:99999", "port"),
        ("https://a..example", "no host name"),
        ("https://a,b.example", "no host name"),
    ] {
        let error = text.parse::<Origin>().unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn two_origins_meet_in_the_narrower() {
    for (one, other, both) in [
        ("https://a.example", "https://a.example", Some("https://a.example")),
        ("wss://*.discord.gg", "wss://gateway.discord.gg", Some("wss://gateway.discord.gg")),
        ("wss://*.discord.gg", "wss://*.us.discord.gg", Some("wss://*.us.discord.gg")),
        ("wss://*.discord.gg", "wss://discord.gg", None),
        ("wss://*.discord.gg", "https://gateway.discord.gg", None),
        ("https://a.example", "https://a.example:8443", None),
        ("https://a.example", "https://b.example", None),
    ] {
        let both = both.map(origin);
        assert_eq!(origin(one).meet(&origin(other)), both, "{one} {other}");
        assert_eq!(origin(other).meet(&origin(one)), both, "{other} {one}");
    }
}

/// A name of a few short labels: likely to be related to another one.
fn name() -> impl Strategy<Value = String> {
    proptest::collection::vec("[abA][b0-]?[a0]", 2..5).prop_map(|labels| labels.join("."))
}

fn grant() -> impl Strategy<Value = String> {
    (prop_oneof![Just("https"), Just("wss")], any::<bool>(), name(), prop_oneof![Just(""), Just(":443"), Just(":444")])
        .prop_map(|(scheme, wild, name, port)| format!("{scheme}://{}{name}{port}", if wild { "*." } else { "" }))
}

proptest! {
    /// Against a plain reading of the rule.
    #[test]
    fn case_25_matching_is_the_plain_rule(grant in grant(), name in name(), scheme in "https|wss", port in "(:44[34])?", dot in "\\.?") {
        let Ok(parsed) = grant.parse::<Origin>() else { return Ok(()) };
        let Ok(destination) = goes_to(&format!("{scheme}://{name}{dot}{port}/path")) else { return Ok(()) };
        let (grant_scheme, rest) = grant.split_once("://").unwrap();
        let (grant_host, grant_port) = rest.split_once(':').unwrap_or((rest, "443"));
        let (grant_host, name) = (grant_host.to_lowercase(), name.to_lowercase());
        let host_fits = match grant_host.strip_prefix("*.") {
            Some(base) => name.ends_with(&format!(".{base}")),
            None => name == grant_host,
        };
        let port = port.strip_prefix(':').unwrap_or("443");
        prop_assert_eq!(parsed.admits(&destination), host_fits && grant_scheme == scheme && grant_port == port);
    }

    /// What two origins have in common admits what both admit, and nothing else.
    #[test]
    fn case_25_the_meet_admits_what_both_admit(one in grant(), other in grant(), name in name(), scheme in "https|wss") {
        let (Ok(one), Ok(other)) = (one.parse::<Origin>(), other.parse::<Origin>()) else { return Ok(()) };
        let Ok(destination) = goes_to(&format!("{scheme}://{name}")) else { return Ok(()) };
        let both = one.meet(&other).is_some_and(|both| both.admits(&destination));
        prop_assert_eq!(both, one.admits(&destination) && other.admits(&destination));
    }

    /// A parsed origin prints as something that parses to the same.
    #[test]
    fn case_25_origins_print_as_they_parse(grant in grant()) {
        if let Ok(parsed) = grant.parse::<Origin>() {
            prop_assert_eq!(parsed.to_string().parse::<Origin>(), Ok(parsed));
        }
    }

    /// No text makes the parser panic, and what it takes never has more than a scheme, a host and a port.
    #[test]
    fn case_25_any_text_is_parsed_or_refused(text in "(https|wss|http)?(://)?[\\PC*.@:/\\[\\]]{0,40}") {
        if let Ok(parsed) = text.parse::<Origin>() {
            prop_assert!(!parsed.to_string().contains('@'), "{}", parsed);
        }
    }
}
