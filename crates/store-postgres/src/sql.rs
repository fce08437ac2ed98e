//! Every query, one a file: where another store asks the same, its file has the same name.

pub(crate) const ANSWER_GET: &str = include_str!("sql/answer_get.sql");
pub(crate) const ANSWER_SET: &str = include_str!("sql/answer_set.sql");
pub(crate) const ANSWER_SWEEP: &str = include_str!("sql/answer_sweep.sql");
pub(crate) const BACKUP_LAST: &str = include_str!("sql/backup_last.sql");
pub(crate) const BATCH_INSERT: &str = include_str!("sql/batch_insert.sql");
pub(crate) const BATCH_SEQUENCE: &str = include_str!("sql/batch_sequence.sql");
pub(crate) const CLOCK: &str = include_str!("sql/clock.sql");
pub(crate) const COUNTER_ADD: &str = include_str!("sql/counter_add.sql");
pub(crate) const COUNTER_ALL: &str = include_str!("sql/counter_all.sql");
pub(crate) const DEAD_ADD: &str = include_str!("sql/dead_add.sql");
pub(crate) const DEAD_CLEAR: &str = include_str!("sql/dead_clear.sql");
pub(crate) const DEAD_PAGE: &str = include_str!("sql/dead_page.sql");
pub(crate) const DOCUMENT_ALL: &str = include_str!("sql/document_all.sql");
pub(crate) const DOCUMENT_ERASE: &str = include_str!("sql/document_erase.sql");
pub(crate) const DOCUMENT_SET: &str = include_str!("sql/document_set.sql");
pub(crate) const DOCUMENT_WITHIN: &str = include_str!("sql/document_within.sql");
pub(crate) const EVENT_ACT: &str = include_str!("sql/event_act.sql");
pub(crate) const EVENT_BOUNDS: &str = include_str!("sql/event_bounds.sql");
pub(crate) const EVENT_DETAIL: &str = include_str!("sql/event_detail.sql");
pub(crate) const EVENT_HISTORY: &str = include_str!("sql/event_history.sql");
pub(crate) const EVENT_INSERT: &str = include_str!("sql/event_insert.sql");
pub(crate) const EVENT_LEAVES: &str = include_str!("sql/event_leaves.sql");
pub(crate) const EVENT_PAGE: &str = include_str!("sql/event_page.sql");
pub(crate) const EVENT_RETIRE: &str = include_str!("sql/event_retire.sql");
pub(crate) const EVENT_SET_DETAIL: &str = include_str!("sql/event_set_detail.sql");
pub(crate) const FIND_BY_HELD_KEY: &str = include_str!("sql/find_by_held_key.sql");
pub(crate) const FIND_BY_KEY: &str = include_str!("sql/find_by_key.sql");
pub(crate) const FIND_BY_LABEL: &str = include_str!("sql/find_by_label.sql");
pub(crate) const FIND_BY_LANE: &str = include_str!("sql/find_by_lane.sql");
pub(crate) const FIND_BY_PARENT: &str = include_str!("sql/find_by_parent.sql");
pub(crate) const FIND_BY_PLACE: &str = include_str!("sql/find_by_place.sql");
pub(crate) const FIND_EVERY: &str = include_str!("sql/find_every.sql");
pub(crate) const GATE_LOCK: &str = include_str!("sql/gate_lock.sql");
pub(crate) const GATE_SHARE: &str = include_str!("sql/gate_share.sql");
pub(crate) const GATE_SHARE_NOW: &str = include_str!("sql/gate_share_now.sql");
pub(crate) const INBOX_DELETE: &str = include_str!("sql/inbox_delete.sql");
pub(crate) const INBOX_FIRST: &str = include_str!("sql/inbox_first.sql");
pub(crate) const INBOX_INSERT: &str = include_str!("sql/inbox_insert.sql");
pub(crate) const INBOX_PAGE: &str = include_str!("sql/inbox_page.sql");
pub(crate) const KEY_WAIT_DELETE: &str = include_str!("sql/key_wait_delete.sql");
pub(crate) const KEY_WAIT_FIRST: &str = include_str!("sql/key_wait_first.sql");
pub(crate) const KEY_WAIT_INSERT: &str = include_str!("sql/key_wait_insert.sql");
pub(crate) const LABEL_DELETE: &str = include_str!("sql/label_delete.sql");
pub(crate) const LABEL_INSERT: &str = include_str!("sql/label_insert.sql");
pub(crate) const LANE_HOLDER_DELETE: &str = include_str!("sql/lane_holder_delete.sql");
pub(crate) const LANE_HOLDER_INSERT: &str = include_str!("sql/lane_holder_insert.sql");
pub(crate) const LANE_LINE_DELETE: &str = include_str!("sql/lane_line_delete.sql");
pub(crate) const LANE_LINE_FIRST: &str = include_str!("sql/lane_line_first.sql");
pub(crate) const LANE_LINE_INSERT: &str = include_str!("sql/lane_line_insert.sql");
pub(crate) const LANE_NEXT: &str = include_str!("sql/lane_next.sql");
pub(crate) const LANE_VIEW: &str = include_str!("sql/lane_view.sql");
pub(crate) const LATE_DELETE: &str = include_str!("sql/late_delete.sql");
pub(crate) const LATE_INSERT: &str = include_str!("sql/late_insert.sql");
pub(crate) const LATE_PAGE: &str = include_str!("sql/late_page.sql");
pub(crate) const META_INSERT: &str = include_str!("sql/meta_insert.sql");
pub(crate) const META_VALUE: &str = include_str!("sql/meta_value.sql");
pub(crate) const OPEN_KEY_DELETE: &str = include_str!("sql/open_key_delete.sql");
pub(crate) const OPEN_KEY_HOLDER: &str = include_str!("sql/open_key_holder.sql");
pub(crate) const OPEN_KEY_INSERT: &str = include_str!("sql/open_key_insert.sql");
pub(crate) const OWED_CHECK: &str = include_str!("sql/owed_check.sql");
pub(crate) const OWED_DELETE: &str = include_str!("sql/owed_delete.sql");
pub(crate) const OWED_FIRST: &str = include_str!("sql/owed_first.sql");
pub(crate) const OWED_INSERT: &str = include_str!("sql/owed_insert.sql");
pub(crate) const PARENT_DELETE: &str = include_str!("sql/parent_delete.sql");
pub(crate) const PARENT_INSERT: &str = include_str!("sql/parent_insert.sql");
pub(crate) const PARKED_DELETE: &str = include_str!("sql/parked_delete.sql");
pub(crate) const PARKED_FIRST: &str = include_str!("sql/parked_first.sql");
pub(crate) const PARKED_INSERT: &str = include_str!("sql/parked_insert.sql");
pub(crate) const PARKED_NEXT: &str = include_str!("sql/parked_next.sql");
pub(crate) const PAST_KEY_DELETE: &str = include_str!("sql/past_key_delete.sql");
pub(crate) const PAST_KEY_INSERT: &str = include_str!("sql/past_key_insert.sql");
pub(crate) const PLACE_DELETE: &str = include_str!("sql/place_delete.sql");
pub(crate) const PLACE_INSERT: &str = include_str!("sql/place_insert.sql");
pub(crate) const PLACE_ROWS: &str = include_str!("sql/place_rows.sql");
pub(crate) const PLACE_OLDEST: &str = include_str!("sql/place_oldest.sql");
pub(crate) const READY_DELETE: &str = include_str!("sql/ready_delete.sql");
pub(crate) const READY_INSERT: &str = include_str!("sql/ready_insert.sql");
pub(crate) const READY_LABEL_DELETE: &str = include_str!("sql/ready_label_delete.sql");
pub(crate) const READY_LABEL_INSERT: &str = include_str!("sql/ready_label_insert.sql");
pub(crate) const READY_LABEL_PAGE: &str = include_str!("sql/ready_label_page.sql");
pub(crate) const READY_PAGE: &str = include_str!("sql/ready_page.sql");
pub(crate) const REGISTRY_BACK: &str = include_str!("sql/registry_back.sql");
pub(crate) const REGISTRY_DELETE: &str = include_str!("sql/registry_delete.sql");
pub(crate) const REGISTRY_GET: &str = include_str!("sql/registry_get.sql");
pub(crate) const REGISTRY_PAGE: &str = include_str!("sql/registry_page.sql");
pub(crate) const REGISTRY_SET: &str = include_str!("sql/registry_set.sql");
pub(crate) const SCHEMA: &str = include_str!("sql/schema.sql");
pub(crate) const SCHEMA_INBOX: &str = include_str!("sql/schema_inbox.sql");
pub(crate) const SCHEMA_BACKUP: &str = include_str!("sql/schema_backup.sql");
pub(crate) const SCHEMA_DEAD_KIND: &str = include_str!("sql/schema_dead_kind.sql");
pub(crate) const SCHEMA_PAST_KEY: &str = include_str!("sql/schema_past_key.sql");
pub(crate) const SCHEMA_SEQUENCE: &str = include_str!("sql/schema_sequence.sql");
pub(crate) const SESSION: &str = include_str!("sql/session.sql");
pub(crate) const SLOT_DELETE: &str = include_str!("sql/slot_delete.sql");
pub(crate) const SLOT_INSERT: &str = include_str!("sql/slot_insert.sql");
pub(crate) const SLOT_PAGE: &str = include_str!("sql/slot_page.sql");
pub(crate) const SLOT_TAKEN: &str = include_str!("sql/slot_taken.sql");
pub(crate) const STORE_BYTES: &str = include_str!("sql/store_bytes.sql");
pub(crate) const SUBMISSION_AFTER: &str = include_str!("sql/submission_after.sql");
pub(crate) const SUBMISSION_BY_ID: &str = include_str!("sql/submission_by_id.sql");
pub(crate) const SUBMISSION_CHECK: &str = include_str!("sql/submission_check.sql");
pub(crate) const SUBMISSION_DELETE: &str = include_str!("sql/submission_delete.sql");
pub(crate) const SUBMISSION_INSERT: &str = include_str!("sql/submission_insert.sql");
pub(crate) const SUBMISSION_LINK: &str = include_str!("sql/submission_link.sql");
pub(crate) const SUBMISSION_LOCK: &str = include_str!("sql/submission_lock.sql");
pub(crate) const SUBMISSION_LOCK_FREE: &str = include_str!("sql/submission_lock_free.sql");
pub(crate) const SUBMISSION_UPDATE: &str = include_str!("sql/submission_update.sql");
pub(crate) const TILE_GET: &str = include_str!("sql/tile_get.sql");
pub(crate) const TILE_SET: &str = include_str!("sql/tile_set.sql");
pub(crate) const TIMER_DELETE: &str = include_str!("sql/timer_delete.sql");
pub(crate) const TIMER_FIRST: &str = include_str!("sql/timer_first.sql");
pub(crate) const TIMER_INSERT: &str = include_str!("sql/timer_insert.sql");
pub(crate) const TIP_GET: &str = include_str!("sql/tip_get.sql");
pub(crate) const TIP_SET: &str = include_str!("sql/tip_set.sql");

