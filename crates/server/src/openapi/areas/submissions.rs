use model::Code;
use wire::api::{
    AcknowledgeBody, ActBody, ActionsAnswer, ClaimReviewBody, EventPage, FindAnswer, HandOverBody,
    ManyAnswer, NoteBody, OverduePage, RedriveBody, ReviewPage, SubmissionPage, SubmissionView, SubmitAnswer,
    SubmitBody, SubmitMany, WhyAnswer,
};

use crate::openapi::call::{Call, JSON, get, post};
use crate::openapi::shape::refer;
use crate::openapi::words::{self, Piece, either};

pub(super) fn calls() -> Vec<Call> {
    let mut calls = looking();
    calls.extend(changing());
    calls
}

/// Adds the filters that submissions are found by.
fn filters(call: Call) -> Call {
    call.query("pipeline", words::pipeline(), "Of this pipeline.")
        .query("state", words::state(), "In this state.")
        .query(
            "key",
            words::wanted(),
            "That have this key: its holder, those that wait for it, those that ended.",
        )
        .query("id", words::beginning(), "Whose id begins like this.")
        .label_filters()
        .query("parent", words::id(), "That are children of this submission.")
        .query("lane", words::wanted(), "That hold this lane or are in line for it.")
        .query("created_before", words::time(), "Created before this time.")
        .query("created_after", words::time(), "Created at this time or later.")
        .query("entered_before", words::time(), "In their state since before this time.")
        .query("error", words::wanted(), "Whose last error has this code.")
        .query("fingerprint", words::fingerprint(), "Whose last error has this fingerprint.")
        .query("worker", words::wanted(), "That this worker has leased.")
        .refuses(&[Code::UnknownPipeline])
}

fn page(call: Call) -> Call {
    call.pages(words::id()).gives::<SubmissionPage>(200, "A page of submissions, without their documents.")
}

/// Adds the filters that lists of one status do not have.
fn statuses(call: Call) -> Call {
    call.query("status", words::status(), "").query(
        "investigation",
        words::investigation(),
        "That ended where somebody should look into it, and how far that has come.",
    )
}

fn looking() -> Vec<Call> {
    let lists = vec![
        page(filters(statuses(
            get("/v1/submissions", "list_submissions", "Submissions, newest first").details(
                "Every filter that is given must hold. A pipeline or state that does not exist is refused. A page that is \
                 narrowed by `entered_before`, `error`, `fingerprint` or `worker` passes over so many submissions at most: it may have none and \
                 a `next`.",
            ),
        ))),
        filters(statuses(get("/v1/export/submissions", "export_submissions", "All submissions that a filter finds")))
            .details("Newest first, without their documents, sent as they are read. An answer that breaks off is not whole.")
            .query("format", words::one_of(&["jsonl", "csv"]), "JSON lines, or CSV; `jsonl` unless it is given.")
            .gives_as(200, &["application/x-ndjson", "text/csv"], Some(words::text()), "A submission a line."),
        get("/v1/find", "find", "The submissions that a text may mean")
            .details("An id or the beginning of one (of four letters at least), a key, or `PIPELINE/KEY`.")
            .must("text", words::wanted(), "What somebody has at hand.")
            .gives::<FindAnswer>(200, "The one that is meant, if it is clear, and the first candidates."),
        page(filters(
            get("/v1/investigations", "list_investigations", "Ends that somebody should look into, newest first")
                .details("Those that nobody has acknowledged; the others are submissions with `investigation=acknowledged`.")
                .query("status", words::status(), ""),
        )),
        page(filters(get("/v1/dead", "list_dead", "Dead letters, newest first"))),
    ];
    lists.into_iter().chain(looking_at()).collect()
}

