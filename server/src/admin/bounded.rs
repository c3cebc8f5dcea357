//! Every status of the plane has a text that fits into a client's headers, whoever wrote it: what does not fit makes the
//! whole answer unreadable.

use std::convert::Infallible;
use std::task::{Context, Poll};

use http_body_util::BodyExt as _;
use pressmark_index::error::shortened;
use tonic::Status;
use tonic::codegen::http::{HeaderMap, Request, Response};
use tonic::codegen::{BoxFuture, Service};
use tonic::service::{AxumBody, Routes};
use tower_layer::layer_fn;

/// Bytes of a status's text. On its way each may become three, which is still below the 8 KiB from which clients may
/// refuse headers.
const TEXT_BYTES_MAX: usize = 2 * 1024;

/// The same services with bounded texts.
pub(super) fn bounded(routes: Routes) -> Routes {
    Routes::from(routes.into_axum_router().layer(layer_fn(Bounded)))
}

#[derive(Clone)]
struct Bounded<S>(S);

impl<S> Service<Request<AxumBody>> for Bounded<S>
where
    S: Service<Request<AxumBody>, Response = Response<AxumBody>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Response<AxumBody>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: Request<AxumBody>) -> Self::Future {
        let answer = self.0.call(request);
        Box::pin(async move {
            let mut answer = answer.await?;
            // A status stands in the headers where there is nothing else, or in the trailers.
            shorten(answer.headers_mut());
            Ok(answer.map(|body| {
                AxumBody::new(body.map_frame(|mut frame| {
                    if let Some(trailers) = frame.trailers_mut() {
                        shorten(trailers);
                    }
                    frame
                }))
            }))
        })
    }
}

fn shorten(headers: &mut HeaderMap) {
    let is_long = |text: &[u8]| text.len() > TEXT_BYTES_MAX;
    if !headers.get(Status::GRPC_MESSAGE).is_some_and(|text| is_long(text.as_bytes())) {
        return;
    }
    let Some(status) = Status::from_header_map(headers) else { return };
    let text = shortened(status.message(), TEXT_BYTES_MAX);
    let mut written = HeaderMap::new();
    // Written anew, because a cut could go through what stands for one character.
    if Status::new(status.code(), text).add_header(&mut written).is_ok() {
        headers.extend(written);
    }
}

#[cfg(test)]
mod tests {
    use tonic::Code;

    use super::*;

    #[test]
    fn a_long_text_is_cut_and_all_else_stays() {
        for (text, wanted_max) in [
            ("short \u{e9}".to_owned(), 8),
            ("a".repeat(100_000), TEXT_BYTES_MAX),
            ("\u{e9}".repeat(100_000), 3 * TEXT_BYTES_MAX),
            // Just what makes it long on its way.
            ("\u{e9}".repeat(500), 3 * TEXT_BYTES_MAX),
        ] {
            let mut headers = HeaderMap::new();
            Status::new(Code::NotFound, text.as_str()).add_header(&mut headers).unwrap();
            headers.insert("other", "kept".parse().unwrap());
            shorten(&mut headers);
            let read = Status::from_header_map(&headers).unwrap();
            assert_eq!(read.code(), Code::NotFound);
            assert_eq!(read.message(), shortened(&text, TEXT_BYTES_MAX));
            assert!(headers["grpc-message"].len() <= wanted_max.max(20), "{}", read.message());
            assert_eq!(headers["other"], "kept");
        }
    }
}
