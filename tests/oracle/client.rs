//! Raw requests to one server, and its answers as they come.

use futures::StreamExt as _;
use http::{HeaderMap, Method, Request};
use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use std::io::Read as _;
use std::pin::Pin;
use std::time::Duration;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(15);

/// An answer, read to its end.
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// A client that may do everything.
#[derive(Clone)]
pub(crate) struct Raw(Client);

impl Raw {
    /// By a kubeconfig's current context.
    pub(crate) async fn new(kubeconfig: Kubeconfig) -> Self {
        let config =
            kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
        Self(Client::try_from(config).unwrap())
    }

    async fn response(
        &self,
        method: &Method,
        path: &str,
        headers: &[(String, String)],
        body: Vec<u8>,
    ) -> http::Response<Body> {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let request =
            request.body(Body::from(body)).unwrap_or_else(|error| panic!("{method} {path}: {error}"));
        self.0.send(request).await.unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    /// Sends a request, and reads the answer; code 0 if none comes.
    pub(crate) async fn send(
        &self,
        method: &Method,
        path: &str,
        headers: &[(String, String)],
        body: Vec<u8>,
    ) -> Answer {
        let answer = tokio::time::timeout(PATIENCE, self.answer(method, path, headers, body)).await;
        answer.unwrap_or_else(|_| Answer { code: 0, headers: HeaderMap::new(), body: Vec::new() })
    }

    async fn answer(
        &self,
        method: &Method,
        path: &str,
        headers: &[(String, String)],
        body: Vec<u8>,
    ) -> Answer {
        let (parts, body) = self.response(method, path, headers, body).await.into_parts();
        let body = body.collect().await.unwrap_or_else(|error| panic!("{method} {path}: {error}"));
        let mut body = body.to_bytes().to_vec();
        if parts.headers.get("content-encoding").is_some_and(|encoding| encoding == "gzip") {
            let packed = std::mem::take(&mut body);
            flate2::read::GzDecoder::new(packed.as_slice()).read_to_end(&mut body).unwrap();
        }
        Answer { code: parts.status.as_u16(), headers: parts.headers, body }
    }

    /// Opens a watch; the answer if it is none.
    pub(crate) async fn watch(&self, path: &str, headers: &[(String, String)]) -> Result<Watch, Answer> {
        let (parts, body) = self.response(&Method::GET, path, headers, Vec::new()).await.into_parts();
        if parts.status.as_u16() == 200 {
            let stream = body.into_data_stream().map(|piece| piece.map(|bytes| bytes.to_vec()).map_err(drop));
            return Ok(Watch { headers: parts.headers, stream: Box::pin(stream), rest: Vec::new() });
        }
        let body = body.collect().await.unwrap().to_bytes().to_vec();
        Err(Answer { code: parts.status.as_u16(), headers: parts.headers, body })
    }
}

/// A running watch.
pub(crate) struct Watch {
    pub(crate) headers: HeaderMap,
    stream: Pin<Box<dyn futures::Stream<Item = Result<Vec<u8>, ()>> + Send>>,
    rest: Vec<u8>,
}

/// What a watch gave.
pub(crate) enum Given {
    Event(serde_json::Value),
    End,
    Nothing,
}

impl Watch {
    /// The next event, if one comes in this time.
    pub(crate) async fn next(&mut self, patience: Duration) -> Given {
        loop {
            if let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                return Given::Event(serde_json::from_slice(&line).unwrap());
            }
            match tokio::time::timeout(patience, self.stream.next()).await {
                Err(_) => return Given::Nothing,
                Ok(Some(Ok(bytes))) => self.rest.extend(bytes),
                Ok(None | Some(Err(()))) => return Given::End,
            }
        }
    }
}
