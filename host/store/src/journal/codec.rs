//! The bytes of the journal's records. Numbers are big-endian, so that the order of keys is the order of revisions.

use std::sync::Arc;

use bytes::Bytes;

use super::JournalError;
use crate::{Entry, Event};

/// A keyspace's counters.
#[derive(Debug, PartialEq)]
pub(super) struct Keyspace {
    pub(super) id: u32,
    pub(super) revision: u64,
    pub(super) compacted: u64,
}

/// One version in an event.
#[derive(Debug, PartialEq)]
pub(super) struct Version<'a> {
    pub(super) revision: u64,
    pub(super) create_revision: u64,
    pub(super) bytes: &'a [u8],
}

/// An event as it is stored: what it found, not what it wrote, which is the next event's find or still there. The last bytes of a
/// deletion are stored only where they differ from the previous ones.
#[derive(Debug, PartialEq)]
pub(super) struct EventRecord<'a> {
    pub(super) key: &'a str,
    pub(super) previous: Option<Version<'a>>,
    pub(super) put: bool,
    pub(super) last: Option<&'a [u8]>,
}

const HAS_PREVIOUS: u8 = 1;
const IS_PUT: u8 = 2;
const HAS_LAST: u8 = 4;

/// Key of an object: the keyspace's number, then the key.
pub(super) fn object_key(id: u32, key: &str) -> Vec<u8> {
    [&id.to_be_bytes(), key.as_bytes()].concat()
}

/// Key of an event: the keyspace's number, then the revision.
pub(super) fn event_key(id: u32, revision: u64) -> Vec<u8> {
    [id.to_be_bytes().as_slice(), &revision.to_be_bytes()].concat()
}

/// The object's key in a key of the table.
pub(super) fn name_of(key: &[u8]) -> Result<&str, JournalError> {
    let mut reader = Reader { table: "objects", rest: key };
    reader.u32()?;
    reader.text(reader.rest)
}

/// The revision in a key of the table.
pub(super) fn revision_of(key: &[u8]) -> Result<u64, JournalError> {
    let mut reader = Reader { table: "events", rest: key };
    reader.u32()?;
    reader.u64()
}

pub(super) fn put_keyspace(out: &mut Vec<u8>, record: &Keyspace) {
    out.clear();
    out.extend(record.id.to_be_bytes());
    out.extend(record.revision.to_be_bytes());
    out.extend(record.compacted.to_be_bytes());
}

pub(super) fn keyspace(record: &[u8]) -> Result<Keyspace, JournalError> {
    let mut reader = Reader { table: "keyspaces", rest: record };
    Ok(Keyspace { id: reader.u32()?, revision: reader.u64()?, compacted: reader.u64()? })
}

pub(super) fn put_object(out: &mut Vec<u8>, entry: &Entry) {
    out.clear();
    out.extend(entry.revision().to_be_bytes());
    out.extend(entry.create_revision().to_be_bytes());
    out.extend_from_slice(entry.bytes());
}

pub(super) fn object(record: &[u8]) -> Result<Entry, JournalError> {
    let mut reader = Reader { table: "objects", rest: record };
    Ok(Entry::new(reader.u64()?, reader.u64()?, Bytes::copy_from_slice(reader.rest)))
}

pub(super) fn put_event(out: &mut Vec<u8>, event: &Event) {
    out.clear();
    let last = match (&event.last, &event.previous) {
        (Some(last), Some(previous)) if last.bytes() != previous.bytes() => Some(last),
        _ => None,
    };
    let flag = |set: bool, flag: u8| if set { flag } else { 0 };
    out.push(
        flag(event.previous.is_some(), HAS_PREVIOUS)
            | flag(event.new.is_some(), IS_PUT)
            | flag(last.is_some(), HAS_LAST),
    );
    put_bytes(out, event.key.as_bytes());
    if let Some(entry) = &event.previous {
        out.extend(entry.revision().to_be_bytes());
        out.extend(entry.create_revision().to_be_bytes());
        put_bytes(out, entry.bytes());
    }
    if let Some(last) = last {
        put_bytes(out, last.bytes());
    }
}

