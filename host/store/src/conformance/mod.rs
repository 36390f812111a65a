//! What every backend has to show: one suite per trait, written against [`Stores`](crate::Stores) alone.
//!
//! A backend implements [`Backend`] in its tests and writes `jackfield_store::conformance!(MyBackend);`, which makes one
//! test of each case. A failed case panics and says what it saw.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a suite: what does not hold ends the test that called it"
)]

mod bed;
mod sample;

pub mod checkpoint;
pub mod commit;
pub mod contact;
pub mod contact_table;
pub mod dead_letter;
pub mod dedupe;
pub mod event;
pub mod execution;
pub mod execution_model;
pub mod generation;
pub mod history;
pub mod inbox;
pub mod lease;
pub mod lock;
pub mod parked;
pub mod retention;
pub mod start;
pub mod state;
pub mod trace;

pub use bed::{Backend, Bed, End, HandClock, Setup};
pub use sample::{
    admitted, batch, closing, connection, death, dispatch, event, execution, opening, recurring, row, settled, space,
};

/// Makes one test of every case, for one backend.
#[macro_export]
macro_rules! conformance {
    ($backend:ty) => {
        $crate::conformance!(@ $backend;
            checkpoint { under_the_fence, survives }
            commit {
                refuses_stale_grants, counts, repeats_without_events, writes_all_of_it, unbound, unbound_is_whole, shares_groups,
                ends_rows_once, keeps_raw_payloads
            }
            contact {
                conflicts_through_a_commit, normal_forms, deletion, first_messages_in_parallel,
                ids_are_text, upserts, taken_keys, spaces_are_apart
            }
            contact_table { resolution, subjects }
            dead_letter { redrive, ways_out, one_bad_among_many, repeats }
            dedupe { table, window, outlives_events, within_a_batch }
            event { pages, filters, head_follows, cursors }
            execution {
                rows, ends_once, submissions, doubt, windows, keys_are_apart, attempts, concurrent, interrupted, pages, rare
            }
            execution_model { interleavings }
            generation { numbers_grow, at_once, naming_key }
            history { replies_are_lost, interleavings }
            inbox { order, attempts, depth, numbers_are_never_reused, belongs_to_its_connection }
            lease { one_holder, renew_and_release, epochs_only_grow, lapses, concurrent }
            lock { one_owner, fences_only_grow, lapses, owner_and_fence, release, concurrent, ceiling }
            parked { until_unparked }
            retention { steps, slowest_cursor, letters, executions, execution_steps, positions_go_on }
            start { window, platform, survives, clock_steps }
            state { order_and_size, under_the_fence, unbound }
            trace { finds, ends_early, heavy }
        );
    };
    (@ $backend:ty; $($suite:ident { $($case:ident),* $(,)? })*) => {
        $(mod $suite {
            use super::*;
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    $crate::conformance::$suite::$case::<$backend>().await;
                }
            )*
        })*
    };
}
