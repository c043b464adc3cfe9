//! A database: any number of keyspaces behind one writer thread, in memory or in one file.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use redb::backends::FileBackend;

use crate::journal::{Journal, JournalError};
use crate::keyspace::{Core, Handle, Shared};
use crate::writer::{Request, Writer};
use crate::{Store, WriteError};

/// Events that a keyspace's log holds at most: a watcher that was away for a moment finds its place even in a storm.
pub const MAX_EVENTS: usize = 50_000;
/// Bytes of object versions that a keyspace's log keeps at most: what a busy keyspace may cost in memory beside its objects.
pub const MAX_EVENT_BYTES: usize = 24 << 20;
/// Age after which events and revisions expire: as long as the reference promises.
pub const MAX_AGE: Duration = Duration::from_secs(300);
/// Pause between compactions by age. With [`MAX_AGE`] it makes an idle server's continue tokens expire within seven minutes.
pub const TICK: Duration = Duration::from_secs(60);
/// Events that a watcher may be behind before its stream ends; a pointer each.
pub const WATCH_CAPACITY: usize = 4096;
/// Memory that the file's engine may use as a cache; everything is read once and then served from our own memory.
pub const CACHE_BYTES: usize = 32 << 20;
/// Bytes of commits after which the file's trees take over what its log holds: more makes that rarer, and a start after a crash slower.
pub const LOG_BYTES: usize = 4 << 20;
/// How long opening waits for an earlier owner in this process to let go of the file.
const OPEN_WAIT: Duration = Duration::from_secs(5);
/// Pause between two looks at a file that is still held.
const OPEN_RETRY: Duration = Duration::from_millis(20);
/// Revisions that a keyspace in memory may take per second of its life without a restart falling behind.
const REVISIONS_PER_SECOND: u64 = 1_000_000;
/// Where counting of seconds for revisions in memory begins: 1 January 2026.
const MEMORY_EPOCH: u64 = 1_767_225_600;

/// Limits of a database. The defaults are the named constants of this module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// See [`MAX_EVENTS`].
    pub max_events: usize,
    /// See [`MAX_EVENT_BYTES`].
    pub max_event_bytes: usize,
    /// See [`MAX_AGE`].
    pub max_age: Duration,
    /// See [`TICK`].
    pub tick: Duration,
    /// See [`WATCH_CAPACITY`].
    pub watch_capacity: usize,
    /// See [`CACHE_BYTES`].
    pub cache_bytes: usize,
    /// See [`LOG_BYTES`].
    pub log_bytes: usize,
    /// The first revision of keyspaces in memory. By default it follows the clock, so that revisions do not go back when the process restarts.
    pub first_revision: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_events: MAX_EVENTS,
            max_event_bytes: MAX_EVENT_BYTES,
            max_age: MAX_AGE,
            tick: TICK,
            watch_capacity: WATCH_CAPACITY,
            cache_bytes: CACHE_BYTES,
            log_bytes: LOG_BYTES,
            first_revision: None,
        }
    }
}

/// Why a database or a keyspace could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file could not be opened.
    #[error("cannot open the database {path}")]
    File {
        /// The file.
        path: String,
        /// The cause.
        source: JournalError,
    },
    /// A keyspace could not be read.
    #[error("cannot read keyspace {name:?}")]
    Keyspace {
        /// The keyspace.
        name: String,
        /// The cause.
        source: JournalError,
    },
    /// The writer's thread could not be started.
    #[error("cannot start the writer thread")]
    Thread(#[from] std::io::Error),
    /// The database was closed.
    #[error("the database is closed")]
    Closed,
}

/// All opened keyspaces.
#[derive(Debug, Default)]
pub(crate) struct Registry(Mutex<BTreeMap<String, Arc<Core>>>);

