//! The public form and pages.

use serde_json::json;

use crate::ground::Ground;
use crate::support::skill;

#[tokio::test]
async fn a_skill_is_submitted_by_the_form_followed_and_shown() {
    let ground = Ground::new(None).await;
    ground.host.repository("openai/skills").write("skills/pdf/SKILL.md", &skill("Reads forms.")).commit();
    let form = "repo_url=https%3A%2F%2Fgithub.com%2Fopenai%2Fskills&skill_name=pdf&skill_path=&email=";
    let (status, followed, text) = ground.send_form("/skills/submit", form).await;
    assert_eq!(status, 303, "{text}");
    let id = followed.strip_prefix("/skills/followed/").unwrap().parse().unwrap();
    assert_eq!(&*ground.rest(id).await.submission.state, "PUBLISHED");
    let audit = ground.audit(id).await;
    assert_eq!((&audit[0]["trigger"], &audit[0]["actor"]), (&json!("web-form"), &json!("system")));
    assert!(ground.get(&followed).await.1.contains("<strong>Published</strong>"));
    let (_, list) = ground.get("/skills/").await;
    let skill = list.split("/skills/skill/").nth(1).unwrap().split('"').next().unwrap();
    let (status, page) = ground.get(&format!("/skills/skill/{skill}")).await;
    assert!(
        status == 200 && page.contains("1.0.0") && page.contains("Reads forms and fills them in."),
        "{page}"
    );
    assert_eq!(ground.get("/skills/skill/sk_0000000000000000").await.0, 404);
    assert_eq!(ground.get("/skills/followed/0192f0c1-2345-7abc-8def-0123456789ab").await.0, 404);
}

#[tokio::test]
async fn a_form_that_is_refused_comes_back_filled_in_and_harmless() {
    let ground = Ground::new(None).await;
    let form = "repo_url=http%3A%2F%2F%22%3E%3Cscript%3E&skill_name=pdf&more=1";
    let (status, _, text) = ground.send_form("/skills/submit", form).await;
    assert_eq!(status, 422);
    assert!(
        text.contains("role=\"alert\"") && text.contains("value=\"pdf\"") && !text.contains("<script>"),
        "{text}"
    );
    let (status, _, _) = ground.send_form("/skills/submit", &"a".repeat(10_000)).await;
    assert_eq!(status, 400);
}
