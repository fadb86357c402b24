//! What lists of runs promise.

use schema::{ApiKeyId, Route, RunId, RunKind, RunStatus, Subject, Timestamp};
use serde_json::json;

use super::subject::{erase, masters, named};
use super::{Corner, Story, limit};
use crate::filter::Traits;
use crate::{Append, RunFilter, RunRow, Settle, Store};

pub async fn a_row_is_what_its_events_say(store: &dyn Store) {
    let corner = Corner::of(store);
    let mut story = corner.story();
    let first = story.go_on(3);
    let finish = story.finish();
    let late = story.event("feedback.given", json!({ "status": "not of the row" }));
    for append in [first, finish, story.append(vec![late], Settle::Leaf)] {
        corner.append([append]).await.unwrap();
        let folded = RunRow::fold_all(None, story.run, &corner.read(story.run).await);
        assert_eq!(corner.tenant.run(story.run).await.unwrap(), folded);
        assert_eq!(corner.tenant.runs(&RunFilter::ALL, None, limit(1)).await.unwrap(), folded.as_slice());
    }
    let row = corner.tenant.run(story.run).await.unwrap().unwrap();
    assert!(row.finished);
    assert_eq!(row.fields["status"], "completed");
    assert_eq!(row.fields["model"], "small");
    assert_eq!(row.fields["latencyMs"], 12.5);
}

pub async fn runs_are_listed_newest_first_page_by_page(store: &dyn Store) {
    let corner = Corner::of(store);
    let ids: Vec<RunId> = (0..11).map(|_| corner.fresh()).collect();
    // Written in another order than they were made in: it is the id that counts.
    for step in 0..ids.len() {
        let run = ids[step * 4 % ids.len()];
        corner.append([Story::new(corner.id, run).go_on(1 + step % 3)]).await.unwrap();
    }
    let newest_first: Vec<RunId> = ids.iter().rev().copied().collect();

    for most in [1, 2, 3, 10, 11, 12] {
        let (mut seen, mut before) = (Vec::new(), None);
        loop {
            let page = corner.tenant.runs(&RunFilter::ALL, before, limit(most)).await.unwrap();
            assert!(page.len() <= most as usize);
            let Some(last) = page.last() else { break };
            assert!(before.is_none_or(|before| page[0].id < before), "a page begins past the one before it");
            before = Some(last.id);
            seen.extend(page.iter().map(|row| row.id).filter(|id| ids.contains(id)));
            // A run that begins meanwhile is newer than all that were seen, and moves none of them.
            corner.append([corner.story().go_on(1)]).await.unwrap();
        }
        assert_eq!(seen, newest_first, "{most} a page");
    }

    let rows = corner.tenant.runs(&RunFilter::ALL, Some(ids[5]), limit(u32::MAX)).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.id).collect::<Vec<_>>(), newest_first[6..]);
    for row in rows {
        assert_eq!(corner.tenant.run(row.id).await.unwrap(), Some(row));
    }
    assert_eq!(corner.tenant.runs(&RunFilter::ALL, Some(ids[0]), limit(5)).await.unwrap(), []);
}

pub async fn a_list_shows_the_runs_that_its_filter_fits(store: &dyn Store) {
    store.seal_with(masters());
    let (corner, stranger) = (Corner::of(store), Corner::of(store));
    let keys: [ApiKeyId; 2] = [corner.fresh(), corner.fresh()];
    let mut rows: Vec<(RunRow, Option<Subject>)> = Vec::new();
    for number in 0..48usize {
        let kind = [RunKind::Chat, RunKind::Messages][number % 2];
        let (app, agent, model) = (
            ["shop", "desk"][number / 2 % 2],
            ["a", "b", "c"][number % 3],
            ["small", "large"][number / 4 % 2],
        );
        let mut story = corner.story();
        let fields = json!({ "kind": kind, "app": app, "agent": agent, "model": model, "keyId": keys[number / 8 % 2] });
        let subject = [None, named("ada"), named("bob")][number % 3].clone();
        let append = |append: Append| corner.append([Append { subject: subject.clone(), ..append }]);
        let mut events = vec![story.event("run.started", fields)];
        // Some in two steps: what a run is found by changes on the way.
        if number % 4 == 1 {
            append(story.append(std::mem::take(&mut events), Settle::Open)).await.unwrap();
        }
        if number % 5 != 0 {
            let status = [RunStatus::Completed, RunStatus::Failed][number / 3 % 2];
            let route = [Route::Live, Route::ExactCache][number / 6 % 2];
            events.push(story.event("run.finished", json!({ "status": status, "route": route })));
        }
        append(story.append(events, Settle::Open)).await.unwrap();
        rows.push((corner.tenant.run(story.run).await.unwrap().unwrap(), subject));
    }
    rows.sort_by_key(|(row, _)| std::cmp::Reverse(row.id));
    let moment = |place: usize| {
        let millis = rows[place].0.id.as_bytes()[..6].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        Timestamp::from_millis(millis).ok()
    };
    let all = RunFilter::ALL;
    let filters = [
        all.clone(),
        RunFilter { kind: Some(RunKind::Messages), ..all.clone() },
        RunFilter { app: Some("desk".to_owned()), ..all.clone() },
        RunFilter { agent: Some("c".to_owned()), model: Some("large".to_owned()), ..all.clone() },
        RunFilter { route: Some(Route::ExactCache), ..all.clone() },
        RunFilter { status: Some(RunStatus::Running), ..all.clone() },
        RunFilter { status: Some(RunStatus::Failed), key: Some(keys[1]), ..all.clone() },
        RunFilter { subject: named("ada"), ..all.clone() },
        RunFilter { subject: named("bob"), kind: Some(RunKind::Chat), until: moment(9), ..all.clone() },
        RunFilter { subject: named("eve"), ..all.clone() },
        RunFilter { model: Some("none".to_owned()), ..all.clone() },
        RunFilter { since: moment(20), ..all.clone() },
        RunFilter { since: moment(30), until: moment(10), app: Some("shop".to_owned()), ..all.clone() },
        RunFilter { since: moment(10), until: moment(20), ..all.clone() },
    ];
    let mut shown = 0;
    for filter in &filters {
        let (from, to) = filter.bounds(None);
        let fits = |(row, subject): &&(RunRow, Option<Subject>)| {
            let place = &row.id.as_bytes()[..];
            filter.traits().is_none_or(|wanted| Traits::of(row).fit(&wanted))
                && (filter.subject.is_none() || filter.subject == *subject)
                && (from.as_slice()..to.as_slice()).contains(&place)
        };
        let fitting: Vec<RunRow> = rows.iter().filter(fits).map(|(row, _)| row.clone()).collect();
        shown += fitting.len();
        for most in [1, 3, 100] {
            let (mut seen, mut before) = (Vec::new(), None);
            loop {
                let page = corner.tenant.runs(filter, before, limit(most)).await.unwrap();
                let Some(last) = page.last() else { break };
                before = Some(last.id);
                seen.extend(page);
            }
            assert_eq!(seen, fitting, "{most} a page of {filter:?}");
        }
        assert_eq!(stranger.tenant.runs(filter, None, limit(9)).await.unwrap(), []);
    }
    assert!(shown > 150, "{shown}");
    // Whoever is erased is found no more.
    erase(&corner, "ada").await.unwrap();
    assert_eq!(corner.tenant.runs(&filters[7], None, limit(9)).await.unwrap(), []);
}
