//! What the control plane serves, kept current: read again whenever a definition of a custom kind changes.

use arc_swap::ArcSwap;
use kube::Client;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, watch};
use windlass_members::{ApiTable, discover};
use windlass_runtime::{Handle, Shutdown};

/// Definitions that change together are read together.
const GATHER: Duration = Duration::from_millis(20);

/// Read anyway after this, for what other servers (aggregation) bring.
const REFRESH: Duration = Duration::from_secs(30);

/// After a failure it is read again after this.
const RETRY: Duration = Duration::from_secs(1);

/// The table of served kinds. Clones are handles to the same.
#[derive(Clone)]
pub struct Apis {
    table: Arc<ArcSwap<ApiTable>>,
    version: watch::Receiver<u64>,
}

impl Apis {
    pub(crate) fn new(client: Client, definitions: &Handle, shutdown: &Shutdown) -> Self {
        let table: Arc<ArcSwap<ApiTable>> = Arc::default();
        let (sender, version) = watch::channel(0);
        let changed = Arc::new(Notify::new());
        let wake = changed.clone();
        definitions.on_change(move |_| wake.notify_one());
        let shared = table.clone();
        let token = shutdown.token();
        shutdown.spawn(async move {
            tokio::select! {
                () = token.cancelled() => {}
                () = follow(client, shared, sender, changed) => {}
            }
        });
        Self { table, version }
    }

    /// The table as of now.
    pub fn table(&self) -> Arc<ApiTable> {
        self.table.load_full()
    }

    /// Counts changes; waits for the first reading if there was none.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.version.clone()
    }

    /// Waits for the first reading.
    pub async fn ready(&self) {
        // Fails only when the task has ended with the process.
        let _ = self.version.clone().wait_for(|version| *version > 0).await;
    }
}

async fn follow(
    client: Client,
    table: Arc<ArcSwap<ApiTable>>,
    version: watch::Sender<u64>,
    changed: Arc<Notify>,
) {
    loop {
        let wait = match discover(&client).await {
            Ok(fresh) => {
                for missing in &fresh.missing {
                    tracing::warn!(missing, "discovery of the control plane is incomplete");
                }
                if **table.load() != fresh || *version.borrow() == 0 {
                    table.store(Arc::new(fresh));
                    version.send_modify(|count| *count += 1);
                }
                REFRESH
            }
            Err(error) => {
                tracing::warn!(%error, "discovery of the control plane failed");
                RETRY
            }
        };
        tokio::select! {
            () = changed.notified() => tokio::time::sleep(GATHER).await,
            () = tokio::time::sleep(wait) => {}
        }
    }
}
