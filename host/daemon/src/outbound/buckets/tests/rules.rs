//! What answers say of a bucket, and what is made of it.

use super::super::{Buckets, EVERYTHING, Ticket};
use super::world::World;
use super::{HOUR, answered, busy, free, ms, sent};

fn stage() -> (World, Buckets) {
    let world = World::new();
    let buckets = world.buckets();
    (world, buckets)
}

#[test]
fn of_what_nothing_is_known_one_goes_at_a_time() {
    let (_, buckets) = stage();
    let first = sent(&buckets, "a");
    assert_eq!(busy(&buckets, "a").after, None);
    drop(first);
    assert_eq!(free(&buckets, "a"), 1);
}

#[test]
fn an_answer_says_how_many_more() {
    let (_, buckets) = stage();
    answered(&buckets, "a", 4, ms(1000));
    assert_eq!(free(&buckets, "a"), 4);
}

#[test]
fn what_is_on_the_way_is_not_counted_yet() {
    let (_, buckets) = stage();
    answered(&buckets, "a", 4, ms(1000));
    let mut on_the_way: Vec<_> = (0..3).map(|_| sent(&buckets, "a")).collect();
    on_the_way.pop().unwrap().told(3, ms(900));
    assert_eq!(free(&buckets, "a"), 1, "the answer need not have counted the other two");
}

#[test]
fn answers_out_of_order_count_the_least() {
    let (_, buckets) = stage();
    answered(&buckets, "a", 5, ms(1000));
    let (early, late) = (sent(&buckets, "a"), sent(&buckets, "a"));
    late.told(3, ms(950));
    early.told(4, ms(950));
    assert_eq!(free(&buckets, "a"), 3);
}

#[test]
fn none_left_blocks_until_the_end_of_the_window() {
    let (world, buckets) = stage();
    answered(&buckets, "a", 0, ms(700));
    world.pass(ms(699));
    assert_eq!(busy(&buckets, "a").after, Some(ms(1)));
    world.pass(ms(1));
    assert_eq!(free(&buckets, "a"), 1);
}

#[test]
fn a_window_that_is_over_is_presumed_to_begin_again() {
    let (world, buckets) = stage();
    answered(&buckets, "a", 4, ms(1000));
    for remaining in (0..4).rev() {
        answered(&buckets, "a", remaining, ms(1000));
    }
    assert_eq!(free(&buckets, "a"), 0);
    world.pass(ms(1000));
    assert_eq!(free(&buckets, "a"), 5);
}

#[test]
fn no_more_than_one_window_is_presumed() {
    let (world, buckets) = stage();
    answered(&buckets, "a", 2, ms(1000));
    world.pass(HOUR);
    let places: Vec<_> = (0..3).map(|_| sent(&buckets, "a")).collect();
    world.pass(HOUR);
    assert_eq!(busy(&buckets, "a").after, None);
    drop(places);
    assert_eq!(free(&buckets, "a"), 1, "nobody was answered, so it is one at a time");
}

#[test]
fn what_is_still_out_is_taken_off_the_next_window() {
    let (world, buckets) = stage();
    answered(&buckets, "a", 3, ms(1000));
    let slow = (sent(&buckets, "a"), sent(&buckets, "a"));
    world.pass(ms(1000));
    assert_eq!(free(&buckets, "a"), 2);
    drop(slow);
}

#[test]
fn an_answer_from_before_the_window_may_be_of_either() {
    let (world, buckets) = stage();
    answered(&buckets, "a", 4, ms(1000));
    let (one, other) = (sent(&buckets, "a"), sent(&buckets, "a"));
    world.pass(ms(1000));
    // Of the new window: three left, and the other one may be among those to come.
    one.told(3, ms(1000));
    assert_eq!(free(&buckets, "a"), 2);
    // Somebody who set out later says how it is: had the first one been counted in this window, that would be three.
    answered(&buckets, "a", 4, ms(900));
    assert_eq!(free(&buckets, "a"), 3);
    other.told(3, ms(900));
    assert_eq!(free(&buckets, "a"), 3);
}

#[test]
fn an_answer_that_may_be_of_either_is_held_for_as_long_as_its_window_lasts() {
    let (world, buckets) = stage();
    answered(&buckets, "a", 4, ms(1000));
    let slow = sent(&buckets, "a");
    world.pass(ms(1000));
    let _out = sent(&buckets, "a");
    slow.told(4, ms(70));
    assert_eq!(free(&buckets, "a"), 3, "it has one place of five, and so has the one that is out");
    world.pass(ms(69));
    assert_eq!(free(&buckets, "a"), 3);
    world.pass(ms(1));
    assert_eq!(free(&buckets, "a"), 4, "whichever window it was counted in, that one is over");
}

#[test]
fn nothing_is_known_of_one_that_was_answered_after_somebody_set_out() {
    let (world, buckets) = stage();
    answered(&buckets, "a", 4, ms(1000));
    let slow = sent(&buckets, "a");
    world.pass(ms(1000));
    let earlier = sent(&buckets, "a");
    slow.told(3, ms(1000));
    // It may have been counted before the other one was, or after.
    earlier.told(4, ms(1000));
    assert_eq!(free(&buckets, "a"), 3);
}

#[test]
fn a_late_answer_can_say_that_a_window_is_larger_than_was_presumed() {
    let (world, buckets) = stage();
    answered(&buckets, "a", 1, ms(1000));
    let slow = sent(&buckets, "a");
    world.pass(ms(1000));
    slow.told(40, HOUR);
    assert_eq!(free(&buckets, "a"), 40);
}

