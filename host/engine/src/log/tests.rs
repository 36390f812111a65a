use std::sync::Mutex;

use super::*;

fn sink() -> (LogSink, Arc<Mutex<Vec<Line>>>) {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let written = Arc::clone(&lines);
    let mask = |text: &str| text.replace("canary-canary", "[secret:token]");
    let sink = LogSink::new(jackfield_model::clock::system(), mask, move |line| written.lock().unwrap().push(line));
    (sink, lines)
}

#[test]
fn case_17_lines_are_neutral_masked_and_short() {
    let (sink, lines) = sink();
    let hostile = "a\r\nERROR forged\x1b[2J\x1b]0;title\x07\0 \u{202e}gpj.exe canary-canary";
    sink.write(Level::Warn, Source::Log, hostile, &[("k\n".to_owned(), "v\u{2066}".to_owned())]);
    sink.write(Level::Warn, Source::Log, &"é".repeat(MESSAGE_BYTES_MAX), &vec![Default::default(); FIELDS_MAX * 2]);
    let lines = lines.lock().unwrap();
    assert_eq!(lines[0].message, r"a\r\nERROR forged\u{1b}[2J\u{1b}]0;title\u{7}\u{0} \u{202e}gpj.exe [secret:token]");
    assert_eq!(lines[0].fields, [(r"k\n".to_owned(), r"v\u{2066}".to_owned())]);
    assert!(lines[1].message.len() <= MESSAGE_BYTES_MAX + '…'.len_utf8() && lines[1].message.ends_with('…'));
    assert_eq!(lines[1].fields.len(), FIELDS_MAX);
}

#[test]
fn case_17_what_is_over_the_share_is_counted() {
    let (sink, lines) = sink();
    for _ in 0..1000 {
        sink.write(Level::Info, Source::Log, "again", &[]);
    }
    let through = lines.lock().unwrap().len() as u64;
    assert!((200..300).contains(&through), "{through}");
    assert_eq!(sink.dropped(), 1000 - through);
    assert_eq!(
        lines.lock().unwrap().iter().map(|line| line.dropped).sum::<u64>() + sink.0.dropped.load(Ordering::Relaxed),
        sink.dropped()
    );
}

#[test]
fn a_cut_can_not_hide_a_secret() {
    let (sink, lines) = sink();
    let text = format!("{}canary-canary", "x".repeat(MESSAGE_BYTES_MAX - 6));
    sink.write(Level::Info, Source::Stdout, &text, &[]);
    assert!(!lines.lock().unwrap()[0].message.contains("canary"));
}
