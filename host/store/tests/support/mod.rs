//! A disk in memory that can be unplugged: what was not synced may be lost, whole or in part, and operations can be made to fail.

use std::io;
use std::sync::{Arc, Mutex};

use redb::StorageBackend;

/// Sector size of torn writes.
const SECTOR: usize = 512;

#[derive(Clone, Debug, Default)]
pub(crate) struct Disk(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    now: Vec<u8>,
    synced: Vec<u8>,
    pending: Vec<Pending>,
    /// Operations until everything fails.
    fuse: Option<u32>,
    syncs: u32,
}

#[derive(Clone, Debug)]
enum Pending {
    Write(usize, Vec<u8>),
    Length(usize),
}

impl Disk {
    /// The disk after a power cut: `choice` decides, write by write, what of the unsynced part arrived.
    pub(crate) fn unplug(&self, mut choice: u64) -> Disk {
        let state = self.0.lock().unwrap();
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
        Disk(Arc::new(Mutex::new(state)))
    }

    /// Makes everything fail after so many writes, resizes and syncs.
    pub(crate) fn fail_after(&self, operations: u32) {
        self.0.lock().unwrap().fuse = Some(operations);
    }

    /// How often it was synced.
    pub(crate) fn syncs(&self) -> u32 {
        self.0.lock().unwrap().syncs
    }
}

impl State {
    fn burn(&mut self) -> io::Result<()> {
        match &mut self.fuse {
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
        Ok(self.0.lock().unwrap().now.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let state = self.0.lock().unwrap();
        let offset = offset as usize;
        let data = state
            .now
            .get(offset..offset + out.len())
            .ok_or_else(|| io::Error::other("read beyond the end"))?;
        out.copy_from_slice(data);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        state.burn()?;
        state.now.resize(len as usize, 0);
        state.pending.push(Pending::Length(len as usize));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        state.burn()?;
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
        let mut state = self.0.lock().unwrap();
        state.burn()?;
        let offset = offset as usize;
        state.now[offset..offset + data.len()].copy_from_slice(data);
        state.pending.push(Pending::Write(offset, data.to_vec()));
        Ok(())
    }
}