pub(super) fn event(record: &[u8]) -> Result<EventRecord<'_>, JournalError> {
    let mut reader = Reader { table: "events", rest: record };
    let flags = reader.u8()?;
    let key = reader.bytes()?;
    let key = reader.text(key)?;
    let previous = if flags & HAS_PREVIOUS != 0 { Some(reader.version()?) } else { None };
    let last = if flags & HAS_LAST != 0 { Some(reader.bytes()?) } else { None };
    Ok(EventRecord { key, previous, put: flags & IS_PUT != 0, last })
}

/// What a batch did to one keyspace, as the log has it.
#[derive(Debug, PartialEq)]
pub(super) struct ChangesRecord<'a> {
    pub(super) name: &'a str,
    pub(super) counters: Keyspace,
    pub(super) events: Vec<ChangeRecord<'a>>,
}

/// An event as the log has it: what it wrote, not what it found.
#[derive(Debug, PartialEq)]
pub(super) struct ChangeRecord<'a> {
    pub(super) key: &'a str,
    revision: u64,
    flags: u8,
    bytes: &'a [u8],
}

/// Appends what a batch did to one keyspace.
pub(super) fn put_changes(out: &mut Vec<u8>, name: &str, counters: &Keyspace, events: &[Arc<Event>]) {
    put_bytes(out, name.as_bytes());
    out.extend(counters.id.to_be_bytes());
    out.extend(counters.revision.to_be_bytes());
    out.extend(counters.compacted.to_be_bytes());
    out.extend((events.len() as u32).to_be_bytes());
    for event in events {
        let (flags, bytes) = match (&event.new, &event.last) {
            (Some(entry), _) => (IS_PUT, entry.bytes().as_ref()),
            (None, Some(last)) => (HAS_LAST, last.bytes().as_ref()),
            (None, None) => (0, [].as_slice()),
        };
        out.extend(event.revision.to_be_bytes());
        out.push(flags);
        put_bytes(out, event.key.as_bytes());
        put_bytes(out, bytes);
    }
}

/// Everything that [`put_changes`] appended.
pub(super) fn changes(record: &[u8]) -> Result<Vec<ChangesRecord<'_>>, JournalError> {
    let mut reader = Reader { table: "log", rest: record };
    let mut all = Vec::new();
    while !reader.rest.is_empty() {
        let name = reader.bytes()?;
        let name = reader.text(name)?;
        let counters = Keyspace { id: reader.u32()?, revision: reader.u64()?, compacted: reader.u64()? };
        let mut events = Vec::new();
        for _ in 0..reader.u32()? {
            let (revision, flags, key) = (reader.u64()?, reader.u8()?, reader.bytes()?);
            let key = reader.text(key)?;
            events.push(ChangeRecord { key, revision, flags, bytes: reader.bytes()? });
        }
        all.push(ChangesRecord { name, counters, events });
    }
    Ok(all)
}

impl ChangeRecord<'_> {
    /// The event, given what it found.
    pub(super) fn event(&self, key: Arc<str>, previous: Option<Entry>) -> Result<Event, JournalError> {
        let bytes = Bytes::copy_from_slice(self.bytes);
        let created = previous.as_ref().map_or(self.revision, Entry::create_revision);
        let entry = Entry::new(self.revision, created, bytes);
        match previous {
            previous if self.flags & IS_PUT != 0 => Ok(Event::put(self.revision, key, previous, entry)),
            Some(previous) => Ok(Event::delete(self.revision, key, previous, entry)),
            None => Err(JournalError::Corrupt { table: "log", reason: "a deletion lacks what it deleted" }),
        }
    }
}

/// A length, then so many bytes. Requests are limited to megabytes, so the length fits.
fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend((bytes.len() as u32).to_be_bytes());
    out.extend_from_slice(bytes);
}