#[test]
fn more_left_for_one_that_set_out_later_is_a_new_window() {
    let (world, buckets) = stage();
    answered(&buckets, "a", 1, ms(1000));
    world.pass(ms(990));
    // The platform's window ended while its answer was on the way here.
    answered(&buckets, "a", 4, ms(1000));
    assert_eq!(free(&buckets, "a"), 4);
    world.pass(ms(500));
    assert_eq!(free(&buckets, "a"), 4, "the old end is no end any more");
}

#[test]
fn the_latest_end_counts() {
    let (world, buckets) = stage();
    answered(&buckets, "a", 1, ms(1000));
    world.pass(ms(500));
    answered(&buckets, "a", 0, ms(700));
    world.pass(ms(600));
    assert_eq!(busy(&buckets, "a").after, Some(ms(100)));
}

#[test]
fn capacity_follows_the_last_window() {
    let (world, buckets) = stage();
    answered(&buckets, "a", 9, ms(1000));
    world.pass(ms(1000));
    assert_eq!(free(&buckets, "a"), 10);
    answered(&buckets, "a", 1, ms(1000));
    world.pass(ms(1000));
    assert_eq!(free(&buckets, "a"), 2);
}

#[test]
fn a_place_that_was_not_used_goes_back() {
    let (_, buckets) = stage();
    answered(&buckets, "a", 1, ms(1000));
    let place = buckets.try_reserve("a", Ticket(1)).unwrap();
    assert_eq!(free(&buckets, "a"), 0);
    drop(place);
    assert_eq!(free(&buckets, "a"), 1);
}

#[test]
fn a_request_without_an_answer_may_have_been_counted() {
    let (world, buckets) = stage();
    answered(&buckets, "a", 3, ms(10_000));
    drop(sent(&buckets, "a"));
    assert_eq!(free(&buckets, "a"), 2);
    // It may be on its way still: what is said now need not include it.
    answered(&buckets, "a", 2, ms(10_000));
    assert_eq!(free(&buckets, "a"), 1);
    // By now it has been counted, or never will be.
    world.pass(ms(1_200));
    answered(&buckets, "a", 1, ms(8_000));
    assert_eq!(free(&buckets, "a"), 1);
}

#[test]
fn a_request_lost_at_the_end_of_a_window_may_be_counted_in_the_next() {
    let (world, buckets) = stage();
    answered(&buckets, "a", 3, ms(5_000));
    drop(sent(&buckets, "a"));
    world.pass(ms(4_900));
    drop(sent(&buckets, "a"));
    world.pass(ms(100));
    assert_eq!(free(&buckets, "a"), 3, "of four, one may go to the one that was lost just now");
}

#[test]
fn a_refusal_blocks_and_what_was_believed_is_forgotten() {
    let (world, buckets) = stage();
    answered(&buckets, "a", 9, ms(100));
    let slow = sent(&buckets, "a");
    drop(sent(&buckets, "a"));
    buckets.pause("a", ms(500));
    assert_eq!(busy(&buckets, "a").after, Some(ms(500)));
    assert_eq!(free(&buckets, "b"), 1);
    // It set out before the platform refused, so what it hears is older than that.
    slow.told(40, ms(100));
    world.pass(ms(500));
    assert_eq!(free(&buckets, "a"), 1);
    answered(&buckets, "a", 9, ms(100));
    assert_eq!(free(&buckets, "a"), 9 - 1, "the one that was refused may still be counted");
}

#[test]
fn a_shorter_pause_does_not_end_a_longer_one() {
    let (world, buckets) = stage();
    buckets.pause("a", ms(2_000));
    buckets.pause("a", ms(10));
    buckets.pause(EVERYTHING, ms(500));
    world.pass(ms(1_999));
    assert_eq!(busy(&buckets, "a").after, Some(ms(1)));
}

#[test]
fn a_pause_of_everything_holds_every_bucket() {
    let (world, buckets) = stage();
    answered(&buckets, "a", 4, HOUR);
    buckets.pause(EVERYTHING, ms(300));
    for bucket in ["a", "new", EVERYTHING] {
        assert_eq!(busy(&buckets, bucket).after, Some(ms(300)), "{bucket}");
    }
    world.pass(ms(300));
    assert_eq!(free(&buckets, "a"), 4, "it says nothing of this one");
    buckets.left(EVERYTHING, 3, HOUR);
    assert_eq!(free(&buckets, "a"), 4);
    buckets.left(EVERYTHING, 0, ms(50));
    assert_eq!(busy(&buckets, "a").after, Some(ms(50)));
}

#[test]
fn everything_has_no_places_of_its_own() {
    let (_, buckets) = stage();
    let places: Vec<_> = (0..10).map(|n| buckets.try_reserve(EVERYTHING, Ticket(n)).unwrap()).collect();
    assert_eq!(free(&buckets, "a"), 1);
    drop(places);
}

#[test]
fn what_is_heard_of_another_bucket_takes_and_never_gives() {
    let (world, buckets) = stage();
    buckets.left("a", 6, ms(1000));
    assert_eq!(free(&buckets, "a"), 6);
    buckets.left("a", 8, ms(5000));
    buckets.left("a", 2, ms(5000));
    assert_eq!(free(&buckets, "a"), 2);
    world.pass(ms(1000));
    assert_eq!(free(&buckets, "a"), 7, "and it does not put off the end for ever");
}
