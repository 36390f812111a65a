//! A store that a test holds up and breaks: the real one, with a hand on its answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use async_trait::async_trait;
use jackfield_model::ConnectionId;
use jackfield_store::checkpoint::Checkpoint;
use jackfield_store::commit::{Batch, Commit, Ground};
use jackfield_store::sqlite::Sqlite;
use jackfield_store::{Checkpoints, Commits, StoreError, Stores};
use tokio::sync::watch;

/// How a commit is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// As the store answers.
    Honest,
    /// It is written, and the answer waits until this changes.
    Held,
    /// The term is over. What is not held is not written.
    Fenced,
    /// The store can't be trusted any more. What is not held is not written.
    Broken,
}

/// A store under a test's hand.
pub struct Faulty {
    store: Arc<Sqlite>,
    answer: watch::Sender<Answer>,
    held: AtomicU64,
    no_checkpoints: AtomicBool,
}

impl Faulty {
    /// Honest so far.
    #[must_use]
    pub fn new(store: Arc<Sqlite>) -> Arc<Self> {
        let (answer, _) = watch::channel(Answer::Honest);
        Arc::new(Self { store, answer, held: AtomicU64::new(0), no_checkpoints: AtomicBool::new(false) })
    }

    /// All stores: commits and checkpoints go through this one.
    #[must_use]
    pub fn stores(self: &Arc<Self>) -> Stores {
        Stores { commits: self.clone(), checkpoints: self.clone(), ..Stores::of(self.store.clone()) }
    }

    /// From now on, and for what is held.
    pub fn answer(&self, how: Answer) {
        self.answer.send_replace(how);
    }

    /// Commits whose answer was held so far.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.held.load(Ordering::SeqCst)
    }

    /// Checkpoints can't be stored for now, or can again.
    pub fn refuse_checkpoints(&self, refuse: bool) {
        self.no_checkpoints.store(refuse, Ordering::SeqCst);
    }
}

#[async_trait]
impl Commits for Faulty {
    async fn commit(&self, batch: Batch, ground: Option<Ground>) -> Result<Commit, StoreError> {
        let mut answer = self.answer.subscribe();
        let asked = *answer.borrow_and_update();
        let written = match asked {
            Answer::Honest | Answer::Held => self.store.commit(batch, ground).await,
            Answer::Fenced | Answer::Broken => Err(StoreError::Unavailable("not asked".to_owned())),
        };
        if asked == Answer::Held {
            self.held.fetch_add(1, Ordering::SeqCst);
        }
        let decided = answer.wait_for(|answer| *answer != Answer::Held).await;
        match *decided.expect("the sender is in this store") {
            Answer::Honest | Answer::Held => written,
            Answer::Fenced => Ok(Commit::Fenced),
            Answer::Broken => Err(StoreError::Broken("a test says so".to_owned())),
        }
    }
}

#[async_trait]
impl Checkpoints for Faulty {
    async fn store(
        &self,
        connection: &ConnectionId,
        checkpoint: Checkpoint,
        ground: Ground,
    ) -> Result<bool, StoreError> {
        if self.no_checkpoints.load(Ordering::SeqCst) {
            return Err(StoreError::Unavailable("a test says so".to_owned()));
        }
        Checkpoints::store(&*self.store, connection, checkpoint, ground).await
    }

    async fn load(&self, connection: &ConnectionId) -> Result<Option<Checkpoint>, StoreError> {
        Checkpoints::load(&*self.store, connection).await
    }
}
