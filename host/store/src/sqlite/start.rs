//! Start budgets: one row a start, counted while it is inside the window.
//!
//! The window goes by wall time, since it has to outlive the process, so clock steps matter. A start that seems to lie ahead
//! (the clock was set back) is taken to have happened now: it counts for one whole window more, never for less, and a
//! clock that was years ahead once does not block a credential for years. A step forward ends windows early; nothing on this
//! machine can tell it from time that passed.

use std::time::Duration;

use async_trait::async_trait;
use jackfield_model::Timestamp;
use jackfield_model::session::{Spend, StartBudget};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::error::Result;
use crate::sqlite::Sqlite;
use crate::sqlite::column::{int, number, time};
use crate::sqlite::job::Pass;
use crate::start::{Left, Starts};

#[async_trait]
impl Starts for Sqlite {
    async fn spend(&self, key: &str, budget: StartBudget) -> Result<Spend> {
        let key = key.to_owned();
        self.writer.ride(move |pass| spend(pass, &key, budget)).await
    }

    async fn platform_left(&self, key: &str, remaining: u32, resets_in: Duration) -> Result<()> {
        let key = key.to_owned();
        self.writer.ride(move |pass| platform_left(pass, &key, remaining, resets_in)).await
    }

    async fn left(&self, key: &str, budget: StartBudget) -> Result<Left> {
        let (key, now) = (key.to_owned(), self.clock.now());
        self.readers.read(move |db| left(db, &key, budget, now)).await
    }
}

fn spend(pass: &mut Pass<'_>, key: &str, budget: StartBudget) -> rusqlite::Result<Spend> {
    let (db, now) = (pass.db, pass.now);
    let from = now.before(budget.window);
    db.prepare_cached("UPDATE start SET at = ?2 WHERE key = ?1 AND at > ?2")?.execute(params![key, int(now.0)])?;
    db.prepare_cached("DELETE FROM start WHERE key = ?1 AND at <= ?2")?.execute(params![key, int(from.0)])?;
    let ours = budget_allows(db, key, budget, now)?;
    let theirs = platform(db, key, now)?;
    if let Some(left) = theirs {
        // As it is read now: after a step back it must not be ahead again the next time.
        write_platform(db, key, left)?;
    }
    let used_up = theirs.filter(|left| left.remaining == 0).map(|left| left.resets_at);
    if let Some(until) = ours.into_iter().chain(used_up).max() {
        return Ok(Spend::Refused { until });
    }
    db.prepare_cached("INSERT INTO start (key, at) VALUES (?1, ?2)")?.execute(params![key, int(now.0)])?;
    if let Some(left) = theirs {
        write_platform(db, key, Platform { remaining: left.remaining - 1, ..left })?;
    }
    Ok(Spend::Spent)
}

/// `None` when the budget has room; else when the start leaves the window that makes room for the next.
fn budget_allows(
    db: &Connection,
    key: &str,
    budget: StartBudget,
    now: Timestamp,
) -> rusqlite::Result<Option<Timestamp>> {
    let Some(before_last) = budget.starts.checked_sub(1) else { return Ok(Some(now.after(budget.window))) };
    // The oldest of the newest `starts`: while it is inside the window there is no room.
    let blocking = db
        .prepare_cached("SELECT at FROM start WHERE key = ?1 ORDER BY at DESC LIMIT 1 OFFSET ?2")?
        .query_row(params![key, before_last], |row| time(row, 0))
        .optional()?;
    Ok(blocking.map(|at| at.after(budget.window)))
}

fn platform_left(pass: &mut Pass<'_>, key: &str, remaining: u32, resets_in: Duration) -> rusqlite::Result<()> {
    write_platform(pass.db, key, Platform { remaining, resets_at: pass.now.after(resets_in), resets_in })
}

fn left(db: &Connection, key: &str, budget: StartBudget, now: Timestamp) -> rusqlite::Result<Left> {
    let from = now.before(budget.window);
    let spent = db
        .prepare_cached("SELECT count(*) FROM start WHERE key = ?1 AND at > ?2")?
        .query_row(params![key, int(from.0)], |row| row.get(0))?;
    let platform = platform(db, key, now)?;
    Ok(Left {
        spent,
        platform_remaining: platform.map(|left| left.remaining),
        platform_resets_at: platform.map(|left| left.resets_at),
    })
}

/// What a platform said, where that still holds.
#[derive(Clone, Copy)]
struct Platform {
    remaining: u32,
    resets_at: Timestamp,
    resets_in: Duration,
}

fn platform(db: &Connection, key: &str, now: Timestamp) -> rusqlite::Result<Option<Platform>> {
    let found = db
        .prepare_cached("SELECT remaining, resets_at, resets_in FROM start_left WHERE key = ?1")?
        .query_row([key], |row| {
            let resets_in = Duration::from_millis(number(row, 2)?);
            // Further ahead than it was when it was said: the clock was set back.
            let resets_at = time(row, 1)?.min(now.after(resets_in));
            Ok(Platform { remaining: row.get(0)?, resets_at, resets_in })
        })
        .optional()?;
    Ok(found.filter(|left| left.resets_at > now))
}

fn write_platform(db: &Connection, key: &str, left: Platform) -> rusqlite::Result<()> {
    let resets_in = u64::try_from(left.resets_in.as_millis()).unwrap_or(u64::MAX);
    db.prepare_cached(
        "INSERT INTO start_left (key, remaining, resets_at, resets_in) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (key) DO UPDATE SET
           remaining = excluded.remaining, resets_at = excluded.resets_at, resets_in = excluded.resets_in",
    )?
    .execute(params![key, left.remaining, int(left.resets_at.0), int(resets_in)])
    .map(|_| ())
}
