//! The public pages: what is published, a form to submit, and a page to follow a submission by.

use askama::Template;
use http::{HeaderValue, Method, StatusCode, header};
use serde_json::{Map, Value};
use system::{Call, Need, Rate, Reply, Room, Route};
use wire::api::SubmitBody;
use wire::{Code, Refusal, SubmissionId};

use crate::registry::{IndexEntry, ReleaseEntry, SkillEntry};
use crate::routes::Place;

/// The most skills that the first page lists.
const LISTED_MAX: usize = 200;
/// The form's most bytes; the longest good one is far shorter.
const FORM_BYTES_MAX: usize = 8 << 10;
/// Nothing is loaded but the badge, and the form goes nowhere else.
const SECURITY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
);
/// A form of a person: a few a minute are plenty.
const OF_FORM: Need = Need::Public(Rate::per_minute(10));
const OF_PAGE: Need = Need::Public(Rate::per_second(10));

/// The fields of the form, as they were sent.
#[derive(Debug, Clone, Default)]
struct Form {
    repo_url: String,
    skill_name: String,
    skill_path: String,
    email: String,
}

#[derive(Template)]
#[template(path = "pages/index.html")]
struct IndexPage {
    skills: Vec<IndexEntry>,
    more: usize,
    form: Form,
    problem: String,
}

#[derive(Template)]
#[template(path = "pages/skill.html")]
struct SkillPage {
    skill: SkillEntry,
    /// The newest first.
    versions: Vec<ReleaseEntry>,
}

#[derive(Template)]
#[template(path = "pages/followed.html")]
struct FollowedPage {
    id: SubmissionId,
    state: &'static str,
    explanation: &'static str,
}

pub(crate) fn pages(place: &Place) -> Vec<Route> {
    let (list, form, skill) = (place.clone(), place.clone(), place.clone());
    let at = |path: &'static str| ((Method::GET, path), (OF_PAGE, Room::Page));
    let (index_at, door) = at("/skills/");
    let index = Route::new(index_at, door, "Skills", move |_: Call| {
        let shown = index(&list, Form::default(), String::new());
        async move { shown }
    });
    let submit_at = (Method::POST, "/skills/submit");
    let submit = Route::new(submit_at, (OF_FORM, Room::Request), "Submit a skill", move |call: Call| {
        let place = form.clone();
        async move { submit(&place, call).await }
    });
    let (skill_at, door) = at("/skills/skill/{id}");
    let skill = Route::new(skill_at, door, "A skill", move |call: Call| {
        let shown = skill_page(&skill, call.part("id"));
        async move { shown }
    });
    let (followed_at, door) = at("/skills/followed/{id}");
    let followed = Route::new(followed_at, door, "A submission", followed);
    vec![index, submit, skill, followed]
}

fn rendered(page: &impl Template) -> Result<Reply, Refusal> {
    let html = page.render().map_err(|error| Refusal::new(Code::Unavailable, error.to_string()))?;
    let mut reply = Reply::html(html);
    reply.headers.insert(header::CONTENT_SECURITY_POLICY, SECURITY);
    Ok(reply)
}

fn index(place: &Place, form: Form, problem: String) -> Result<Reply, Refusal> {
    let mut skills = place.registry()?.index().map_err(unavailable)?.skills;
    skills.sort_by(|a, b| a.name.cmp(&b.name));
    let more = skills.len().saturating_sub(LISTED_MAX);
    skills.truncate(LISTED_MAX);
    rendered(&IndexPage { skills, more, form, problem })
}

fn skill_page(place: &Place, id: &str) -> Result<Reply, Refusal> {
    let skill = place.registry()?.skill(id).map_err(unavailable)?;
    let skill = skill.ok_or_else(|| Refusal::new(Code::UnknownRoute, "there is no such skill"))?;
    let versions = skill.versions.iter().rev().cloned().collect();
    rendered(&SkillPage { skill, versions })
}

fn unavailable(error: crate::registry::Error) -> Refusal {
    Refusal::new(Code::Unavailable, error.to_string())
}

/// Submits what the form says. What is refused comes back in the form, with the reason.
async fn submit(place: &Place, call: Call) -> Result<Reply, Refusal> {
    if call.body.len() > FORM_BYTES_MAX {
        return Err(Refusal::new(Code::InvalidRequest, "the form is longer than any good one"));
    }
    let form = Form::read(&call.body);
    let body = SubmitBody { payload: form.payload().into(), ..SubmitBody::default() };
    match call.client.submit("skill-review", &body, None).await {
        Ok(made) => {
            let mut reply = Reply::text("").with_status(StatusCode::SEE_OTHER);
            let to = HeaderValue::try_from(format!("/skills/followed/{}", made.id));
            reply
                .headers
                .insert(header::LOCATION, to.map_err(|_| Refusal::new(Code::Unavailable, "no address"))?);
            Ok(reply)
        }
        Err(client::Error::Problem(problem)) if problem.status < 500 => {
            Ok(index(place, form, problem.detail)?.with_status(StatusCode::UNPROCESSABLE_ENTITY))
        }
        Err(error) => Err(Refusal::new(Code::Unavailable, error.to_string())),
    }
}

impl Form {
    fn read(body: &[u8]) -> Form {
        let mut form = Form::default();
        for (name, value) in url::form_urlencoded::parse(body) {
            let field = match &*name {
                "repo_url" => &mut form.repo_url,
                "skill_name" => &mut form.skill_name,
                "skill_path" => &mut form.skill_path,
                "email" => &mut form.email,
                _ => continue,
            };
            value.trim().clone_into(field);
        }
        form
    }

    /// Returns the payload: a field that is empty was not filled in.
    fn payload(&self) -> Value {
        let Form { repo_url, skill_name, skill_path, email } = self;
        let fields = [
            ("repo_url", repo_url),
            ("skill_name", skill_name),
            ("skill_path", skill_path),
            ("email", email),
        ];
        let filled = fields.into_iter().filter(|(_, value)| !value.is_empty());
        Value::Object(
            filled.map(|(name, value)| (name.to_owned(), Value::from(value.as_str()))).collect::<Map<_, _>>(),
        )
    }
}

/// Tells how far a submission is, and nothing else of it: whoever has its number need not be who submitted it.
async fn followed(call: Call) -> Result<Reply, Refusal> {
    let missing = || Refusal::new(Code::UnknownSubmission, "there is no such submission");
    let id: SubmissionId = call.part("id").parse().map_err(|_| missing())?;
    let submission = match call.client.submission(id).await {
        Ok(submission) if &*submission.pipeline == "skill-review" => submission,
        Ok(_) => return Err(missing()),
        Err(error) => return crate::audit::problem(error),
    };
    let (state, explanation) = told(&submission.state);
    rendered(&FollowedPage { id, state, explanation })
}

/// Returns a state in the words of whoever submitted.
fn told(state: &str) -> (&'static str, &'static str) {
    match state {
        "PUBLISHED" => ("Published", "The skill is in the registry."),
        "REJECTED" | "TIER1_FAILED" => {
            ("Not approved", "Run `milepost skills scan` on the skill to see what the rules say of it.")
        }
        "NEEDS_REVIEW" | "TIER3_REVIEW" => {
            ("With a person", "The skill was scanned, and a person will decide.")
        }
        _ => ("Being looked at", "This mostly takes less than a minute."),
    }
}
