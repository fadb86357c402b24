//! The person who asks, for what is about themselves.

use axum::extract::FromRequestParts;
use http::request::Parts;
use schema::UserId;

use super::account::Account;
use super::directory::{By, Versioned};
use super::session::Session;
use crate::app::App;
use crate::error::ApiError;
use crate::identity::Caller;

/// Whoever is logged in with a cookie, and what is stored of them.
pub(crate) struct Person {
    pub(crate) caller: Caller,
    pub(crate) session: Session,
    pub(crate) account: Account,
    pub(crate) version: u64,
}

impl Person {
    pub(crate) fn id(&self) -> UserId {
        self.account.id
    }

    pub(crate) fn by(&self) -> By {
        self.caller.by()
    }
}

impl FromRequestParts<App> for Person {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let caller = Caller::from_request_parts(parts, app).await?;
        let session =
            caller.session.as_ref().map(|found| found.session.clone()).ok_or(ApiError::NotLoggedIn)?;
        let account = app.people.directory.by_id(session.user).await?;
        let Versioned { value: account, version } = account.ok_or(ApiError::SessionEnded)?;
        Ok(Self { caller, session, account, version })
    }
}
