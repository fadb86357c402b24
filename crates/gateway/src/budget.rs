//! Budgets over REST: how much money may be spent, and how much of it is.

use axum::Json;
use axum::extract::{Path, State};
use governance::Budget;
use governance::policy::{Per, Window};
use http::StatusCode;
use schema::{BudgetId, MicroUsd};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{MeterKey, Record, RecordBody, RecordChange, RecordFilter, RecordKind};

use crate::app::App;
use crate::audit::{Change, change_record};
use crate::clock::now;
use crate::error::{ApiError, unread};
use crate::governor::meters::budget_meter;
use crate::governor::tenant::{ACTIVE, ENDED};
use crate::identity::Caller;
use crate::page::Limit;
use crate::strict::{Kept, Params};
use crate::text::Name;

/// A budget to be set.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct NewBudget {
    /// What people call it.
    name: Name,
    /// How much there is for a window, in dollars.
    limit_usd: MicroUsd,
    /// Whose spending is added up.
    per: Per,
    /// Of this one alone, by its name or id; of each, when left out.
    #[serde(default)]
    only: Option<Name>,
    /// Over which time.
    window: Window,
    /// Whether going over it is refused (`true`, the default), or only told.
    #[serde(default = "yes")]
    hard: bool,
}

fn yes() -> bool {
    true
}

/// Which budgets.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BudgetQuery {
    /// The `next` of the page before.
    #[serde(default)]
    before: Option<BudgetId>,
    /// How many.
    #[serde(default)]
    limit: Limit,
}

/// Budgets that hold, newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BudgetPage {
    budgets: Vec<ShownBudget>,
    /// Where the next page begins; null on the last.
    next: Option<BudgetId>,
}

/// A budget, and how far it is used up.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShownBudget {
    #[serde(flatten)]
    budget: Budget,
    /// What is spent of it in this window; null for one whose shares are counted apart.
    spent_usd: Option<MicroUsd>,
    /// What is set aside for calls that go on; null likewise.
    reserved_usd: Option<MicroUsd>,
}

pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    Params(BudgetQuery { before, limit }): Params<BudgetQuery>,
) -> Result<Json<BudgetPage>, ApiError> {
    let filter = RecordFilter { group: Some(ACTIVE.to_owned()), ..RecordFilter::of(RecordKind::Budget) };
    let before = before.map(|id| id.to_string());
    let records = app.of(caller.tenant).records(&filter, before.as_deref(), limit.and_one()).await;
    let (records, next) = limit.cut(records.map_err(unread)?, |record| record.id.clone());
    let mut budgets = Vec::new();
    for record in records {
        budgets.push(shown(&app, &caller, read(record)?).await?);
    }
    Ok(Json(BudgetPage { budgets, next: next.and_then(|id| id.parse().ok()) }))
}

pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    Kept(new): Kept<NewBudget>,
) -> Result<(StatusCode, Json<ShownBudget>), ApiError> {
    if new.limit_usd.0 <= 0 {
        let param = "limitUsd".to_owned();
        return Err(ApiError::Malformed { message: format!("{param}: expected more than nothing"), param });
    }
    let at = now();
    let budget = Budget {
        id: BudgetId::new(at.as_millis(), app.random_bytes()),
        name: new.name.into(),
        limit_usd: new.limit_usd,
        per: new.per,
        only: new.only.map(String::from),
        window: new.window,
        hard: new.hard,
        created_by: caller.actor(),
        created_at: at,
    };
    save(&app, &caller, 0, &budget, ACTIVE, "audit.budget_set").await?;
    Ok((StatusCode::CREATED, Json(shown(&app, &caller, budget).await?)))
}

pub(crate) async fn end(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<ShownBudget>, ApiError> {
    let missing =
        ApiError::NoSuch { what: "budget", hint: "`GET /api/v1/budgets` lists the budgets of the tenant" };
    let Ok(id) = id.parse::<BudgetId>() else { return Err(missing) };
    let record = app.of(caller.tenant).record(RecordKind::Budget, &id.to_string()).await.map_err(unread)?;
    let record = record.ok_or(missing)?;
    let (version, has_ended) = (record.version, record.group == ENDED);
    let budget = read(record)?;
    if !has_ended {
        save(&app, &caller, version, &budget, ENDED, "audit.budget_ended").await?;
    }
    Ok(Json(shown(&app, &caller, budget).await?))
}

/// The budget with what is used of it, where that is one number.
async fn shown(app: &App, caller: &Caller, budget: Budget) -> Result<ShownBudget, ApiError> {
    let whose = match budget.per {
        Per::Tenant => Some(""),
        _ => budget.only.as_deref(),
    };
    let Some(whose) = whose else {
        return Ok(ShownBudget { budget, spent_usd: None, reserved_usd: None });
    };
    let at = now();
    let key = MeterKey { meter: budget_meter(&budget, whose), window: budget.window.start(at) };
    let levels = app.book.levels(caller.tenant, &[key], at).await?;
    let (spent, reserved) = levels.first().copied().unwrap_or_default();
    let money = |micros: u64| Some(MicroUsd(i64::try_from(micros).unwrap_or(i64::MAX)));
    Ok(ShownBudget { budget, spent_usd: money(spent), reserved_usd: money(reserved) })
}

fn read(record: Record) -> Result<Budget, ApiError> {
    serde_json::from_value(record.body).map_err(unread)
}

async fn save(
    app: &App,
    caller: &Caller,
    expected: u64,
    budget: &Budget,
    group: &str,
    action: &'static str,
) -> Result<(), ApiError> {
    let id = budget.id.to_string();
    let details = json!({
        "name": budget.name, "limitUsd": budget.limit_usd, "per": budget.per, "only": budget.only,
        "window": budget.window, "hard": budget.hard,
    });
    let change = Change { tenant: caller.tenant, at: now(), action, target: &id, details };
    let body = json!(budget);
    let to =
        RecordBody { group: group.to_owned(), key: None, body, created_at: budget.created_at, due_at: None };
    let record = RecordChange { kind: RecordKind::Budget, id: id.clone(), expected, to: Some(to) };
    change_record(app, caller, change, record, "budget").await
}