fn looking_at() -> Vec<Call> {
    vec![
        get("/v1/reviews", "list_reviews", "What waits for a person, the first due first")
            .details("Due as its first service level says; without one, since it waits.")
            .query("pipeline", words::pipeline(), "Of this pipeline.")
            .query("role", words::role(), "What this role is asked to review.")
            .query(
                "whose",
                words::one_of(&["all", "unassigned", "mine"]),
                "Those that nobody has taken on, or the caller's own.",
            )
            .query("limit", words::limit(), "At most so many.")
            .query("after", place(), "The `next` of the page before.")
            .gives::<ReviewPage>(200, "A page of submissions, without their documents.")
            .refuses(&[Code::UnknownPipeline]),
        get("/v1/overdue", "list_overdue", "What has missed a service level, the longest ago first")
            .query("pipeline", words::pipeline(), "Of this pipeline.")
            .query("limit", words::limit(), "At most so many.")
            .query("after", place(), "The `next` of the page before.")
            .gives::<OverduePage>(200, "A page of submissions, without their documents.")
            .refuses(&[Code::UnknownPipeline]),
        get("/v1/submissions/{id}", "show_submission", "One submission with its documents")
            .gives::<SubmissionView>(200, "The submission.")
            .etag()
            .with("Content-Location", words::spelled("^/v1/submissions/"), "Where the submission itself is.")
            .refuses(&[Code::UnknownSubmission, Code::Refused]),
        get("/v1/submissions/{id}/events", "list_events", "Everything that happened to it, oldest first")
            .query("by", words::one_of(&["people"]), "Only what people decided and wrote. A page may have none.")
            .pages(words::position())
            .gives::<EventPage>(200, "A page of events.")
            .refuses(&[Code::UnknownSubmission]),
        get("/v1/submissions/{id}/why", "explain", "Every reason it is not moving")
            .gives::<WhyAnswer>(200, "The reasons: at least one.")
            .refuses(&[Code::UnknownSubmission]),
        get("/v1/submissions/{id}/actions", "list_actions", "What the caller may do with it now")
            .details("Each action with its form, and why the others are not open: what trying it would be answered. What depends on data that are not given yet is left open.")
            .gives::<ActionsAnswer>(200, "The actions of its state, then those of other states.")
            .etag()
            .refuses(&[Code::UnknownSubmission]),
        get("/v1/submissions/{id}/drawing", "draw", "Its machine, with the way it took and where it is")
            .gives_as(200, &["image/svg+xml"], Some(words::text()), "The drawing.")
            .refuses(&[Code::UnknownSubmission]),
        get(
            "/v1/submissions/{id}/evidence",
            "evidence",
            "Everything a third party needs to check what happened",
        )
        .details("As of the published checkpoint, which is waited for if it is about to come.")
        .query("documents", words::one_of(&["none"]), "Without payloads, outputs and metadata.")
        .query(
            "known",
            words::position(),
            "The size of a checkpoint you have: prove that the log has gone on from it.",
        )
        .gives_as(200, &[JSON], Some(words::object()), "The evidence. Keep the bytes as they are.")
        .refuses(&[Code::UnknownSubmission, Code::NoLog, Code::NotProven, Code::FeedRetired]),
    ]
}

/// Describes a place in the list of overdue submissions: when a service level was missed, and by whom.
fn place() -> Piece {
    let (date, time) =
        ("[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])", "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]");
    let id = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}";
    words::spelled(&format!(r"^{date}T{time}(\.[0-9]{{1,9}})?Z/{id}$"))
}

