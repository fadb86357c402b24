//! `punk budgets`: how much may be spent on models, and how much of it is.

use egress::Method;
use schema::MicroUsd;
use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::answer::{Answer, columns};
use crate::args::{AddBudgetArgs, BudgetsCommand, Common};
use crate::failure::Failure;
use crate::gateway_client::{Gateway, text};
use crate::{runtime, settings};

const PATH: &str = "/api/v1/budgets";

pub(crate) fn run(common: &Common, command: &BudgetsCommand) -> Result<Answer, Failure> {
    let settings = settings::load(common)?;
    runtime::block_on(async {
        match command {
            BudgetsCommand::List { gateway } => {
                let gateway = Gateway::new(&settings, gateway)?;
                Ok(listed(gateway.all(PATH, "budgets", "before").await?))
            }
            BudgetsCommand::Add(args) => {
                let gateway = Gateway::new(&settings, &args.gateway)?;
                let made = gateway.ask(Method::Post, PATH, Some(&wanted(args))).await?;
                Ok(Answer::success(format!("{} holds\n", text(&made["id"])), made))
            }
            BudgetsCommand::End { id, gateway } => {
                let gateway = Gateway::new(&settings, gateway)?;
                let ended = gateway.ask(Method::Delete, &format!("{PATH}/{id}"), None).await?;
                Ok(Answer::success(format!("{id} has ended\n"), ended))
            }
        }
    })
}

fn wanted(args: &AddBudgetArgs) -> Value {
    json!({
        "name": args.name, "limitUsd": args.limit, "per": args.per, "only": args.only, "window": args.window,
        "hard": !args.soft,
    })
}

fn listed(page: Value) -> Answer {
    let budgets: Vec<Value> = page["budgets"].as_array().cloned().unwrap_or_default();
    if budgets.is_empty() {
        return Answer::success("nothing\n", page);
    }
    let head = ["ID", "NAME", "FOR", "WINDOW", "KIND", "LIMIT", "SPENT", "RESERVED", "LEFT"];
    let rows = budgets.iter().map(|budget| {
        let [limit, spent, reserved] =
            ["limitUsd", "spentUsd", "reservedUsd"].map(|member| money(&budget[member]));
        [
            text(&budget["id"]),
            text(&budget["name"]),
            whose(budget),
            text(&budget["window"]),
            if budget["hard"] == false { "soft" } else { "hard" }.to_owned(),
            dollars(limit),
            dollars(spent),
            dollars(reserved),
            dollars(left(limit, spent, reserved)),
        ]
    });
    let rows: Vec<_> = std::iter::once(head.map(str::to_owned)).chain(rows).collect();
    Answer::success(columns(&rows), page)
}

fn whose(budget: &Value) -> String {
    let per = text(&budget["per"]);
    match budget["only"].as_str() {
        Some(_) => format!("{per} {}", text(&budget["only"])),
        None if per == "tenant" => per,
        None => format!("each {per}"),
    }
}

fn money(amount: &Value) -> Option<MicroUsd> {
    MicroUsd::deserialize(amount).ok()
}

/// What may still be set aside. Below nothing, where a soft budget is overspent.
fn left(limit: Option<MicroUsd>, spent: Option<MicroUsd>, reserved: Option<MicroUsd>) -> Option<MicroUsd> {
    let (MicroUsd(limit), MicroUsd(spent), MicroUsd(reserved)) = (limit?, spent?, reserved?);
    Some(MicroUsd(limit.saturating_sub(spent).saturating_sub(reserved)))
}

/// Dollars with as many digits as it takes, two at least; `-` where the shares of several are counted apart.
fn dollars(amount: Option<MicroUsd>) -> String {
    let Some(MicroUsd(micros)) = amount else { return "-".to_owned() };
    let sign = if micros < 0 { "-" } else { "" };
    let (whole, part) = (micros.unsigned_abs() / 1_000_000, micros.unsigned_abs() % 1_000_000);
    let digits = format!("{part:06}");
    let (cents, rest) = digits.split_at(2);
    format!("{sign}${whole}.{cents}{}", rest.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_shown_to_the_last_digit() {
        let shown =
            [0, 5_000_000, 250_000, 1, 1_230_400, -20_000].map(|micros| dollars(Some(MicroUsd(micros))));
        assert_eq!(shown, ["$0.00", "$5.00", "$0.25", "$0.000001", "$1.2304", "-$0.02"]);
    }

    #[test]
    fn what_is_set_aside_is_not_left_and_a_soft_budget_may_be_overspent() {
        let of = |limit, spent, reserved| {
            left(Some(MicroUsd(limit)), Some(MicroUsd(spent)), Some(MicroUsd(reserved)))
        };
        assert_eq!(of(10, 4, 3), Some(MicroUsd(3)));
        assert_eq!(of(10, 14, 0), Some(MicroUsd(-4)));
        assert_eq!(left(Some(MicroUsd(10)), None, None), None);
    }
}
