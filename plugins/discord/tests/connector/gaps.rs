//! Messages that were posted between two sessions.

use jackfield_discord::runtime::timer;
use jackfield_sdk::Fault;
use jackfield_sdk::transform::Answer;

use crate::stage::{CHANNEL, Effect, GUILD, GUILD_ID, READY, Stage, Submitted, message, response};

/// Ids of the time of the stage's clock: 2026-02-03.
const FIRST: u64 = 1_468_248_479_167_064_563;
const LABEL: &str = "backfill:839760899035176311";

/// A message as the REST API has it: without guild and member.
fn rest(id: u64) -> String {
    format!(
        r#"{{"id":"{id}","channel_id":"{CHANNEL}","type":0,"content":"number {id}","timestamp":"2026-02-03T14:15:16.171000+00:00","author":{{"id":"620939583227628061","username":"juno.example"}},"attachments":[],"mentions":[],"embeds":[]}}"#
    )
}

/// A page, newest first as Discord writes it.
fn page(ids: &[u64]) -> Result<jackfield_sdk::HttpResponse, Fault> {
    let mut messages: Vec<String> = ids.iter().map(|id| rest(*id)).collect();
    messages.reverse();
    Ok(response(200, &format!("[{}]", messages.join(", "))))
}

/// It was stopped for too long, and is ready again by identifying.
fn identify_anew(stage: &mut Stage) {
    stage.restart().unwrap();
    stage.greet(41_250);
    stage.frame(r#"{"op":9,"d":false}"#).unwrap();
    stage.elapse(timer::RECONNECT).unwrap();
    stage.clear();
    stage.go_ready();
}

/// A session that saw the message `FIRST`, was stopped for too long, and is ready again by identifying.
fn after_a_gap() -> Stage {
    let mut stage = Stage::ready();
    stage.frame(&message(3, FIRST)).unwrap();
    identify_anew(&mut stage);
    stage
}

fn keys(submitted: &[Submitted]) -> Vec<String> {
    submitted
        .iter()
        .filter_map(|dispatch| match dispatch.answer() {
            Answer::Events(events) => Some(events[0].key.clone()),
            _ => None,
        })
        .collect()
}

fn key(id: u64) -> String {
    format!("{CHANNEL}:{id}")
}

#[test]
fn four_messages_come_in_order_each_once() {
    let mut stage = after_a_gap();
    let request = &stage.desk.fetches[LABEL];
    assert_eq!(request.url, format!("https://discord.com/api/v10/channels/{CHANNEL}/messages?after={FIRST}&limit=50"));
    let missed: Vec<u64> = (1..=4).map(|n| FIRST + n).collect();
    stage.answer(LABEL, page(&missed[..3])).unwrap();
    assert!(stage.desk.fetches[LABEL].url.contains(&format!("after={}", FIRST + 3)));
    stage.answer(LABEL, page(&missed[3..])).unwrap();
    stage.answer(LABEL, page(&[])).unwrap();
    let submitted = stage.submitted();
    assert_eq!(keys(&submitted), missed.iter().map(|id| key(*id)).collect::<Vec<_>>());
    for dispatch in &submitted {
        assert_eq!(dispatch.lane, format!("channel:{CHANNEL}"));
        let place = dispatch.event().location.unwrap();
        assert_eq!(place.account, Some(GUILD_ID.to_string()), "the guild is known though REST does not say it");
        assert_eq!(place.room, Some(CHANNEL.to_string()));
    }
    assert!(stage.desk.fetches.is_empty());
}

#[test]
fn a_fetched_message_is_spliced_and_equals_a_live_one() {
    let mut stage = after_a_gap();
    stage.answer(LABEL, page(&[FIRST + 1])).unwrap();
    let fetched = stage.submitted().pop().unwrap();
    assert_eq!(
        fetched.payload.as_text().unwrap(),
        format!(r#"{{"op":0,"t":"MESSAGE_CREATE","d":{}}}"#, rest(FIRST + 1))
    );
    let mut live = Stage::ready();
    live.frame(&message(3, FIRST + 1)).unwrap();
    assert_eq!(fetched.event(), live.submitted().pop().unwrap().event());
}

#[test]
fn a_fresh_install_fetches_nothing() {
    let mut stage = Stage::ready();
    stage.frame(&message(3, FIRST)).unwrap();
    assert!(stage.desk.fetches.is_empty());
}

#[test]
fn a_resume_fetches_nothing() {
    let mut stage = Stage::ready();
    stage.frame(&message(3, FIRST)).unwrap();
    stage.restart().unwrap();
    stage.greet(41_250);
    stage.frame(r#"{"op":0,"t":"RESUMED","s":4,"d":{}}"#).unwrap();
    assert!(stage.desk.fetches.is_empty());
}

#[test]
fn a_channel_that_was_silent_before_is_found_by_its_guild() {
    let mut stage = Stage::ready();
    stage.restart().unwrap();
    stage.greet(41_250);
    stage.frame(r#"{"op":9,"d":false}"#).unwrap();
    stage.elapse(timer::RECONNECT).unwrap();
    stage.go_ready();
    assert!(stage.desk.fetches.is_empty(), "nothing is known of any channel");
    let newest =
        |id: &str| GUILD.replace(r#""name": "general","#, &format!(r#""name":"general","last_message_id":{id},"#));
    stage.frame(&newest(&format!(r#""{FIRST}""#))).unwrap();
    let after = stage.desk.fetches[LABEL].url.clone();
    stage.answer(LABEL, page(&[FIRST])).unwrap();
    assert_eq!(keys(&stage.submitted()), [key(FIRST)]);
    // From when the first session began: nothing older is ever published.
    assert!(after.contains("after=1468"), "{after}");
}

#[test]
fn a_guild_that_shows_nothing_new_saves_the_request() {
    for newest in ["null".to_owned(), format!(r#""{FIRST}""#)] {
        let mut stage = after_a_gap();
        // Two other channels are under way, so that this one still waits.
        stage.desk.fetches.clear();
        let mut stage = with_other_channels(stage);
        let shown = GUILD.replace(r#""name": "general","#, &format!(r#""name":"general","last_message_id":{newest},"#));
        stage.frame(&shown).unwrap();
        stage.answer("backfill:11", page(&[])).unwrap();
        stage.answer("backfill:12", page(&[])).unwrap();
        assert!(!stage.desk.fetches.contains_key(LABEL), "{newest}");
    }
}

#[test]
fn a_guild_that_shows_what_came_live_leaves_the_gap_before_it() {
    let mut stage = with_other_channels(after_a_gap());
    // More than can be held, so it went out though the gap before it still waits for its turn.
    for n in 0..60 {
        stage.frame(&message(2 + n, FIRST + 100 + n)).unwrap();
    }
    let newest = format!(r#""name":"general","last_message_id":"{}","#, FIRST + 159);
    stage.frame(&GUILD.replace(r#""name": "general","#, &newest)).unwrap();
    stage.answer("backfill:11", page(&[])).unwrap();
    assert!(stage.desk.fetches[LABEL].url.contains(&format!("after={FIRST}&")));
}

/// A session whose two newest channels are others.
fn with_other_channels(_: Stage) -> Stage {
    let mut stage = Stage::ready();
    stage.frame(&message(3, FIRST)).unwrap();
    for (seq, channel) in [(4, "11"), (5, "12")] {
        stage.frame(&message(seq, FIRST + seq).replace(&CHANNEL.to_string(), channel)).unwrap();
    }
    identify_anew(&mut stage);
    assert_eq!(stage.desk.fetches.len(), 2, "two at a time");
    stage
}

#[test]
fn live_messages_of_a_channel_follow_what_was_missed_in_it_and_others_do_not_wait() {
    let mut stage = after_a_gap();
    stage.frame(&message(2, FIRST + 9)).unwrap();
    stage.frame(&message(3, FIRST + 10)).unwrap();
    assert_eq!(stage.submitted(), [], "held");
    let elsewhere = message(4, FIRST + 11).replace(&CHANNEL.to_string(), "77");
    stage.frame(&elsewhere).unwrap();
    assert_eq!(keys(&stage.submitted()), [format!("77:{}", FIRST + 11)]);
    // Held dispatches are not settled, and a heartbeat does not acknowledge them.
    stage.elapse(timer::BEAT).unwrap();
    assert_eq!(stage.last_sent(), r#"{"op":1,"d":1}"#);
    stage.reload();
    stage.answer(LABEL, page(&[FIRST + 1, FIRST + 9])).unwrap();
    stage.answer(LABEL, page(&[])).unwrap();
    let in_order = [FIRST + 1, FIRST + 9, FIRST + 9, FIRST + 10].map(key);
    assert_eq!(keys(&stage.submitted())[1..], in_order, "the same key twice is one event");
    let marks: Vec<_> = stage.submitted().into_iter().filter_map(|dispatch| dispatch.mark).collect();
    assert_eq!(marks, ["2:4", "2:2", "2:3"]);
}

#[test]
fn too_much_to_hold_goes_out_late_rather_than_never() {
    let mut stage = after_a_gap();
    let live: Vec<u64> = (0..60).map(|n| FIRST + 100 + n).collect();
    for (seq, id) in (2..).zip(&live) {
        stage.frame(&message(seq, *id)).unwrap();
    }
    assert_eq!(keys(&stage.submitted()), live.iter().map(|id| key(*id)).collect::<Vec<_>>());
    stage.answer(LABEL, page(&[FIRST + 1])).unwrap();
    assert_eq!(keys(&stage.submitted()).last(), Some(&key(FIRST + 1)), "from where the channel stood before");
}

#[test]
fn a_route_that_is_closed_waits_alone_and_a_global_limit_stops_all() {
    let mut stage = with_other_channels(after_a_gap());
    stage.answer("backfill:11", Ok(response(429, r#"{"retry_after":1.337,"global":false}"#))).unwrap();
    assert!(stage.desk.fetches.contains_key(LABEL), "the next channel takes its place");
    assert_eq!(stage.elapse("backfill:11").unwrap(), 1_337);
    assert!(stage.desk.fetches.contains_key("backfill:11"));
    stage.answer("backfill:11", Ok(response(429, r#"{"retry_after":64.57,"global":true}"#))).unwrap();
    stage.answer("backfill:12", page(&[])).unwrap();
    stage.answer(LABEL, page(&[])).unwrap();
    assert!(stage.desk.fetches.is_empty());
    stage.elapse("backfill").unwrap();
    assert_eq!(stage.desk.fetches.keys().collect::<Vec<_>>(), ["backfill:11"]);
}

/// A session that knows a hundred channels, ready again after a gap.
fn with_a_hundred_channels() -> Stage {
    let mut stage = Stage::ready();
    for n in 0..100 {
        stage.frame(&message(3 + n, FIRST + n).replace(&CHANNEL.to_string(), &(1_000 + n).to_string())).unwrap();
    }
    identify_anew(&mut stage);
    stage
}

/// Timers of the channels that wait.
fn waiting(stage: &Stage) -> Vec<String> {
    stage.desk.timers.keys().filter(|label| label.starts_with("backfill:")).cloned().collect()
}

#[test]
fn channels_that_all_fail_wait_for_each_other_and_each_has_its_attempts() {
    let refusals = [response(503, ""), response(429, r#"{"retry_after":1.5,"global":false}"#)];
    for (refusal, attempts) in refusals.into_iter().zip([3, 11]) {
        let mut stage = with_a_hundred_channels();
        let mut most = 0;
        loop {
            while let Some(label) = stage.desk.fetches.keys().next().cloned() {
                stage.answer(&label, Ok(refusal.clone())).unwrap();
                most = most.max(waiting(&stage).len());
            }
            let Some(label) = waiting(&stage).first().cloned() else {
                break;
            };
            stage.elapse(&label).unwrap();
        }
        assert_eq!(most, 32);
        assert_eq!(stage.reported("backfill-failed"), 100, "none is forgotten");
        let asked = stage.count(|effect| matches!(effect, Effect::Fetch(label, _) if label.starts_with("backfill:")));
        assert_eq!(asked, 100 * attempts);
    }
}

#[test]
fn giving_up_leaves_no_timer_behind() {
    let mut stage = with_a_hundred_channels();
    for _ in 0..10 {
        let label = stage.desk.fetches.keys().next().cloned().unwrap();
        stage.answer(&label, Ok(response(503, ""))).unwrap();
    }
    assert_eq!(waiting(&stage).len(), 10);
    let label = stage.desk.fetches.keys().next().cloned().unwrap();
    stage.answer(&label, Ok(response(401, ""))).unwrap();
    assert_eq!(waiting(&stage), [""; 0]);
}

#[test]
fn what_may_not_be_read_is_passed_over_and_what_fails_is_reported() {
    for status in [403, 404] {
        let mut stage = after_a_gap();
        stage.frame(&message(2, FIRST + 9)).unwrap();
        stage.answer(LABEL, Ok(response(status, "{}"))).unwrap();
        assert_eq!(keys(&stage.submitted()), [key(FIRST + 9)]);
        assert_eq!(stage.reported("backfill-failed"), 0);
    }
    let mut stage = after_a_gap();
    stage.frame(&message(2, FIRST + 9)).unwrap();
    for _ in 0..2 {
        stage.answer(LABEL, Err(Fault::Unavailable(None))).unwrap();
        stage.elapse(LABEL).unwrap();
    }
    stage.answer(LABEL, Ok(response(500, ""))).unwrap();
    assert_eq!(stage.reported("backfill-failed"), 1);
    assert_eq!(keys(&stage.submitted()), [key(FIRST + 9)]);
    assert!(stage.desk.fetches.is_empty());
}

#[test]
fn a_long_gap_is_cut_short_and_says_so() {
    let mut stage = after_a_gap();
    for n in 1..=20 {
        stage.answer(LABEL, page(&[FIRST + n])).unwrap();
    }
    assert_eq!(stage.reported("backfill-truncated"), 1);
    assert!(stage.desk.fetches.is_empty());
}

#[test]
fn a_server_that_repeats_itself_ends_the_fetching() {
    let mut stage = after_a_gap();
    stage.answer(LABEL, page(&[FIRST - 1, FIRST])).unwrap();
    assert!(stage.desk.fetches.is_empty());
    assert_eq!(stage.submitted(), []);
}

#[test]
fn a_restart_in_the_middle_goes_on_from_there() {
    let mut stage = after_a_gap();
    stage.answer(LABEL, page(&[FIRST + 1])).unwrap();
    stage.frame(&message(2, FIRST + 9)).unwrap();
    stage.restart().unwrap();
    stage.greet(41_250);
    stage.frame(r#"{"op":0,"t":"RESUMED","s":3,"d":{}}"#).unwrap();
    assert!(stage.desk.fetches[LABEL].url.contains(&format!("after={}", FIRST + 1)));
    stage.answer(LABEL, page(&[FIRST + 2])).unwrap();
    stage.answer(LABEL, page(&[])).unwrap();
    assert_eq!(keys(&stage.submitted()), [FIRST + 1, FIRST + 2, FIRST + 9].map(key));
}

#[test]
fn one_call_stays_below_the_effects_that_a_call_may_have() {
    let mut stage = with_other_channels(after_a_gap());
    for n in 0..48 {
        stage.frame(&message(2 + n, FIRST + 500 + n).replace(&CHANNEL.to_string(), "11")).unwrap();
    }
    stage.clear();
    let mut signals: Vec<_> = ["11", "12"]
        .into_iter()
        .map(|channel| {
            let label = format!("backfill:{channel}");
            stage.desk.fetches.remove(&label);
            let ids: Vec<u64> = (1..=50).map(|n| FIRST + 100 + n).collect();
            let outcome = page(&ids);
            jackfield_sdk::runtime::Signal::Fetched(jackfield_sdk::runtime::Fetched { label, outcome })
        })
        .collect();
    signals.extend(
        (0..62).map(|n| crate::stage::frame(&message(60 + n, FIRST + 900 + n).replace(&CHANNEL.to_string(), "99"))),
    );
    stage.give(signals).unwrap();
    assert!(stage.desk.effects.len() <= 240, "{}", stage.desk.effects.len());
    assert!(stage.count(|effect| matches!(effect, Effect::Submit(_))) >= 162);
}

#[test]
fn the_whole_table_fits_into_a_checkpoint() {
    let mut stage = Stage::fresh("{}");
    stage.gateway_answers(900);
    stage.greet(41_250);
    let guilds: Vec<String> = (0..2_500).map(|n| format!(r#"{{"id":"{}","unavailable":true}}"#, FIRST + n)).collect();
    let ready: serde_json::Value = serde_json::from_str(READY).unwrap();
    let mut ready = ready;
    ready["d"]["guilds"] = serde_json::from_str(&format!("[{}]", guilds.join(","))).unwrap();
    stage.frame(&ready.to_string()).unwrap();
    for n in 0..2_000_u64 {
        let channel = (FIRST + 7 * n).to_string();
        stage.frame(&message(2 + 3 * n, FIRST + n).replace(&CHANNEL.to_string(), &channel)).unwrap();
    }
    stage.restart().unwrap();
    stage.greet(41_250);
    stage.frame(r#"{"op":9,"d":false}"#).unwrap();
    stage.elapse(timer::RECONNECT).unwrap();
    stage.gateway_answers(900);
    stage.greet(41_250);
    stage.frame(&ready.to_string()).unwrap();
    let quotes = "\\\"".repeat(480);
    for n in 0..48 {
        let channel = (FIRST + 7 * (1_999 - n)).to_string();
        let long =
            message(2 + 3 * n, FIRST + 9_000 + n).replace(&CHANNEL.to_string(), &channel).replace("number", &quotes);
        stage.frame(&long).unwrap();
    }
    let size = stage.machine.checkpoint().len();
    assert!(size > 150 * 1024, "{size}");
    assert!(size < 256 * 1024, "{size}");
    stage.reload();
}
