//! The words of the HTTP contract, once, for the server that answers and the clients that ask.
//!
//! Names and shapes are the API; a change here is a change for every user. Unknown fields are refused on the way in, so
//! that a misspelt one is never ignored, and tolerated on the way out, so that an older client reads a newer server.

mod action;
mod audit;
mod delivery;
mod difference;
mod endpoint;
mod entry;
mod feed;
mod figures;
mod find;
mod hold;
mod operation;
mod pipeline;
mod problem;
mod review;
mod stats;
mod submission;
mod task;
mod token;
mod why;

pub use action::{ActionView, ActionsAnswer, DeedView, FormView, TargetView};
pub use audit::{ActActor, ActPage, ActView, AuditView, ForkBody, LogKeyAnswer, LogKeyBody, WitnessView};
pub use delivery::{DeliveryPage, DeliveryView};
pub use difference::{Difference, What};
pub use endpoint::{EndpointBody, EndpointGiven, EndpointList, EndpointView};
pub use entry::{EntryBody, EntryChangeBody, EntryPage, EntryView};
pub use feed::{CursorBody, CursorList, CursorView, FeedPage};
pub use figures::{
    BlockerView, DeadView, DwellView, EdgeView, FiguresView, FlowView, LaneLine, LanePage, LimitView,
    OldestView, PercentilesView, StoreView, UnknownTaskView, UnpolledView,
};
pub use find::FindAnswer;
pub use hold::{HoldBody, HoldList, HoldView};
pub use operation::{OperationBody, OperationList, OverduePage, ResultPage, ResultView};
pub use pipeline::{
    ApplyAnswer, ApplyBody, DefinitionView, FileProblem, KeptVersion, PipelineList, PipelineView,
    RetireAnswer, RetireBody, ScheduleView, StateCount, StateView,
};
pub use problem::Problem;
pub use review::{ClaimReviewBody, HandOverBody, NoteBody, ReviewPage};
pub use stats::{
    ClockView, DutyView, InvestigationCount, PlaceCount, ReceivedView, ServerList, ServerView,
    ServiceLevelView, StatsView, VerdictView, WindowView, WorkerList, WorkerView,
};
pub use submission::{
    AcknowledgeBody, ActBody, AttemptEnd, AttemptView, EventPage, EventView, LaneView, LeaseView, ManyAnswer,
    ManyResult, RedriveBody, SlaView, SubmissionPage, SubmissionView, SubmitAnswer, SubmitBody, SubmitMany,
};
pub use task::{
    ChildBody, ClaimAnswer, ClaimBody, ErrorBody, FailBody, FinishBody, GiveBackBody, RenewBody, SEALED,
    SettleAnswer, SettleResult, SnoozeBody, SpawnBody, TaskView, Tasks,
};
pub use token::{RotateBody, Secret, TokenBody, TokenGiven, TokenList, TokenView};
pub use why::{Held, Reason, WhyAnswer};
