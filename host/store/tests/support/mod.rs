//! A disk in memory that can be unplugged: what was not synced may be lost, whole or in part, and operations can be made to fail.

use std::io;
use std::sync::{Arc, Mutex};

use redb::StorageBackend;
use windlass_store::{Database, Options};

/// Sector size of torn writes.
const SECTOR: usize = 512;

#[derive(Clone, Debug, Default)]
struct Disk {
    state: Arc<Mutex<State>>,
    /// Operations until everything fails.
    fuse: Arc<Mutex<Option<u32>>>,
}

/// What a database lies on: two disks that are unplugged and fail together.
#[derive(Clone, Debug)]
pub(crate) struct Disks {
    trees: Disk,
    log: Disk,
}

impl Default for Disks {
    fn default() -> Self {
        let trees = Disk::default();
        Self { log: Disk::default().beside(&trees), trees }
    }
}

impl Disks {
    /// The database on them.
    pub(crate) fn open(&self, options: Options) -> Database {
        Database::with_backends(self.trees.clone(), self.log.clone(), options).unwrap()
    }

    /// See [`Disk::unplug`].
    pub(crate) fn unplug(&self, choice: u64) -> Disks {
        let trees = self.trees.unplug(choice);
        Self { log: self.log.unplug(choice.rotate_left(17)).beside(&trees), trees }
    }

    /// Makes everything fail after so many writes, resizes and syncs.
    pub(crate) fn fail_after(&self, operations: u32) {
        *self.trees.fuse.lock().unwrap() = Some(operations);
    }

    /// How often they were synced.
    pub(crate) fn syncs(&self) -> u32 {
        self.trees.syncs() + self.log.syncs()
    }
}

#[derive(Debug, Default)]
struct State {
    now: Vec<u8>,
    synced: Vec<u8>,
    pending: Vec<Pending>,
    syncs: u32,
}

#[derive(Clone, Debug)]
enum Pending {
    Write(usize, Vec<u8>),
    Length(usize),
}

impl Disk {
    /// The disk after a power cut: `choice` decides, write by write, what of the unsynced part arrived.
    fn unplug(&self, mut choice: u64) -> Disk {
        let state = self.state.lock().unwrap();
        let mut image = state.synced.clone();
        for pending in &state.pending {
            choice = choice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let dice = (choice >> 33) % 4;
            match pending {
                Pending::Length(length) if dice > 0 => image.resize(*length, 0),
                Pending::Length(_) => {}
                Pending::Write(offset, data) => {
                    let kept = match dice {
                        0 => 0,
                        1 => (data.len() / 2 / SECTOR * SECTOR).max(SECTOR).min(data.len()),
                        _ => data.len(),
                    };
                    if kept > 0 {
                        let end = offset + kept;
                        if image.len() < end {
                            image.resize(end, 0);
                        }
                        image[*offset..end].copy_from_slice(&data[..kept]);
                    }
                }
            }
        }
        let state = State { now: image.clone(), synced: image, ..State::default() };
        Disk { state: Arc::new(Mutex::new(state)), fuse: Arc::default() }
    }

    /// The same disk, which fails together with another.
    fn beside(self, other: &Disk) -> Disk {
        Disk { fuse: other.fuse.clone(), ..self }
    }

    /// How often it was synced.
    fn syncs(&self) -> u32 {
        self.state.lock().unwrap().syncs
    }
}

impl Disk {
    fn burn(&self) -> io::Result<()> {
        match &mut *self.fuse.lock().unwrap() {
            None => Ok(()),
            Some(0) => Err(io::Error::other("unplugged")),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
        }
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.state.lock().unwrap().now.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let state = self.state.lock().unwrap();
        let offset = offset as usize;
        let data = state
            .now
            .get(offset..offset + out.len())
            .ok_or_else(|| io::Error::other("read beyond the end"))?;
        out.copy_from_slice(data);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.burn()?;
        let mut state = self.state.lock().unwrap();
        state.now.resize(len as usize, 0);
        state.pending.push(Pending::Length(len as usize));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.burn()?;
        let mut state = self.state.lock().unwrap();
        let State { now, synced, pending, .. } = &mut *state;
        for done in pending.drain(..) {
            match done {
                Pending::Length(length) => synced.resize(length, 0),
                Pending::Write(offset, data) => synced[offset..offset + data.len()].copy_from_slice(&data),
            }
        }
        debug_assert_eq!(now.len(), synced.len());
        state.syncs += 1;
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.burn()?;
        let mut state = self.state.lock().unwrap();
        let offset = offset as usize;
        state.now[offset..offset + data.len()].copy_from_slice(data);
        state.pending.push(Pending::Write(offset, data.to_vec()));
        Ok(())
    }
}
