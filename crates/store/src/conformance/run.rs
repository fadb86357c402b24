//! What lists of runs promise.

use schema::RunId;
use serde_json::json;

use super::{Corner, Story, limit};
use crate::{RunRow, Settle, Store};

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
        assert_eq!(corner.tenant.runs(None, limit(1)).await.unwrap(), folded.as_slice());
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
            let page = corner.tenant.runs(before, limit(most)).await.unwrap();
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

    let rows = corner.tenant.runs(Some(ids[5]), limit(u32::MAX)).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.id).collect::<Vec<_>>(), newest_first[6..]);
    for row in rows {
        assert_eq!(corner.tenant.run(row.id).await.unwrap(), Some(row));
    }
    assert_eq!(corner.tenant.runs(Some(ids[0]), limit(5)).await.unwrap(), []);
}
