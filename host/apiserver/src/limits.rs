//! The bounds of what a server takes and keeps, with the reason for each.

/// An object as stored: etcd's limit for a request, which clients know.
pub const MAX_OBJECT: usize = 1536 * 1024;
/// How often a write is tried again when somebody else was faster. Each round means that another
/// writer succeeded, so a patch that loses this often meets a hundred writers at once.
pub const MAX_RETRIES: usize = 100;
/// How often a generated name is thrown again when it is taken; Kubernetes' own number.
pub const GENERATE_ATTEMPTS: usize = 8;
/// What a generated name may keep of its base: 63 less the five letters that are added.
pub const MAX_GENERATE_BASE: usize = 58;
/// A watch without `timeoutSeconds` lives this long at least, in seconds, and at most twice this:
/// spread, so that a restart's watches do not all end at once.
pub const WATCH_SECONDS: u64 = 1800;
/// Bookmarks are this far apart, so that an idle client's revision is not compacted away.
pub const BOOKMARK_SECONDS: u64 = 60;
/// Garbage collection and namespace clean-up write this many objects at a time:
/// enough to fill the store's group commits, few enough to leave room for clients.
pub const CLEANUP_CONCURRENCY: usize = 32;
/// Work that failed for a reason that may pass is tried again after so long.
pub const RETRY_MILLIS: u64 = 500;
/// Seconds that an Event is kept after its last change; Kubernetes' own number.
pub const EVENT_SECONDS: i64 = 3600;
