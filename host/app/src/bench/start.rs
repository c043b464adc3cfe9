//! How long a start takes, and what rest costs.

use super::figures::{Figures, resident};
use crate::plane::{Options, Plane};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::{Duration, Instant};

/// After this nothing happens any more.
const REST: Duration = Duration::from_secs(3);

pub(super) fn options(members: usize, folder: &Path) -> Options {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    Options {
        members,
        member: windlass_simulator::Options::default(),
        controllers: windlass_controllers::Options::default(),
        data_dir: Some(folder.to_owned()),
        listen: any,
        admin: any,
    }
}

/// A folder that goes away with the value.
pub(super) struct Folder(std::path::PathBuf);

impl Folder {
    pub(super) fn new(name: &str) -> anyhow::Result<Self> {
        let path = std::env::temp_dir().join(format!("windlass-bench-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left behind is in the folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

async fn measure(members: usize, title: String, time: &str, memory: &str) -> anyhow::Result<Figures> {
    let folder = Folder::new("start")?;
    let begun = Instant::now();
    let plane = Plane::start(options(members, folder.path())).await?;
    plane.control.apiserver_version().await?;
    let took = begun.elapsed();
    tokio::time::sleep(REST).await;
    let mut figures = Figures::new(title);
    figures.target("start until the API answers", format!("{:.2} s", took.as_secs_f64()), time);
    figures.target("resident memory at rest", format!("{} MB", resident()), memory);
    plane.stop().await;
    Ok(figures)
}

/// Three members.
pub(super) async fn start() -> anyhow::Result<Figures> {
    measure(3, "start: control plane and 3 simulated members, durable store".into(), "1 s", "80 MB").await
}

/// A hundred.
pub(super) async fn members() -> anyhow::Result<Figures> {
    measure(
        100,
        "members: control plane and 100 simulated members at rest, durable store".into(),
        "-",
        "500 MB",
    )
    .await
}
