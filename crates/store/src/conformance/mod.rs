//! Conformance: the promises of the store's traits, each one a test that every adapter runs.
//!
//! An adapter joins with one line in its test file, `store::suite!(make().await);`. The expression makes a store, in
//! each test anew; it need not be an empty one. Tests of other crates may use [`Corner`] and [`Story`] to fill a store.
//!
//! The promises are in files named after what they are about; `corner.rs` and `story.rs` are what they are told with.
//!
//! - No promise looks outside its own [`Corner`]: tenants and kinds of job that nobody else uses.
//! - Nothing sleeps, and no clock is read: moments are numbers.
//!
//! To add a promise: a function whose name is the promise, and its name in [`suite!`](crate::suite). `tests/memory.rs`
//! fails while it is missing there.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "these are tests, and the name of a promise says all of it"
)]

mod api_key;
mod cache;
mod conduct;
mod corner;
mod event;
mod job;
mod lease;
mod log;
mod meter;
mod race;
mod record;
mod retention;
mod run;
mod story;
mod subject;
mod tenant;
mod usage;

pub use api_key::*;
pub use cache::*;
pub use conduct::*;
pub use corner::{Corner, at, limit};
pub use event::*;
pub use job::*;
pub use lease::*;
pub use log::*;
pub use meter::*;
pub use race::*;
pub use record::*;
pub use retention::*;
pub use run::*;
pub use story::Story;
pub use subject::*;
pub use tenant::*;
pub use usage::*;

/// One `#[tokio::test]` for each promise, against the store that the expression makes. It may use `.await`.
#[macro_export]
macro_rules! suite {
    (@each $store:expr; $($promise:ident)*) => {$(
        #[tokio::test(flavor = "multi_thread")]
        async fn $promise() {
            let store = $store;
            $crate::conformance::$promise(&store).await;
        }
    )*};
    ($store:expr) => {
        $crate::suite! { @each $store;
            // event.rs
            a_working_store_is_ready
            an_unknown_run_is_empty
            an_event_reads_back_as_it_was_written
            events_are_read_in_order_past_a_place_and_up_to_a_limit
            whole_runs_are_read_in_the_order_that_they_are_asked_for
            a_stale_append_changes_nothing
            events_that_do_not_continue_the_run_are_refused
            all_of_a_commit_is_there_or_none_of_it
            // run.rs
            a_row_is_what_its_events_say
            runs_are_listed_newest_first_page_by_page
            a_list_shows_the_runs_that_its_filter_fits
            // log.rs
            an_empty_log_has_the_empty_root
            an_open_run_has_no_leaf
            a_run_is_proven_against_the_log_it_is_in
            a_second_leaf_binds_later_events
            a_feed_tells_of_each_leaf_with_what_is_new_in_it
            whoever_listens_hears_of_a_tenants_commits_and_of_no_others
            a_record_has_the_policies_its_events_name_and_no_others
            leaves_and_policies_are_listed_in_order_page_by_page
            // subject.rs
            what_is_about_a_subject_reads_back_as_it_was_written
            an_erased_subject_is_gone_and_its_chains_still_verify
            an_erasure_commits_with_its_record_or_not_at_all
            subjects_that_come_and_go_at_once_lose_nothing_else
            // retention.rs
            a_sealed_run_leaves_its_head_in_the_log
            a_run_that_went_on_is_not_sealed
            a_sealed_run_is_not_begun_again
            rows_made_again_are_equal_to_what_was_there
            // api_key.rs
            a_key_is_found_by_the_hash_of_its_token
            keys_are_listed_newest_first_page_by_page
            a_key_that_is_taken_back_is_so_at_once_and_once
            a_key_commits_with_its_record_or_not_at_all
            no_two_keys_share_an_id_or_a_token
            // cache.rs
            an_entry_serves_until_it_expires_and_a_newer_one_replaces_it
            an_answer_serves_while_its_run_is_there
            an_erased_subject_is_gone_from_the_cache
            what_served_is_counted
            only_what_a_filter_fits_is_taken_out
            a_kind_is_kept_near_its_bound_and_its_newest_stay
            entries_made_again_are_equal_to_what_was_there
            // usage.rs
            a_run_is_counted_once_when_it_ends
            no_claim_of_usage_is_too_large_to_be_counted
            concurrent_runs_are_all_counted
            agents_are_seen_when_their_runs_begin
            sums_made_again_are_equal_also_after_runs_were_given_up
            // conduct.rs
            what_an_agent_did_adds_up_day_by_day
            concurrent_deeds_are_all_counted
            conduct_made_again_is_equal_also_after_an_erasure_and_after_runs_were_given_up
            // record.rs
            a_record_is_found_by_its_id_its_group_and_its_key
            records_are_listed_last_first_page_by_page
            a_stale_change_of_a_record_changes_nothing
            concurrent_changes_of_a_record_let_one_through
            due_records_of_all_tenants_come_longest_due_first
            a_record_is_its_tenants_own
            // meter.rs
            a_reservation_holds_room_until_it_is_settled_released_or_expires
            a_hard_limit_is_in_the_way_of_all_and_a_soft_one_of_nothing
            what_is_settled_commits_with_its_run_or_not_at_all
            concurrent_reservers_fill_a_hard_limit_and_never_exceed_it
            old_windows_are_forgotten
            a_meter_is_its_tenants_own
            // tenant.rs
            a_subject_is_its_tenants_own
            a_key_is_its_tenants_own
            tenants_are_listed_in_order_with_the_default_one
            what_a_tenant_sets_replaces_what_it_had_set
            a_tenant_sees_nothing_of_another
            // race.rs
            concurrent_appends_to_one_run_let_one_through
            concurrent_commits_of_many_runs_lose_nothing
            a_refused_commit_takes_no_other_with_it
            concurrent_commits_make_one_job_of_a_key
            a_due_job_is_claimed_once
            // job.rs
            a_job_commits_with_its_events
            a_job_reads_back_as_it_was_written
            one_key_has_one_live_job
            priority_then_time_then_age_decide
            a_job_is_not_claimed_before_its_time
            only_the_kinds_asked_for_are_claimed
            next_due_is_the_earliest
            jobs_are_listed_by_state_page_by_page
            waiting_for_work_never_lasts_for_ever
            old_jobs_that_are_done_are_forgotten_but_for_the_newest
            // lease.rs
            a_lost_lease_is_claimed_again_with_a_higher_token
            an_old_token_finishes_nothing
            a_lease_can_be_extended_by_its_holder_only
            an_extension_never_shortens_a_lease
            a_retry_is_granted_even_on_the_last_attempt
            a_failed_job_waits_for_its_retry
            a_given_up_job_is_dead_and_can_be_requeued
            a_dead_job_is_not_requeued_beside_a_live_one
            a_lease_that_runs_out_on_the_last_attempt_is_dead
        }
    };
}
