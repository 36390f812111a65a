//! Where a session goes on from.

use jackfield_model::{Blob, Clock as _, Epoch, Generation, Token};

use crate::checkpoint::Checkpoint;
use crate::commit::Ground;
use crate::conformance::sample::{batch_of, connection};
use crate::conformance::{Backend, Bed, End};

fn checkpoint<B: Backend>(bed: &Bed<B>, bytes: Blob) -> Checkpoint {
    Checkpoint { bytes, format: 2, generation: Generation(5), stored_at: bed.clock.now() }
}

/// Stored only on the newest ground: right fence, and nothing committed since it was taken.
pub async fn under_the_fence<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let id = connection();
    let mut ground = bed.term(&id).await;
    bed.commit(batch_of(&id, &["a"]), &mut ground).await;
    let good = checkpoint(&bed, Blob::from("good"));
    assert!(bed.checkpoints.store(&id, good.clone(), ground).await.unwrap());
    let with = |count, epoch: u64, token: u128| Ground {
        fence: jackfield_model::Fence { epoch: Epoch(epoch), token: Token(token) },
        count,
    };
    let (epoch, token) = (ground.fence.epoch.0, ground.fence.token.0);
    for (case, stale) in [
        ("an earlier count", with(0, epoch, token)),
        ("a count to come", with(2, epoch, token)),
        ("an earlier epoch", with(1, epoch - 1, token)),
        ("another token", with(1, epoch, token + 1)),
    ] {
        let stored = bed.checkpoints.store(&id, checkpoint(&bed, Blob::from(case)), stale).await.unwrap();
        assert!(!stored, "{case}");
        assert_eq!(bed.checkpoints.load(&id).await.unwrap(), Some(good.clone()), "{case}");
    }
    let never = "never-granted".parse().unwrap();
    assert!(!bed.checkpoints.store(&never, good.clone(), ground).await.unwrap());
    let next = bed.term(&id).await;
    assert!(!bed.checkpoints.store(&id, checkpoint(&bed, Blob::from("old term")), ground).await.unwrap());
    assert_eq!(bed.checkpoints.load(&id).await.unwrap(), Some(good), "the next term goes on from here");
    assert!(bed.checkpoints.store(&id, checkpoint(&bed, Blob::from("new term")), next).await.unwrap());
}

/// The newest is there after the process ended, as the same text or bytes.
pub async fn survives<B: Backend>() {
    let mut bed = Bed::<B>::fresh().await;
    let id = connection();
    assert_eq!(bed.checkpoints.load(&id).await.unwrap(), None);
    let ground = bed.term(&id).await;
    let binary = Blob::Binary(vec![0xff, 0, 1].into());
    for (bytes, end) in [(Blob::from("text"), End::Clean), (binary, End::Killed), (Blob::from(""), End::Killed)] {
        let sent = checkpoint(&bed, bytes);
        assert!(bed.checkpoints.store(&id, sent.clone(), ground).await.unwrap());
        bed = bed.reopen(end).await;
        assert_eq!(bed.checkpoints.load(&id).await.unwrap(), Some(sent), "{end:?}");
    }
}
