//! What waits.

use std::sync::Arc;

use jackfield_model::{Blob, ConnectionId, Dispatch};

use crate::commit::Outcome;
use crate::conformance::bed::done;
use crate::conformance::sample::{batch, connection, ended, reception, row};
use crate::conformance::{Backend, Bed, End};
use crate::inbox::{Depth, Row, RowId};

async fn park<B: Backend>(bed: &Bed<B>, id: &ConnectionId, rows: Vec<Row>) -> Vec<RowId> {
    let mut parking = batch(id, Vec::new());
    parking.parked = rows;
    done(bed.try_commit(parking, None).await).rows
}

async fn end<B: Backend>(bed: &Bed<B>, id: &ConnectionId, row: RowId) {
    let ended = crate::commit::Settled { row: Some(row), ..ended("lane", "", Outcome::Ignored) };
    done(bed.try_commit(batch(id, vec![ended]), None).await);
}

/// Oldest first, page by page, as they were.
pub async fn order<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let id = connection();
    let odd = Dispatch { payload: Blob::Binary(vec![0, 0xff].into()), ..(*row("b", "").dispatch).clone() };
    let odd = Row { dispatch: Arc::new(odd), attempts: 2, late: true, ..row("b", "") };
    let rows = vec![row("a", "1"), odd, row("a", "2"), row("b", "3")];
    let mut ids = park(&bed, &id, rows[..3].to_vec()).await;
    ids.extend(park(&bed, &id, rows[3..].to_vec()).await);
    assert!(ids.is_sorted_by(|one, next| one < next));
    let bed = bed.reopen(End::Killed).await;
    let wanted: Vec<(RowId, Row)> = ids.iter().copied().zip(rows).collect();
    assert_eq!(bed.inbox.waiting(&id, RowId(0), 10).await.unwrap(), wanted);
    assert_eq!(bed.inbox.waiting(&id, ids[0], 2).await.unwrap(), wanted[1..3]);
    assert_eq!(bed.inbox.waiting(&id, ids[3], 2).await.unwrap(), []);
    end(&bed, &id, ids[1]).await;
    let left: Vec<RowId> = bed.inbox.waiting(&id, RowId(0), 10).await.unwrap().into_iter().map(|(id, _)| id).collect();
    assert_eq!(left, [ids[0], ids[2], ids[3]]);
}

/// A crash does not give a dispatch its tries back.
pub async fn attempts<B: Backend>() {
    let mut bed = Bed::<B>::fresh().await;
    let id = connection();
    let ids = park(&bed, &id, vec![row("a", "1"), row("a", "2")]).await;
    for count in [1, 2, 300] {
        let mut counting = batch(&id, Vec::new());
        counting.attempts = vec![(ids[0], count), (RowId(ids[1].0 + 100), 5)];
        done(bed.try_commit(counting, None).await);
        bed = bed.reopen(End::Killed).await;
        let rows = bed.inbox.waiting(&id, RowId(0), 10).await.unwrap();
        assert_eq!(rows.iter().map(|(_, row)| row.attempts).collect::<Vec<_>>(), [count, 0]);
    }
}

/// How much waits, of one connection.
pub async fn depth<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let id = connection();
    assert_eq!(bed.inbox.depth(&id).await.unwrap(), Depth::default());
    let mut newer = row("a", "four");
    newer.reception.at = jackfield_model::Timestamp(reception().at.0 + 5);
    let bytes = (row("a", "1").dispatch.weight() + newer.dispatch.weight()) as u64;
    let ids = park(&bed, &id, vec![newer.clone(), row("a", "1")]).await;
    park(&bed, &"other".parse().unwrap(), vec![row("a", "12345")]).await;
    assert_eq!(bed.inbox.depth(&id).await.unwrap(), Depth { rows: 2, bytes, oldest: Some(reception().at) });
    end(&bed, &id, ids[1]).await;
    let bytes = newer.dispatch.weight() as u64;
    assert_eq!(bed.inbox.depth(&id).await.unwrap(), Depth { rows: 1, bytes, oldest: Some(newer.reception.at) });
}

/// A number that came back would end somebody else's dispatch.
pub async fn numbers_are_never_reused<B: Backend>() {
    let mut bed = Bed::<B>::fresh().await;
    let id = connection();
    let mut newest = RowId(0);
    for how in [End::Killed, End::Clean, End::Killed] {
        let ids = park(&bed, &id, vec![row("a", "1"), row("a", "2")]).await;
        assert!(ids[0] > newest);
        newest = ids[1];
        for row in ids {
            end(&bed, &id, row).await;
        }
        bed = bed.reopen(how).await;
    }
}

/// A batch touches rows of its own connection only.
pub async fn belongs_to_its_connection<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let (id, other): (ConnectionId, ConnectionId) = (connection(), "other".parse().unwrap());
    let ids = park(&bed, &id, vec![row("a", "1")]).await;
    end(&bed, &other, ids[0]).await;
    let mut counting = batch(&other, Vec::new());
    counting.attempts = vec![(ids[0], 9)];
    done(bed.try_commit(counting, None).await);
    assert_eq!(bed.inbox.waiting(&id, RowId(0), 10).await.unwrap(), [(ids[0], row("a", "1"))]);
    assert_eq!(bed.inbox.waiting(&other, RowId(0), 10).await.unwrap(), []);
}
