//! What a host learns of them when it loads them.

use std::time::Duration;

use jackfield_engine::Exports;
use jackfield_model::descriptor::{Ask, SecretAsk};
use jackfield_model::semantics::{
    DestructiveClass, EffectClass, IdempotencyKind, MutationScope, RetrySafety, Semantics,
};
use jackfield_tests::guest::{self, Guest};
use jackfield_tests::processes::Home;
use serde_json::Value;
use wit_component::DecodedWasm;
use wit_parser::WorldKey;

use super::{BOTH, bench};

const WEB: &str = "https://echo.test";

fn asks() -> Vec<Ask> {
    vec![
        Ask::Http(WEB.to_owned()),
        Ask::Secret(SecretAsk {
            name: "canary".to_owned(),
            help: "The platform's token.".to_owned(),
            required: true,
            to: vec![WEB.to_owned()],
        }),
        Ask::State(65_536),
        Ask::Contacts,
    ]
}

/// Exports of the component itself that belong to no package: what its toolchain adds.
fn added(guest: Guest) -> Vec<String> {
    let DecodedWasm::Component(resolve, world) = wit_component::decode(&guest.bytes()).unwrap() else {
        panic!("{}: it is no component", guest.name)
    };
    let names = resolve.worlds[world].exports.keys().filter_map(|key| match key {
        WorldKey::Name(name) => Some(name.clone()),
        WorldKey::Interface(_) => None,
    });
    names.collect()
}

#[tokio::test]
async fn they_say_what_they_are() {
    for (guest, id, export) in BOTH {
        assert_eq!(added(guest), [export], "{id}: the contract's README says so, and the loader lets it pass");
        let component = bench(guest).await.component;
        assert_eq!(component.exports(), Exports { action: true, ..Exports::default() }, "{id}");
        let descriptor = component.descriptor();
        assert_eq!(descriptor.id, id);
        assert_eq!(descriptor.asks, asks(), "{id}");
        let imports = |name: &str| component.imports().iter().any(|import| import.name == name);
        assert!(imports("jackfield:connector/session"), "{id}: it imports all of its world, whatever it uses");
        let config: Value = serde_json::from_str(&descriptor.config_schema).unwrap();
        assert_eq!(config["properties"]["name"]["type"], "string", "{id}");
    }
}

#[tokio::test]
async fn they_say_what_they_can_do() {
    let semantics = Semantics {
        effect: EffectClass::Send,
        scope: MutationScope::ExternalDelivery,
        destructive: DestructiveClass::IrreversibleSend,
        idempotency: IdempotencyKind::NotIdempotent,
        retry: RetrySafety::RetryBeforeProviderCall,
    };
    for (guest, id, _) in BOTH {
        let component = bench(guest).await.component;
        let [say] = component.actions() else { panic!("{id}: {:?}", component.actions()) };
        assert_eq!(
            (say.name.as_str(), say.semantics, say.timeout),
            ("say", semantics, Duration::from_secs(10)),
            "{id}"
        );
        let input: Value = serde_json::from_str(&say.input_schema).unwrap();
        assert_eq!(input["required"], serde_json::json!(["text"]), "{id}");
        let output: Value = serde_json::from_str(&say.output_schema).unwrap();
        assert_eq!(output["required"], serde_json::json!(["status", "body"]), "{id}");
    }
}

/// A Python component takes a quarter of a minute: whoever comes second finds it compiled.
#[tokio::test]
async fn they_are_compiled_once() {
    for (guest, id, _) in BOTH {
        let first = bench(guest).await.component;
        let second = bench(guest).await.component;
        assert!(second.cached(), "{id}");
        assert_eq!(first.digest(), second.digest());
    }
}

/// The command that an author has. JavaScript alone: it keeps nothing of what it compiles.
#[test]
fn check_accepts_one() {
    let home = Home::new("");
    let file = guest::LANGUAGE_JAVASCRIPT.file(home.path());
    let described = home.json(&["check", file.to_str().unwrap()]);
    assert_eq!((&described["accepted"], &described["id"]), (&true.into(), &"say-js".into()), "{described:#}");
    assert_eq!(described["exports"], serde_json::json!(["connector", "action"]), "{described:#}");
    assert!(described["asks"].to_string().contains(WEB), "{described:#}");
}
