//! The log that is written ahead: each commit is one record, appended and synced, which is all that its callers wait for.
//! The engine's trees take over many commits at a time; then the log begins anew, over its old bytes.
//!
//! A record: its length, a checksum, the database's number, and what the batch did. What follows the last record is whatever was there
//! before: torn records fail their checksum, and records of an earlier round say nothing that the trees don't know.

use std::io;

use redb::StorageBackend;

/// Bytes that stand before a record's payload.
const HEAD: usize = 16;

/// The log, open.
#[derive(Debug)]
pub(super) struct Ahead {
    storage: Box<dyn StorageBackend>,
    /// Where the next record goes.
    end: u64,
    /// How long the file is.
    length: u64,
    /// Bytes after which the trees take over.
    room: u64,
    /// Of which database this is the log: one that was left behind by another says nothing.
    database: u64,
    /// Set when an append failed: nobody knows what lies there.
    broken: bool,
}

impl Ahead {
    /// Takes an opened file of at most about `room` bytes; gives the payloads of its records as well.
    pub(super) fn open(
        storage: Box<dyn StorageBackend>,
        database: u64,
        room: usize,
    ) -> io::Result<(Self, Vec<Vec<u8>>)> {
        let length = storage.len()?;
        let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        if !bytes.is_empty() {
            storage.read(0, &mut bytes)?;
        }
        let ahead = Self { storage, end: 0, length, room: room as u64, database, broken: false };
        let mut payloads = Vec::new();
        let mut rest = bytes.as_slice();
        while let Some((payload, after)) = ahead.record(rest) {
            payloads.push(payload.to_vec());
            rest = after;
        }
        Ok((ahead, payloads))
    }

    fn record<'a>(&self, bytes: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
        let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
        let [a, b, c, d, checks @ ..] = head;
        let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
        let (payload, after) = rest.split_at_checked(length)?;
        let whole = length > 0 && *head == self.head(payload);
        debug_assert_eq!(checks.len(), HEAD - 4);
        whole.then_some((payload, after))
    }

    fn head(&self, payload: &[u8]) -> [u8; HEAD] {
        let mut head = [0; HEAD];
        let (length, number) = ((payload.len() as u32).to_be_bytes(), self.database.to_be_bytes());
        let checksum = checksum(&[&length, &number, payload]).to_be_bytes();
        for (at, byte) in head.iter_mut().zip(length.into_iter().chain(checksum).chain(number)) {
            *at = byte;
        }
        head
    }

    /// Whether a record of so many bytes would go beyond what the log should hold.
    pub(super) fn is_full_for(&self, payload: usize) -> bool {
        self.end > 0 && self.end + (HEAD + payload) as u64 > self.room
    }

    /// Appends a record and syncs it.
    pub(super) fn append(&mut self, payload: &[u8]) -> io::Result<()> {
        if self.broken {
            return Err(io::Error::other("an earlier write to the log failed; restart to recover"));
        }
        let mut record = Vec::with_capacity(HEAD + payload.len());
        record.extend_from_slice(&self.head(payload));
        record.extend_from_slice(payload);
        let end = self.end + record.len() as u64;
        self.broken = true;
        if end > self.length {
            // In one piece, so that most appends change no length, which is more to sync.
            let length = end.max(self.room);
            self.storage.set_len(length)?;
            self.length = length;
        }
        self.storage.write(self.end, &record)?;
        self.storage.sync_data()?;
        (self.end, self.broken) = (end, false);
        Ok(())
    }

    /// Begins anew: the trees have everything.
    pub(super) fn restart(&mut self) {
        self.end = 0;
    }
}

/// Tells a whole record from a torn one: each word is mixed into all bits of what came before.
fn checksum(parts: &[&[u8]]) -> u32 {
    // Odd, with its bits well spread: the golden ratio of 2^64.
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |state: u64, word: u64| (state ^ word).wrapping_mul(FACTOR).rotate_left(29);
    let mut state = FACTOR;
    for part in parts {
        let (words, rest) = part.as_chunks::<8>();
        for word in words {
            state = mix(state, u64::from_le_bytes(*word));
        }
        for byte in rest {
            state = mix(state, u64::from(*byte));
        }
        state = mix(state, part.len() as u64);
    }
    (state ^ (state >> 32)) as u32
}

impl Drop for Ahead {
    fn drop(&mut self) {
        // Nothing that matters is unsynced.
        let _ = self.storage.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_changed_byte_changes_the_checksum() {
        let whole: Vec<u8> = (0..1000u32).map(|n| (n % 7) as u8).collect();
        let sum = checksum(&[&whole]);
        for at in 0..whole.len() {
            let mut torn = whole.clone();
            torn[at] = 0xff;
            assert_ne!(checksum(&[&torn]), sum, "byte {at}");
        }
        for end in [0, 512, 999] {
            let mut torn = whole.clone();
            torn[end..].fill(0);
            assert_ne!(checksum(&[&torn]), sum, "cut at {end}");
            assert_ne!(checksum(&[&whole[..end]]), sum, "short by {end}");
        }
    }
}