/// The queries that a connection for reading prepares before it is used.
pub(crate) const READS: &[&str] = &[
    BACKUP_LAST,
    BATCH_SEQUENCE,
    COUNTER_ALL,
    DEAD_PAGE,
    DOCUMENT_ALL,
    EVENT_ACT,
    EVENT_BOUNDS,
    EVENT_HISTORY,
    EVENT_LEAVES,
    EVENT_PAGE,
    FIND_BY_HELD_KEY,
    FIND_BY_KEY,
    FIND_BY_LABEL,
    FIND_BY_LANE,
    FIND_BY_PARENT,
    FIND_BY_PLACE,
    FIND_EVERY,
    LANE_LINE_FIRST,
    LANE_NEXT,
    LATE_PAGE,
    PARKED_NEXT,
    PLACE_OLDEST,
    REGISTRY_BACK,
    REGISTRY_PAGE,
    SLOT_PAGE,
    STORE_BYTES,
    SUBMISSION_BY_ID,
    TILE_GET,
];

/// The queries that a connection for transactions prepares before it is used.
pub(crate) const WRITES: &[&str] = &[
    ANSWER_GET,
    ANSWER_SET,
    ANSWER_SWEEP,
    BATCH_INSERT,
    BATCH_SEQUENCE,
    CLOCK,
    COUNTER_ADD,
    DEAD_ADD,
    DEAD_CLEAR,
    DOCUMENT_ALL,
    DOCUMENT_ERASE,
    DOCUMENT_WITHIN,
    DOCUMENT_SET,
    EVENT_BOUNDS,
    EVENT_DETAIL,
    EVENT_INSERT,
    EVENT_RETIRE,
    EVENT_SET_DETAIL,
    GATE_LOCK,
    GATE_SHARE,
    GATE_SHARE_NOW,
    INBOX_DELETE,
    INBOX_FIRST,
    INBOX_INSERT,
    INBOX_PAGE,
    KEY_WAIT_DELETE,
    KEY_WAIT_FIRST,
    KEY_WAIT_INSERT,
    LABEL_DELETE,
    LABEL_INSERT,
    LANE_HOLDER_DELETE,
    LANE_HOLDER_INSERT,
    LANE_LINE_DELETE,
    LANE_LINE_INSERT,
    LANE_VIEW,
    LATE_DELETE,
    LATE_INSERT,
    OPEN_KEY_DELETE,
    OPEN_KEY_HOLDER,
    OPEN_KEY_INSERT,
    OWED_CHECK,
    OWED_DELETE,
    OWED_FIRST,
    OWED_INSERT,
    PARENT_DELETE,
    PARENT_INSERT,
    PARKED_DELETE,
    PARKED_FIRST,
    PARKED_INSERT,
    PAST_KEY_DELETE,
    PAST_KEY_INSERT,
    PLACE_DELETE,
    PLACE_INSERT,
    READY_DELETE,
    READY_INSERT,
    READY_LABEL_DELETE,
    READY_LABEL_INSERT,
    READY_LABEL_PAGE,
    READY_PAGE,
    REGISTRY_DELETE,
    REGISTRY_GET,
    REGISTRY_SET,
    SLOT_DELETE,
    SLOT_INSERT,
    SLOT_TAKEN,
    SUBMISSION_BY_ID,
    SUBMISSION_CHECK,
    SUBMISSION_DELETE,
    SUBMISSION_INSERT,
    SUBMISSION_LINK,
    SUBMISSION_LOCK,
    SUBMISSION_LOCK_FREE,
    SUBMISSION_UPDATE,
    TILE_SET,
    TIMER_DELETE,
    TIMER_FIRST,
    TIMER_INSERT,
    TIP_GET,
    TIP_SET,
];