fn changing() -> Vec<Call> {
    let one = || refer::<SubmitAnswer>();
    vec![
        post("/v1/pipelines/{pipeline}/submissions", "submit", "Submit to the newest version, one or many")
            .details("Of many, each has its own result and status. A call takes up to 1,000 in up to 4 MB.")
            .takes_as(&[JSON], either([refer::<SubmitBody>(), refer::<SubmitMany>()]))
            .gives_as(201, &[JSON], Some(one()), "The submission.")
            .with("Location", words::spelled("^/v1/submissions/"), "Where it is from now on.")
            .etag()
            .gives_as(
                200,
                &[JSON],
                Some(either([one(), refer::<ManyAnswer>()])),
                "An open submission with the same key stands for it; or the results of many.",
            )
            .header("traceparent", words::text(), "The trace it is part of; what is none is not looked at.")
            .header("tracestate", words::text(), "")
            .once()
            .proof()
            .refuses(&[Code::UnknownPipeline, Code::DuplicateKey, Code::KeyConflict])
            .refuses(&[Code::ReasonRequired, Code::NotAdmitted])
            .refuses(&[Code::SchemaViolation, Code::GuardError, Code::KeyMismatch]),
        post("/v1/submissions/{id}/actions/{action}", "act", "Make a move that people make")
            .details("The role is that of the action. The body may be left out.")
            .may_take::<ActBody>()
            .once()
            .if_match()
            .proof()
            .gives::<SubmissionView>(200, "The submission, without its documents.")
            .etag()
            .refuses(&[
                Code::UnknownSubmission,
                Code::ActionNotAllowed,
                Code::GuardNotMet,
                Code::SelfApproval,
                Code::NotSubmitter,
                Code::ReviewTaken,
            ])
            .refuses(&[Code::ReasonRequired, Code::SchemaViolation, Code::PickRequired, Code::GuardError])
            .refuses(&[Code::LaneTaken, Code::DuplicateKey, Code::Erased]),
        post("/v1/submissions/{id}/amend", "amend", "Change the payload by a merge patch")
            .details(
                "The pipeline says which fields may change and who may do it; key and lane never change.",
            )
            .takes_as(&[JSON, "application/merge-patch+json"], words::object())
            .once()
            .if_match()
            .proof()
            .gives::<SubmissionView>(200, "The submission, without its documents.")
            .etag()
            .refuses(&[Code::UnknownSubmission, Code::NotAmendable, Code::Erased])
            .refuses(&[Code::SchemaViolation, Code::GuardError]),
        post(
            "/v1/submissions/{id}/acknowledge",
            "acknowledge",
            "Say that somebody has looked into how it ended",
        )
        .details("The state says who may do it: an admin where it names no other role.")
        .may_take::<AcknowledgeBody>()
        .once()
        .if_match()
        .proof()
        .gives::<SubmissionView>(200, "The submission, without its documents.")
        .etag()
        .refuses(&[Code::UnknownSubmission, Code::NothingToAcknowledge]),
        post("/v1/submissions/{id}/review/claim", "claim_review", "Take a review on, or keep it for longer")
            .details("Until its time is over nobody else acts on the submission but admins, and its submitter where an action is only theirs. An approval lets it go.")
            .may_take::<ClaimReviewBody>()
            .once()
            .if_match()
            .proof()
            .gives::<SubmissionView>(200, "The submission, without its documents.")
            .etag()
            .refuses(&[Code::UnknownSubmission, Code::NotInReview, Code::ReviewTaken]),
        post("/v1/submissions/{id}/review/hand-over", "hand_over_review", "Give a review to somebody else")
            .details("Whoever has it may, whoever may review where nobody has it, and admins.")
            .takes::<HandOverBody>()
            .once()
            .if_match()
            .proof()
            .gives::<SubmissionView>(200, "The submission, without its documents.")
            .etag()
            .refuses(&[Code::UnknownSubmission, Code::NotInReview, Code::ReviewTaken]),
        post("/v1/submissions/{id}/review/release", "release_review", "Let a review go")
            .details("Nothing changes where nobody has it.")
            .once()
            .if_match()
            .proof()
            .gives::<SubmissionView>(200, "The submission, without its documents.")
            .etag()
            .refuses(&[Code::UnknownSubmission, Code::NotInReview, Code::ReviewTaken]),
        post("/v1/submissions/{id}/notes", "write_note", "Write down what others should know")
            .details("An event of kind `noted`, in whatever state; nothing else changes. Up to 500 for a submission.")
            .takes::<NoteBody>()
            .once()
            .if_match()
            .proof()
            .gives::<SubmissionView>(200, "The submission, without its documents.")
            .etag()
            .refuses(&[Code::UnknownSubmission]),
        post("/v1/submissions/{id}/redrive", "redrive", "Set a dead letter going again")
            .may_take::<RedriveBody>()
            .gives::<SubmissionView>(200, "The submission, without its documents.")
            .etag()
            .refuses(&[
                Code::UnknownSubmission,
                Code::NotDead,
                Code::LaneTaken,
                Code::GuardError,
                Code::Erased,
            ]),
    ]
}