struct Reader<'a> {
    table: &'static str,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn corrupt(&self, reason: &'static str) -> JournalError {
        JournalError::Corrupt { table: self.table, reason }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], JournalError> {
        let (head, rest) =
            self.rest.split_first_chunk::<N>().ok_or_else(|| self.corrupt("it is too short"))?;
        self.rest = rest;
        Ok(*head)
    }

    fn u8(&mut self) -> Result<u8, JournalError> {
        Ok(u8::from_be_bytes(self.array()?))
    }

    fn u32(&mut self) -> Result<u32, JournalError> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64, JournalError> {
        Ok(u64::from_be_bytes(self.array()?))
    }

    fn bytes(&mut self) -> Result<&'a [u8], JournalError> {
        let length = self.u32()? as usize;
        let (head, rest) =
            self.rest.split_at_checked(length).ok_or_else(|| self.corrupt("a length exceeds it"))?;
        self.rest = rest;
        Ok(head)
    }

    fn version(&mut self) -> Result<Version<'a>, JournalError> {
        Ok(Version { revision: self.u64()?, create_revision: self.u64()?, bytes: self.bytes()? })
    }

    fn text(&self, bytes: &'a [u8]) -> Result<&'a str, JournalError> {
        std::str::from_utf8(bytes).map_err(|_| self.corrupt("its key is not UTF-8"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_round_trip() {
        let mut out = Vec::new();
        let record = Keyspace { id: 7, revision: 9, compacted: 8 };
        put_keyspace(&mut out, &record);
        assert_eq!(keyspace(&out).unwrap(), record);

        let (old, new) =
            (Entry::new(3, 2, Bytes::from_static(b"old")), Entry::new(5, 2, Bytes::from_static(b"new")));
        put_object(&mut out, &new);
        assert_eq!(object(&out).unwrap(), new);

        put_event(&mut out, &Event::put(5, "/k".into(), Some(old.clone()), new.clone()));
        let read = event(&out).unwrap();
        assert_eq!((read.key, read.put, read.last), ("/k", true, None));
        assert_eq!(read.previous, Some(Version { revision: 3, create_revision: 2, bytes: b"old" }));

        put_event(&mut out, &Event::delete(6, "/k".into(), old.clone(), new));
        assert_eq!(event(&out).unwrap().last, Some(b"new".as_slice()));
        put_event(&mut out, &Event::delete(6, "/k".into(), old.clone(), old));
        assert_eq!(event(&out).unwrap().last, None);
        assert!(event(out.get(..9).unwrap()).is_err() && keyspace(&[1, 2]).is_err());
    }

    #[test]
    fn changes_round_trip() {
        let old = Entry::new(3, 2, Bytes::from_static(b"old"));
        let new = Entry::new(5, 2, Bytes::from_static(b"new"));
        let last = Entry::new(6, 2, Bytes::from_static(b"last"));
        let events = [
            Arc::new(Event::put(5, "/k".into(), Some(old.clone()), new.clone())),
            Arc::new(Event::delete(6, "/k".into(), new.clone(), last.clone())),
        ];
        let mut out = Vec::new();
        let counters = |id| Keyspace { id, revision: 6, compacted: 1 };
        put_changes(&mut out, "control", &counters(1), &events);
        put_changes(&mut out, "member", &counters(2), &[]);
        let read = changes(&out).unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!((read[0].name, &read[0].counters), ("control", &counters(1)));
        assert_eq!((read[1].name, &read[1].counters, read[1].events.len()), ("member", &counters(2), 0));
        let put = read[0].events[0].event("/k".into(), Some(old)).unwrap();
        assert_eq!(put.new, Some(new.clone()));
        let delete = read[0].events[1].event("/k".into(), Some(new)).unwrap();
        assert_eq!((delete.new, delete.last), (None, Some(last)));
        assert!(read[0].events[1].event("/k".into(), None).is_err());
        assert!(changes(out.get(..30).unwrap()).is_err());
    }

    #[test]
    fn keys_sort_by_revision() {
        assert!(event_key(1, 255) < event_key(1, 256) && event_key(1, u64::MAX) < event_key(2, 0));
        assert_eq!(name_of(&object_key(3, "/a/b")).unwrap(), "/a/b");
        assert_eq!(revision_of(&event_key(3, 77)).unwrap(), 77);
    }
}
