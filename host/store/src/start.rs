//! The start budget: how often the platform lets a session start. Durable, so that a crash loop can't spend a token's life.

use std::time::Duration;

use async_trait::async_trait;
use jackfield_model::Timestamp;
use jackfield_model::session::{Spend, StartBudget};
use serde::Serialize;

use crate::error::Result;

/// What is left, for status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Left {
    /// Starts spent inside the window.
    pub spent: u32,
    /// What the platform said is left, where it said so and that still holds.
    pub platform_remaining: Option<u32>,
    /// When the platform's own count begins anew.
    pub platform_resets_at: Option<Timestamp>,
}

/// Start budgets, by a key that names the credential.
#[async_trait]
pub trait Starts: Send + Sync {
    /// Counts one start, durably, before it answers; or refuses. The smaller of budget and platform's word wins.
    async fn spend(&self, key: &str, budget: StartBudget) -> Result<Spend>;
    /// What the platform says is left. Each later spend counts it down until it resets.
    async fn platform_left(&self, key: &str, remaining: u32, resets_in: Duration) -> Result<()>;
    /// What is left.
    async fn left(&self, key: &str, budget: StartBudget) -> Result<Left>;
}
