//! Format 1 of a checkpoint: one line of JSON, then tables of little-endian 64-bit numbers.
//!
//! It is written after every call, so it has to be cheap: what is long (how far a thousand channels were seen) is
//! fixed-width numbers that only have to be copied. At most about 210 KiB, of the 256 KiB that a host takes:
//!
//! | part | at most |
//! | --- | --- |
//! | watermarks, 1,024 × 24 bytes | 24 KiB |
//! | expected guilds, 2,500 × 8 bytes | 20 KiB |
//! | channels to be fetched, 1,024 × 24 bytes | 24 KiB |
//! | outstanding marks, 1,024 ranges | 14 KiB |
//! | held dispatches, 64 KiB with every byte escaped | 128 KiB |

use jackfield_sdk::Blob;

use super::backfill::Gap;
use super::state::State;
use super::watermarks::Mark;

/// Guilds of one session that are told apart: what Discord allows a shard.
pub(super) const GUILDS_MAX: usize = 2_500;

/// Written before each table. Anything above is no checkpoint of ours.
const ROWS_MAX: usize = 8_192;

/// Why a checkpoint can't be read.
pub(super) type Unreadable = String;

pub(super) fn encode(state: &State) -> Blob {
    let mut bytes = serde_json::to_vec(state).unwrap_or_default();
    bytes.push(b'\n');
    table(&mut bytes, &state.watermarks.table, |mark| [mark.channel, mark.guild, mark.seen]);
    let expected: Vec<u64> = state.expected.iter().copied().take(GUILDS_MAX).collect();
    table(&mut bytes, &expected, |guild| [*guild]);
    let queue: Vec<Gap> = state.backfill.queue.iter().copied().collect();
    table(&mut bytes, &queue, |gap| [gap.channel, gap.guild, gap.after]);
    Blob::Binary(bytes)
}

pub(super) fn decode(blob: &Blob) -> Result<State, Unreadable> {
    let bytes = blob.as_bytes();
    let end = bytes.iter().position(|byte| *byte == b'\n').ok_or("no header")?;
    let (header, mut rest) = bytes.split_at(end + 1);
    let mut state: State = serde_json::from_slice(header).map_err(|wrong| format!("header: {wrong}"))?;
    state.watermarks.table = rows(&mut rest, |[channel, guild, seen]| Mark { channel, guild, seen })?;
    state.expected = rows(&mut rest, |[guild]| guild)?.into_iter().collect();
    state.backfill.queue = rows(&mut rest, |[channel, guild, after]| Gap { channel, guild, after })?.into();
    if rest.is_empty() { Ok(state) } else { Err(format!("{} bytes too many", rest.len())) }
}

fn table<T, const N: usize>(bytes: &mut Vec<u8>, rows: &[T], numbers: impl Fn(&T) -> [u64; N]) {
    bytes.reserve(8 + rows.len() * N * 8);
    bytes.extend((rows.len() as u64).to_le_bytes());
    for row in rows {
        for number in numbers(row) {
            bytes.extend(number.to_le_bytes());
        }
    }
}

fn rows<T, const N: usize>(bytes: &mut &[u8], row: impl Fn([u64; N]) -> T) -> Result<Vec<T>, Unreadable> {
    let count = usize::try_from(number(bytes)?).unwrap_or(usize::MAX);
    if count > ROWS_MAX {
        return Err(format!("a table of {count} rows"));
    }
    let mut all = Vec::with_capacity(count);
    for _ in 0..count {
        let mut numbers = [0; N];
        for slot in &mut numbers {
            *slot = number(bytes)?;
        }
        all.push(row(numbers));
    }
    Ok(all)
}

fn number(bytes: &mut &[u8]) -> Result<u64, Unreadable> {
    let (first, rest) = bytes.split_first_chunk::<8>().ok_or("cut off")?;
    *bytes = rest;
    Ok(u64::from_le_bytes(*first))
}
