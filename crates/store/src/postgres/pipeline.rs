//! Statements that are sent together: the server answers them in order, and the way to it is paid for once.
//!
//! The driver sends what is polled, at its first poll, if it need not ask the server first. So a [`Ask`] is prepared
//! beforehand, and those that belong together are polled in their order, by one `join!(biased; …)` or [`in_order`].

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use deadpool_postgres::Object;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row, Statement};

/// A statement that is ready to be sent.
pub(super) struct Ask<'a> {
    statement: Statement,
    parameters: Vec<Parameter<'a>>,
}

/// What fills a place of a statement.
pub(super) type Parameter<'a> = Box<dyn ToSql + Sync + Send + 'a>;

impl<'a> Ask<'a> {
    pub(super) async fn new(
        connection: &Object,
        text: &str,
        parameters: Vec<Parameter<'a>>,
    ) -> Result<Self, Error> {
        Ok(Self { statement: connection.prepare_cached(text).await?, parameters })
    }
}

/// Sends it, if there is one, and gives the rows that come back.
pub(super) async fn send(connection: &Object, ask: Option<&Ask<'_>>) -> Result<Vec<Row>, Error> {
    let Some(Ask { statement, parameters }) = ask else { return Ok(Vec::new()) };
    let parameters: Vec<&(dyn ToSql + Sync)> =
        parameters.iter().map(|parameter| &**parameter as &(dyn ToSql + Sync)).collect();
    connection.query(statement, &parameters).await
}

/// Something on its way to the server.
pub(super) type Sending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Sends all of these in their order, and waits until every one is answered.
pub(super) async fn in_order<T>(mut sending: Vec<Sending<'_, T>>) -> Vec<T> {
    let mut answers: Vec<Option<T>> = sending.iter().map(|_| None).collect();
    poll_fn(|context| {
        for (sending, answer) in sending.iter_mut().zip(&mut answers) {
            if answer.is_none()
                && let Poll::Ready(answered) = sending.as_mut().poll(context)
            {
                *answer = Some(answered);
            }
        }
        if answers.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    answers.into_iter().flatten().collect()
}

/// A transaction that has begun. Dropped, it is rolled back, unless its end has been sent.
pub(super) struct Begun<'a> {
    connection: Option<&'a Object>,
}

impl<'a> Begun<'a> {
    pub(super) fn new(connection: &'a Object) -> Self {
        Self { connection: Some(connection) }
    }

    /// Its end is among what is sent next.
    pub(super) fn ends(mut self) {
        self.connection = None;
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection {
            // Polled once, it is sent; whoever uses the connection next is behind it, and nobody waits for the answer.
            let _ = pin!(connection.batch_execute("ROLLBACK")).poll(&mut Context::from_waker(Waker::noop()));
        }
    }
}