impl Registry {
    pub(crate) fn all(&self) -> Vec<Arc<Core>> {
        self.lock().values().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Core>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A database. Keyspaces outlive it: the writer ends when the last handle is dropped, or at [`Database::close`].
#[derive(Debug)]
pub struct Database {
    registry: Arc<Registry>,
    requests: Sender<Request>,
    /// Taken away by closing.
    journal: Mutex<Option<Arc<Journal>>>,
    durable: bool,
    options: Options,
}

/// Opens or creates a file that nobody else may read: it holds Secrets.
fn own(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

impl Database {
    /// A database without a file, by the same code.
    pub fn memory(options: Options) -> Self {
        let (database, started) = Self::start(None, options);
        if let Err(error) = started {
            tracing::error!(%error, "the store's writer thread could not be started; writes will fail");
        }
        database
    }

    /// Opens or creates a database: a file, and beside it one for its log, with `-log` after its name.
    pub fn open(path: impl AsRef<Path>, options: Options) -> Result<Self, OpenError> {
        let path = path.as_ref();
        let deadline = Instant::now() + OPEN_WAIT;
        let mut name = path.as_os_str().to_owned();
        name.push("-log");
        let refuse = |source| OpenError::File { path: path.display().to_string(), source };
        let log = own(path).and_then(|_| own(Path::new(&name))).map_err(|error| refuse(error.into()))?;
        let engine = loop {
            match redb::Builder::new().set_cache_size(options.cache_bytes).create(path) {
                // The writer of an earlier owner in this process may still be finishing.
                Err(redb::DatabaseError::DatabaseAlreadyOpen) if Instant::now() < deadline => {
                    thread::park_timeout(OPEN_RETRY)
                }
                other => break other,
            }
        };
        let journal = engine
            .map_err(JournalError::from)
            .and_then(|engine| Journal::new(engine, Box::new(FileBackend::new(log)?), options.log_bytes));
        let journal = journal.map_err(refuse)?;
        let (database, started) = Self::start(Some(Arc::new(journal)), options);
        started?;
        Ok(database)
    }

    /// Opens a database on other storages, such as ones that inject faults.
    pub fn with_backends(
        trees: impl redb::StorageBackend,
        log: impl redb::StorageBackend,
        options: Options,
    ) -> Result<Self, OpenError> {
        let engine = redb::Builder::new().set_cache_size(options.cache_bytes).create_with_backend(trees);
        let refuse = |source| OpenError::File { path: "(given storage)".to_owned(), source };
        let journal = engine.map_err(JournalError::from);
        let journal = journal
            .and_then(|engine| Journal::new(engine, Box::new(log), options.log_bytes))
            .map_err(refuse)?;
        let (database, started) = Self::start(Some(Arc::new(journal)), options);
        started?;
        Ok(database)
    }

    /// A keyspace, read from the file or begun anew. It has revisions of its own.
    pub fn keyspace(&self, name: &str) -> Result<Arc<dyn Store>, OpenError> {
        let mut known = self.registry.lock();
        let core = match known.get(name) {
            Some(core) => core.clone(),
            None => {
                let journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let (id, shared) = match journal {
                    Some(journal) => journal
                        .load(name)
                        .map_err(|source| OpenError::Keyspace { name: name.to_owned(), source })?,
                    None if self.durable => return Err(OpenError::Closed),
                    None => (known.len() as u32, self.begin()),
                };
                let core = Arc::new(Core::new(name, id, shared, &self.options));
                known.insert(name.to_owned(), core.clone());
                core
            }
        };
        Ok(Arc::new(Handle { core, requests: self.requests.clone() }))
    }

    /// Compacts by age now, as the timer does. Blocks until it is done.
    pub fn compact(&self) -> Result<(), WriteError> {
        let (reply, answer) = channel();
        self.requests.send(Request::Tick { reply }).map_err(|_| WriteError::Closed)?;
        answer.recv().unwrap_or(Err(WriteError::Closed))
    }

    /// Commits what waits, ends all watches and lets go of the file. Blocks until that is done; later writes fail.
    pub fn close(&self) {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (reply, answer) = channel();
        if self.requests.send(Request::Close { reply }).is_ok() {
            // An error means that the writer has ended already.
            let _ = answer.recv();
        }
    }

    fn start(journal: Option<Arc<Journal>>, options: Options) -> (Self, std::io::Result<()>) {
        let (requests, receiver) = channel();
        let registry = Arc::new(Registry::default());
        let writer = Writer::new(receiver, journal.clone(), registry.clone(), options.clone());
        let durable = journal.is_some();
        let database = Self { registry, requests, journal: Mutex::new(journal), durable, options };
        let thread = thread::Builder::new().name("windlass-store".into());
        (database, thread.spawn(move || writer.run()).map(drop))
    }

    /// The state of a new keyspace in memory.
    fn begin(&self) -> Shared {
        match self.options.first_revision {
            Some(revision) => Shared::empty(revision, 0),
            None => {
                let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
                let revision = seconds.saturating_sub(MEMORY_EPOCH).max(1) * REVISIONS_PER_SECOND;
                // What an earlier process handed out is gone.
                Shared::empty(revision, revision)
            }
        }
    }
}
