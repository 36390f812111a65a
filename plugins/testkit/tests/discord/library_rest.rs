//! Faithfulness of the REST API, judged by a client that others wrote: twilight's HTTP client reads every answer into its own
//! types, and its rate limiter takes the headers at their word.

use jackfield_testkit::discord::{Double, LimitScope, Limits, RouteLimit};
use twilight_http::Client;
use twilight_http::api_error::ApiError;
use twilight_http::error::ErrorType;
use twilight_model::channel::ChannelType;
use twilight_model::channel::message::{AllowedMentions, MessageType};
use twilight_model::id::Id;
use twilight_model::id::marker::{ChannelMarker, GuildMarker};

use super::client::silent;

fn client(double: &Double) -> Client {
    let host = double.origin_http().strip_prefix("http://").unwrap().to_owned();
    Client::builder().token(double.token().to_owned()).proxy(host, true).build()
}

fn channel(double: &Double, number: usize) -> Id<ChannelMarker> {
    Id::new(double.channels()[number].get())
}

fn guild(double: &Double) -> Id<GuildMarker> {
    Id::new(double.guilds()[0].get())
}

#[tokio::test]
async fn it_says_answers_and_changes() {
    let double = silent().await;
    let (client, channel) = (client(&double), channel(&double, 0));
    let said = client.create_message(channel).content("working").nonce(7).await.unwrap().model().await.unwrap();
    assert_eq!((said.content.as_str(), said.author.id.get()), ("working", double.bot().get()));
    let changed = client.update_message(channel, said.id).content(Some("done")).await.unwrap().model().await.unwrap();
    assert_eq!((changed.content.as_str(), changed.edited_timestamp.is_some()), ("done", true));
    let nobody = AllowedMentions::default();
    let text = format!("<@{}> see above", double.authors()[0]);
    let reply = client.create_message(channel).content(&text).reply(said.id).allowed_mentions(Some(&nobody)).await;
    let reply = reply.unwrap().model().await.unwrap();
    assert_eq!((reply.kind, reply.mentions.len()), (MessageType::Reply, 0));
    let referenced = reply.referenced_message.unwrap();
    assert_eq!((referenced.id, referenced.content.as_str()), (said.id, "done"));
    let read = client.message(channel, reply.id).await.unwrap().model().await.unwrap();
    assert_eq!(read.content, text);
    assert_eq!(double.log().counts().said, 2);
}

#[tokio::test]
async fn it_opens_a_direct_channel_and_finds_people_and_roles() {
    let double = silent().await;
    let client = client(&double);
    let somebody = Id::new(double.authors()[7].get());
    let direct = client.create_private_channel(somebody).await.unwrap().model().await.unwrap();
    assert_eq!((direct.kind, direct.recipients.unwrap()[0].id), (ChannelType::Private, somebody));
    let said = client.create_message(direct.id).content("psst").await.unwrap().model().await.unwrap();
    assert_eq!(said.channel_id, direct.id);
    let user = client.user(somebody).await.unwrap().model().await.unwrap();
    assert_eq!((user.id, user.name.as_str()), (somebody, "lin.example.7"));
    let found = client.search_guild_members(guild(&double), "lin").limit(100).await.unwrap().models().await.unwrap();
    assert!(found.len() > 1 && found.iter().any(|member| member.nick.as_deref() == Some("Lin the 7th")));
    let roles = client.roles(guild(&double)).await.unwrap().models().await.unwrap();
    assert_eq!(roles.iter().map(|role| role.name.as_str()).collect::<Vec<_>>(), ["@everyone", "oncall", "staff"]);
}

#[tokio::test]
async fn it_understands_every_refusal() {
    let double = silent().await;
    let (client, hidden, direct) = (client(&double), channel(&double, 1), double.authors()[0]);
    let code = async |channel: Id<ChannelMarker>| {
        let error = client.create_message(channel).content("hi").await.unwrap_err();
        match error.into_parts().0 {
            ErrorType::Response { error: ApiError::General(error), status, .. } => (status.get(), error.code),
            other => panic!("{other:?}"),
        }
    };
    double.deny_access(double.channels()[1]);
    assert_eq!(code(hidden).await, (403, 50_001));
    double.deny_send(double.channels()[2]);
    assert_eq!(code(channel(&double, 2)).await, (403, 50_013));
    double.close_dms(direct);
    assert_eq!(code(Id::new(double.direct_channel(direct).unwrap().get())).await, (403, 50_007));
    assert_eq!(code(Id::new(5)).await, (404, 10_003));
}

#[tokio::test]
async fn it_meets_the_limit_and_gets_through() {
    const MESSAGES: usize = 7;
    let double = silent().await;
    let path = Some("/channels/*/messages".to_owned());
    let limit = RouteLimit { method: None, path, requests: 3, per_ms: 1500, scope: LimitScope::User, code: None };
    double.limit_rest(Limits { global: None, routes: vec![limit] });
    let (client, channel) = (client(&double), channel(&double, 0));
    let mut said = Vec::new();
    for number in 0..MESSAGES {
        let text = format!("number {number}");
        said.push(client.create_message(channel).content(&text).await.unwrap().model().await.unwrap().id.get());
    }
    let made: Vec<u64> = double.log().said().iter().map(|said| said.message.get()).collect();
    assert_eq!(said, made, "each once and in order");
    let counts = double.log().counts();
    assert!(counts.rate_limited > 0, "it was told to wait: {counts:?}");
    assert!(counts.rate_limited < 10, "and waited: {counts:?}");
}
