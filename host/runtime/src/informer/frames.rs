//! A watch's answer as lines of JSON.

use bytes::{Buf, Bytes, BytesMut};
use http_body_util::BodyExt;
use kube::client::Body;

/// Longest line that is accepted: a bound on what a broken server can make us hold. Objects are below 2 MiB.
const MAX_LINE: usize = 16 << 20;

/// Lines of a response body.
pub(super) struct Lines {
    body: Body,
    buffer: BytesMut,
    /// Bytes of the buffer that hold no line end, known already.
    scanned: usize,
}

impl Lines {
    pub(super) fn new(body: Body) -> Self {
        Self { body, buffer: BytesMut::new(), scanned: 0 }
    }

    /// The next line that isn't blank; None at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, String> {
        loop {
            while let Some(line) = self.take_line() {
                if !line.iter().all(u8::is_ascii_whitespace) {
                    return Ok(Some(line));
                }
            }
            if self.buffer.len() > MAX_LINE {
                return Err(format!("a watch event is longer than {MAX_LINE} bytes"));
            }
            match self.body.frame().await {
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.buffer.extend_from_slice(&data);
                    }
                }
                Some(Err(error)) => return Err(format!("the watch broke off: {error}")),
                None => return Ok(None),
            }
        }
    }

    fn take_line(&mut self) -> Option<Bytes> {
        let rest = self.buffer.get(self.scanned..)?;
        match rest.iter().position(|b| *b == b'\n') {
            Some(offset) => {
                let line = self.buffer.split_to(self.scanned + offset).freeze();
                self.buffer.advance(1);
                self.scanned = 0;
                Some(line)
            }
            None => {
                self.scanned = self.buffer.len();
                None
            }
        }
    }
}
