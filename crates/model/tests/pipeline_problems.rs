//! The problems of pipeline files, and how they are told.
// size: one table, a row for each mistake the checker finds; splitting it would hide which are missing

use model::pipeline::{Problems, Source, load};

/// A pipeline without problems, to which a test adds one.
const TOP: &str = r#"name = "minimal"
version = 1
labels = { kind = "payload.kind" }
start = "WORK"
"#;
const TABLES: &str = r#"
[params]
least = 3
[states.WORK]
task = "minimal.work"
on.good = "DONE"
on.bad = "FAILED"
[states.DONE]
final = "success"
[states.FAILED]
final = "failure"
"#;

fn problems_of(source: &Source) -> Problems {
    load(source).err().unwrap_or_default()
}

fn codes(toml: &str) -> Vec<&'static str> {
    problems_of(&Source::new("test.toml", toml)).iter().map(|problem| problem.code).collect()
}

/// The minimal pipeline with more at its top level and more tables.
fn with(top: &str, tables: &str) -> String {
    format!("{TOP}{top}\n{TABLES}{tables}\n")
}

/// The minimal pipeline with one thing replaced.
fn replaced(from: &str, to: &str) -> String {
    let whole = with("", "");
    assert!(whole.contains(from), "{from}");
    whole.replacen(from, to, 1)
}

#[track_caller]
fn assert_codes(toml: &str, expected: &[&str]) {
    let found = codes(toml);
    assert_eq!(
        found,
        expected,
        "\n{}",
        problems_of(&Source::new("test.toml", toml)).render(&Source::new("t", toml))
    );
}

#[test]
fn minimal_pipeline_has_no_problem() {
    assert_codes(&with("", ""), &[]);
    assert!(load(&Source::new("test.toml", with("", ""))).is_ok());
}

#[test]
fn top_level_is_checked() {
    assert_codes("", &["missing-key", "missing-key", "missing-key", "missing-key"]);
    for (from, to, code) in [
        ("name = \"minimal\"", "name = \"Minimal\"", "bad-name"),
        ("name = \"minimal\"", "name = 3", "wrong-type"),
        ("name = \"minimal\"", "", "missing-key"),
        ("version = 1", "version = 0", "bad-value"),
        ("version = 1", "version = -1", "bad-value"),
        ("version = 1", "version = \"1\"", "wrong-type"),
        ("version = 1", "version = 99999999999999999999", "syntax"),
        ("kind = ", "Kind-Of = ", "bad-name"),
        ("\"payload.kind\"", "\"labels.kind\"", "bad-expression"),
        ("\"payload.kind\"", "\"attempt\"", "bad-expression"),
        ("\"payload.kind\"", "3", "wrong-type"),
        ("start = \"WORK\"", "start = []", "no-edges"),
        ("start = \"WORK\"", "start = 3", "wrong-type"),
        ("start = \"WORK\"", "start = { when = 'true' }", "missing-to"),
        ("start = \"WORK\"", "start = { to = ['WORK', 'DONE'] }", "pick-outside-action"),
        ("start = \"WORK\"", "start = { to = 'WORK', when = 'attempt > 1' }", "bad-expression"),
        ("start = \"WORK\"", "start = { to = 'WORK', task = 'a.b' }", "key-not-here"),
        ("start = \"WORK\"", "start = { to = 'WORK', error = { code = 'error.code' } }", "bad-expression"),
        ("least = 3", "start = 'WORK'", "shadowed-key"),
        ("least = 3", "least = inf", "bad-value"),
        ("least = 3", "1st = 3", "bad-name"),
    ] {
        assert_codes(&replaced(from, to), &[code]);
    }
}

#[test]
fn optional_top_level_keys_are_checked() {
    for (top, code) in [
        ("titel = 'x'", "unknown-key"),
        ("title = ''", "bad-value"),
        ("key = 'output'", "bad-expression"),
        ("key = 'payload.'", "bad-expression"),
        ("key = 'labels.knd'", "unknown-label"),
        ("on_duplicate = 'retrun'", "bad-value"),
        ("on_duplicate = 3", "wrong-type"),
        ("on_duplicate = { same = 'return' }", "missing-key"),
        ("on_duplicate = { differs = 'return' }", "missing-key"),
        ("on_duplicate = { same = 'return', differs = 'retrun' }", "bad-value"),
        ("on_duplicate = { same = 'return', differs = 'reject', other = 'queue' }", "unknown-key"),
        ("on_duplicate = { same = 'reject', differs = 'return' }", "bad-value"),
        ("on_duplicate = { same = 'return', differs = 'queue' }", "bad-value"),
        ("on_duplicate = { same = 'queue', differs = 'reject' }", "bad-value"),
        ("priority = 1.5", "wrong-type"),
        ("priority = 10_000_000", "bad-value"),
        ("priority = 'params.leest'", "unknown-parameter"),
        ("priority = { value = 1.5 }", "wrong-type"),
        ("priority = { value = 'params.leest' }", "unknown-parameter"),
        ("priority = { set_by = 'boss' }", "bad-value"),
        ("priority = { set_by = 3 }", "wrong-type"),
        ("priority = { sett_by = 'submitter' }", "unknown-key"),
        ("ageing = 'nevr'", "bad-span"),
        ("ageing = '0s'", "bad-span"),
        ("ageing = '1000d'", "bad-span"),
        ("ageing = 60", "wrong-type"),
        ("ttl = { after = '1d' }", "missing-to"),
        ("ttl = { to = 'FAILED' }", "missing-key"),
        ("ttl = { after = '1d', to = 'NOWHERE' }", "unknown-state"),
        ("ttl = { after = '0s', to = 'FAILED' }", "bad-span"),
        ("ttl = { after = '1 day', to = 'FAILED' }", "bad-span"),
        ("ttl = { after = 'outputs.WORK.x', to = 'FAILED' }", "bad-expression"),
        ("ttl = { after = '1d', to = 'FAILED', when = 'true' }", "unknown-key"),
        ("lane = { tie = 'labels.kind' }", "missing-key"),
        ("lane = { key = 'labels.kind', on_dead = 'die' }", "bad-value"),
        ("lane = { key = 'error.code' }", "bad-expression"),
        ("limits = { knd = 3 }", "unknown-label"),
        ("limits = { kind = 0 }", "bad-value"),
        ("limits = { kind = 1_001 }", "bad-value"),
        ("limits = { kind = 'many' }", "wrong-type"),
        ("limits = 5", "wrong-type"),
        ("amend = { role = 'submitter' }", "missing-key"),
        ("amend = { fields = [] }", "bad-value"),
        ("amend = { fields = ['a'], role = 'boss' }", "bad-value"),
        ("holds = 'pause'", "bad-value"),
        ("dead_letters = 'none'", "wrong-type"),
        ("dead_letters = false", "dead-letter"),
        ("schedule = { cron = 'hourly' }", "bad-value"),
        ("schedule = { cron = '* * * * * * *' }", "bad-value"),
        ("schedule = [{ timezone = 'UTC' }]", "missing-key"),
        ("schedule = { cron = '0 * * * *', timezone = 'Mars Colony' }", "bad-value"),
        ("schedule = { cron = '0 * * * *', timezone = 'Europe/Nowhere' }", "bad-value"),
        ("schedule = { cron = '0 * * * *', timezone = 1 }", "wrong-type"),
        ("schedule = { cron = '0 0 31 2 *' }", "bad-value"),
        ("schedule = { cron = '61 * * * *' }", "bad-value"),
        ("schedule = { cron = '@hourly' }", "bad-value"),
        ("schedule = { cron = 5 }", "wrong-type"),
        ("schedule = { cron = '0 * * * *', payload = 'x' }", "wrong-type"),
        ("schedule = { cron = '0 * * * *', every = '1h' }", "unknown-key"),
        ("calendars = { a = { timezone = 'Mars' } }", "bad-value"),
        ("calendars = { a = { holidays = ['2026-02-30'] } }", "bad-value"),
        ("calendars = { a = { holidays = [25] } }", "wrong-type"),
        ("calendars = { a = { holidays = ['yesterday'] } }", "bad-value"),
        ("notify = { a = { } }", "missing-key"),
        ("notify = { a = { mail = 'data.x' } }", "bad-expression"),
        ("notify = { a = { webhook = 'event.to' } }", "bad-expression"),
        ("notify = { a = { mail = 'payload.x', template = 'a.txt' } }", "missing-file"),
        ("notify = { a = { mail = 'payload.x', template = '../a.txt' } }", "bad-path"),
        ("sla = { a = { target = '1s' } }", "missing-key"),
        ("sla = { a = { to = 'DONE' } }", "missing-key"),
        ("sla = { a = { to = 'DON', target = '1s' } }", "unknown-state"),
        ("sla = { a = { to = 'DONE', target = '0bd' } }", "bad-span"),
        ("sla = { a = { to = 'DONE', target = '1001bd' } }", "bad-span"),
        ("sla = { a = { to = 'DONE', target = '1.5bd' } }", "bad-span"),
        ("sla = { a = { to = 'DONE', from = 'WOKR', target = '1s' } }", "unknown-state"),
        ("sla = { a = { to = 'DONE', not_via = 'WOKR', target = '1s' } }", "unknown-state"),
        ("sla = { a = { to = 'DONE', target = '5bd', calendar = 'b' } }", "unknown-calendar"),
        ("metrics = { a = { } }", "missing-key"),
        ("metrics = { a = { counter = 'entered', gauge = 'depth' } }", "missing-key"),
        ("metrics = { a = { counter = 'wellness' } }", "bad-value"),
        ("metrics = { a-b_total = { counter = 'entered' } }", "bad-name"),
        ("payload = 'schemas/none.json'", "missing-file"),
        ("payload = '/etc/passwd'", "bad-path"),
    ] {
        assert_codes(&with(top, ""), &[code]);
    }
}

#[test]
fn states_are_checked() {
    for (from, to, code) in [
        ("task = \"minimal.work\"", "task = \"Minimal Work\"", "bad-name"),
        ("task = \"minimal.work\"", "task = \"minimal.work\"\nwait = '1s'\nnext = 'DONE'", "mixed-kinds"),
        (
            "on.good = \"DONE\"\non.bad = \"FAILED\"",
            "on.error = 'FAILED'\nactions.end = 'DONE'",
            "missing-key",
        ),
        ("on.good = \"DONE\"", "on.good = []", "no-edges"),
        ("on.good = \"DONE\"", "on.Good = 'DONE'", "bad-name"),
        ("on.good = \"DONE\"", "on.good = { trigger = 'x' }", "missing-to"),
        ("on.good = \"DONE\"", "on.good = { to = 'DONE', role = 'admin' }", "key-not-here"),
        ("on.good = \"DONE\"", "on.good = { to = 'DONE', wehn = 'true' }", "unknown-key"),
        ("on.good = \"DONE\"", "on.good = { to = 'DONE', trigger = 'Good!' }", "bad-name"),
        ("on.good = \"DONE\"", "on.good = { to = 'DONE', actor = 'robot' }", "bad-value"),
        ("on.good = \"DONE\"", "on.good = { to = 'DONE', metadata = { a = 1 } }", "wrong-type"),
        ("on.good = \"DONE\"", "on.good = { to = 'DONE', error = 'output.code' }", "wrong-type"),
        ("on.good = \"DONE\"", "on.good = { to = 'DONE', error = { message = 'output' } }", "missing-key"),
        ("on.good = \"DONE\"", "on.good = { to = 'DONE', error = { code = 'odd' } }", "bad-expression"),
        ("on.good = \"DONE\"", "on.good = { to = 'DONE', error = { code = \"'Very Odd'\" } }", "bad-value"),
        ("on.good = \"DONE\"", "on.good = { to = 'DONE', error = { code = 'data' } }", "bad-expression"),
        (
            "on.good = \"DONE\"",
            "on.good = { to = 'DONE', error = { code = 'output', why = 'x' } }",
            "unknown-key",
        ),
        (
            "on.good = \"DONE\"",
            "on.good = 'DONE'\non.error = { error = { code = 'error.code' } }",
            "key-not-here",
        ),
        ("on.good = \"DONE\"", "on.good = { to = 'DONE', metadata = { a = 'data' } }", "bad-expression"),
        ("on.good = \"DONE\"", "on.good = { to = 'DONE', notify = 'nobody' }", "unknown-notification"),
        ("on.good = \"DONE\"", "on.good = { to = 'DONE', when = 'output.x' }", "guarded-last-edge"),
        ("on.good = \"DONE\"", "on.good = ['DONE', 'FAILED']", "edge-never-taken"),
        (
            "on.good = \"DONE\"",
            "on.good = [{ to = 'DONE', when = 'outputs.WRK.x' }, 'FAILED']",
            "unknown-state",
        ),
        ("on.good = \"DONE\"", "on.good = 'DONE'\non.all_succeeded = 'DONE'", "key-not-here"),
        ("on.good = \"DONE\"", "on.good = 'DONE'\non.crashed = 'NOWHERE'", "unknown-state"),
        (
            "on.good = \"DONE\"",
            "on.good = 'DONE'\non.crashed = { to = 'DONE', when = 'true' }",
            "guarded-last-edge",
        ),
        (
            "on.good = \"DONE\"",
            "on.good = 'DONE'\non.guard_error = { to = 'DONE', metadata = { x = 'output' } }",
            "bad-expression",
        ),
        ("on.good = \"DONE\"", "on.good = 'DONE'\noutput.god = 'a.json'", "unknown-outcome"),
        ("on.good = \"DONE\"", "on.good = 'DONE'\noutput.good = 'a.json'", "missing-file"),
        ("on.good = \"DONE\"", "on.good = 'DONE'\noutput = 'a.json'", "missing-file"),
        ("on.good = \"DONE\"", "on.good = 'DONE'\noutput = true", "wrong-type"),
        ("final = \"success\"", "final = \"success\"\non.guard_error = 'FAILED'", "key-not-here"),
        ("final = \"success\"", "final = \"success\"\noutput = 'a.json'", "key-not-here"),
        (
            "on.good = \"DONE\"",
            "on.good = 'DONE'\non.error = { to = 'FAILED', when = 'error.code == \"x\"' }",
            "guarded-last-edge",
        ),
        (
            "on.good = \"DONE\"",
            "on.good = 'DONE'\non.error = [{ to = 'FAILED', when = 'output.x' }, {}]",
            "bad-expression",
        ),
        ("on.good = \"DONE\"", "on.good = 'DONE'\nlease = '0s'", "bad-span"),
        ("on.good = \"DONE\"", "on.good = 'DONE'\ntimeout = '5 min'", "bad-span"),
        ("on.good = \"DONE\"", "on.good = 'DONE'\nwith = 3", "wrong-type"),
        ("on.good = \"DONE\"", "on.good = 'DONE'\nretention = '1d'", "key-not-here"),
        ("on.good = \"DONE\"", "on.good = 'DONE'\nforget = '1d'", "key-not-here"),
        ("on.good = \"DONE\"", "on.good = { to = 'DONE', approvals = 2 }", "key-not-here"),
        ("on.good = \"DONE\"", "on.good = { to = 'DONE', self_approval = false }", "key-not-here"),
        ("on.good = \"DONE\"", "on.good = 'DONE'\ninvestigate = true", "key-not-here"),
        ("on.good = \"DONE\"", "on.good = 'DONE'\nlane = 'free'", "key-not-here"),
        ("on.good = \"DONE\"", "on.good = 'DONE'\nsla = {}", "missing-key"),
        ("on.good = \"DONE\"", "on.good = 'DONE'\nretry = { delay = '1s' }", "missing-key"),
        ("on.good = \"DONE\"", "on.good = 'DONE'\nretry = { times = 'often' }", "bad-value"),
        ("on.good = \"DONE\"", "on.good = 'DONE'\nretry = { times = -1 }", "bad-value"),
        ("on.good = \"DONE\"", "on.good = 'DONE'\nretry = { times = 1, delay = [] }", "bad-value"),
        ("on.good = \"DONE\"", "on.good = 'DONE'\nretry = { times = 1, backoff = 'quadratic' }", "bad-value"),
        (
            "on.good = \"DONE\"",
            "on.good = 'DONE'\nretry = { times = 1, delay = ['1s'], backoff = 'linear' }",
            "key-not-here",
        ),
        ("on.good = \"DONE\"", "on.good = 'DONE'\nretry = { times = 1, jitter = 2 }", "bad-value"),
        ("on.good = \"DONE\"", "on.good = 'DONE'\nretry = { times = 1, on.x = { tmes = 1 } }", "unknown-key"),
        ("on.good = \"DONE\"", "on.good = 'DONE'\nstart = 'WORK'", "unknown-key"),
        ("final = \"success\"", "final = \"sucess\"", "bad-value"),
        ("final = \"success\"", "final = \"success\"\nforget = 'soon'", "bad-span"),
        ("final = \"success\"", "final = \"success\"\nsla = { target = '1s' }", "key-not-here"),
        ("final = \"success\"", "final = \"success\"\nnext = 'FAILED'", "mixed-kinds"),
        ("final = \"success\"", "final = \"success\"\nttl = { after = '1s', to = 'FAILED' }", "key-not-here"),
        ("final = \"success\"", "final = \"success\"\non.good = 'FAILED'", "key-not-here"),
        ("final = \"success\"", "title = 'nothing else'", "no-kind"),
        ("final = \"success\"", "actions = {}", "dead-end"),
        ("final = \"success\"", "review = 'reviewer'", "review-without-action"),
        ("final = \"success\"", "wait = '1s'", "missing-key"),
        ("final = \"success\"", "wait = '1s'\nnext = 'FAILED'\nlease = '1s'", "key-not-here"),
        ("final = \"success\"", "wait = 'soon'\nnext = 'FAILED'", "bad-expression"),
        ("final = \"success\"", "wait = '3 weeks'\nnext = 'FAILED'", "bad-span"),
        ("final = \"success\"", "wait = 2026-01-01\nnext = 'FAILED'", "bad-span"),
        ("final = \"success\"", "wait = '1s'\nnext = { to = 'FAILED', when = 'held' }", "guarded-last-edge"),
        ("final = \"success\"", "next = { to = 'FAILED', when = 'held' }", "guarded-last-edge"),
        ("final = \"success\"", "next = 'DONE'", "pass-cycle"),
        (
            "final = \"success\"",
            "join = 'Parcels'\non.all_succeeded = 'FAILED'\non.some_failed = 'FAILED'",
            "bad-name",
        ),
        ("final = \"success\"", "join = 'parcels'\non.all_succeeded = 'FAILED'", "missing-key"),
        (
            "final = \"success\"",
            "join = 'parcels'\non.all_succeeded = 'FAILED'\non.some_failed = 'FAILED'\non.x = 'FAILED'",
            "key-not-here",
        ),
    ] {
        // A state that is no end any more may leave the pipeline without one that succeeds; it still has FAILED.
        let found = codes(&replaced(from, to));
        let rest: Vec<_> =
            found.iter().filter(|found| !(code == "pass-cycle" && **found == "no-way-out")).collect();
        assert_eq!(
            rest,
            [&code],
            "{to}\n{}",
            problems_of(&Source::new("t", replaced(from, to))).render(&Source::new("t", replaced(from, to)))
        );
    }
}

#[test]
fn actions_are_checked() {
    let review = |actions: &str| {
        replaced(
            "on.bad = \"FAILED\"",
            &format!("on.bad = 'LOOK'\n[states.LOOK]\nreview = 'reviewer'\n{actions}"),
        )
    };
    assert_codes(&review("actions.go = 'FAILED'"), &[]);
    assert_codes(&review("actions.go = { to = 'FAILED', when = 'data.x' }"), &[]);
    assert_codes(&review("actions.go = { to = ['WORK', 'FAILED'] }"), &[]);
    assert_codes(
        &review("actions.go = { to = 'FAILED', task = 'a.b', metadata = { x = 'output.x' } }\nlease = '5s'"),
        &[],
    );
    for (actions, code) in [
        ("actions.Go = 'FAILED'", "bad-name"),
        ("actions.go = {}", "missing-to"),
        ("actions.go = [{ to = 'FAILED', reason = 'yes' }]", "wrong-type"),
        ("actions.go = { to = [] }", "missing-to"),
        ("actions.go = { to = ['FAILED', 'FAILED'] }", "duplicate"),
        ("actions.go = { to = ['FAILED', 'FALED'] }", "unknown-state"),
        ("actions.go = { to = 'FAILED', role = 'boss' }", "bad-value"),
        ("actions.go = { to = 'FAILED', approvals = 0 }", "bad-value"),
        ("actions.go = { to = 'FAILED', approvals = 'two' }", "wrong-type"),
        ("actions.go = { to = 'FAILED', self_approval = 'no' }", "wrong-type"),
        ("actions.go = { to = 'FAILED', data = 'none.json' }", "missing-file"),
        ("actions.go = { to = 'FAILED', task = 'a b' }", "bad-name"),
        ("actions.go = { to = 'FAILED', when = 'output.x', task = 'a.b' }", "bad-expression"),
        ("actions.go = { to = 'FAILED', metadata = { x = 'output.x' } }", "bad-expression"),
        ("actions.go = ['FAILED', { to = 'FAILED', role = 'admin' }]", "edge-never-taken"),
        ("actions.go = 'FAILED'\nlease = '5s'", "key-not-here"),
    ] {
        assert_codes(&review(actions), &[code]);
    }
}

#[test]
fn pass_states_may_rest_where_something_can_change() {
    let resting = |top: &str, more: &str| {
        let state = format!("\n[states.REST]\nnext = {{ to = 'DONE', when = 'held' }}\n{more}\n");
        with(top, &state).replacen("on.good = \"DONE\"", "on.good = 'REST'", 1)
    };
    assert_codes(&resting("", ""), &["guarded-last-edge"]);
    assert_codes(&resting("holds = 'route'", ""), &[]);
    assert_codes(&resting("amend = { fields = ['a'] }", ""), &[]);
    assert_codes(&resting("ttl = { after = '1d', to = 'FAILED' }", ""), &[]);
    assert_codes(&resting("", "ttl = { after = '1d', to = 'FAILED' }"), &[]);
    assert_codes(&resting("", "actions.go = 'DONE'"), &[]);
    let unheld = resting("holds = 'route'", "").replace("when = 'held'", "when = 'attempt > 1'");
    assert_codes(&unheld, &["guarded-last-edge"]);
}

#[test]
fn machine_is_checked_as_a_whole() {
    let lost = "[states.LOST]\nnext = 'DONE'";
    assert_codes(&with("", lost), &["unreachable-state"]);
    let circle = "[states.A]\nnext = 'B'\n[states.B]\nnext = [{ to = 'DONE', when = 'held' }, 'A']";
    assert_codes(&with("", circle).replacen("on.good = \"DONE\"", "on.good = 'A'", 1), &["pass-cycle"]);
    let trap = "[states.A]\nwait = '1s'\nnext = 'B'\n[states.B]\nwait = '1s'\nnext = 'A'";
    assert_codes(
        &with("", trap).replacen("on.bad = \"FAILED\"", "on.bad = ['A']\non.ugly = 'FAILED'", 1),
        &["no-way-out", "no-way-out"],
    );
    let endless = "name = 'x'\nversion = 1\nstart = 'A'\n[states.A]\nwait = '1s'\nnext = 'A'";
    assert_codes(endless, &["no-way-out"]);
    assert_codes(
        &with("ttl = { after = '1d', to = 'FAILED' }", trap).replacen(
            "on.bad = \"FAILED\"",
            "on.bad = 'A'",
            1,
        ),
        &[],
    );
}

#[test]
fn typo_in_a_target_does_not_make_a_state_unreachable() {
    assert_codes(&replaced("on.good = \"DONE\"", "on.good = \"DOEN\""), &["unknown-state"]);
    assert_codes(&replaced("on.good = \"DONE\"", "on.good = \"ELSEWHERE\""), &["unknown-state"]);
}

#[test]
fn defaults_are_checked() {
    for (defaults, expected) in [
        ("lease = '5s'\non.error = 'FAILED'", &[][..]),
        ("actions.drop = { to = 'FAILED', role = 'admin' }", &[]),
        (
            "actions.pay = { to = 'FAILED', task = 'a.b' }\n[states.REST]\nwait = '1s'\nnext = 'DONE'\nlease = '5s'",
            &["unreachable-state"],
        ),
        ("leese = '5s'", &["unknown-key"]),
        ("task = 'a.b'", &["key-not-here"]),
        ("on.reopened = 'WORK'\non.error = 'FAILED'", &[]),
        ("on.all_succeeded = 'DONE'", &["useless-default"]),
        ("on.error = 'FALED'", &["unknown-state"]),
        ("lease = 'long'", &["bad-span"]),
        ("on = 'FAILED'", &["wrong-type", "useless-default"]),
        ("actions.drop = { to = 'FAILED', when = 'nonsense' }", &["bad-expression"]),
    ] {
        let mut found = codes(&with("", &format!("[defaults]\n{defaults}")));
        found.sort_by_key(|code| *code == "useless-default");
        assert_eq!(found, expected, "{defaults}");
    }
    let no_tasks = "name = 'x'\nversion = 1\nstart = 'A'\n[defaults]\nlease = '1s'\n[states.A]\nwait = '1s'\nnext = 'B'\n[states.B]\nfinal = 'success'";
    assert_codes(no_tasks, &["useless-default"]);
}

#[test]
fn problem_of_a_default_is_told_once() {
    let more = "[defaults]\non.error = 'NOWHERE'\n[states.AGAIN]\ntask = 'a.b'\non.good = 'DONE'";
    let toml = with("", more).replacen("on.bad = \"FAILED\"", "on.bad = 'AGAIN'\non.worse = 'FAILED'", 1);
    assert_codes(&toml, &["unknown-state"]);
}

#[test]
fn deployment_parameters_are_checked() {
    let mut source = Source::new("test.toml", with("", ""));
    source.params = [("least", 5)].into_iter().collect();
    assert!(problems_of(&source).is_empty());
    source.params = [("least", "five"), ("most", "9")].into_iter().collect();
    let problems = problems_of(&source);
    let found: Vec<_> = problems.iter().map(|problem| problem.code).collect();
    assert_eq!(found, ["unknown-parameter", "parameter-type"]);
    source.params = 3.into();
    assert_eq!(problems_of(&source).iter().map(|problem| problem.code).collect::<Vec<_>>(), ["wrong-type"]);
}

#[test]
fn attachments_are_checked() {
    let mut source = Source::new("test.toml", with("payload = 'a.json'", ""));
    let with_file = |source: &mut Source, text: &str| {
        source.files.insert("a.json".to_owned(), text.to_owned());
        problems_of(source).iter().map(|problem| problem.code).collect::<Vec<_>>()
    };
    assert!(with_file(&mut source, "{}").is_empty());
    assert_eq!(with_file(&mut source, "{"), ["bad-schema"]);
    assert_eq!(with_file(&mut source, r#"{"$ref":"https://example.com/x"}"#), ["bad-schema"]);
    assert_eq!(with_file(&mut source, &" ".repeat(300_000)), ["too-large"]);
}

#[test]
fn bounds_hold() {
    assert_codes(&format!("#{}", "x".repeat(300_000)), &["too-large"]);
    let edges = vec!["{ to = 'DONE', when = 'true' }"; 51].join(",");
    let many_edges = replaced("on.good = \"DONE\"", &format!("on.good = [{edges}]"));
    assert_eq!(codes(&many_edges)[0], "too-many");
    let states: String = (0..200).map(|n| format!("[states.S{n}]\nfinal = 'success'\n")).collect();
    assert!(codes(&with("", &states)).contains(&"too-many"));
    let unknown: String = (0..20_000).map(|n| format!("k{n}=1\n")).collect();
    assert_eq!(codes(&with("", &unknown)).len(), 1_000);
}

/// Ten mistakes of ten kinds.
const TEN: &str = r#"name = "ten-mistakes"
version = 1
on_duplicat = "return"
key = "payload.id + labls.owner"
labels = { owner = "payload.owner" }
start = "RECEIVED"

[params]
least = 60
priority = 3

[defaults]
lease = "30s"

[states.RECEIVED]
next = [
  { to = "SCANNING", when = "labels.owner == 'me'" },
  { to = "SCANING" },
  "REJECTED",
]

[states.SCANNING]
task = "ten.scan"
timeout = "5 minutes"
on.scored = { to = "REVIEW", when = "output.score > params.least" }
on.broken = { to = "REJECTED", reason = true }

[states.REVIEW]
review = "moderator"
actions.approve = "ACCEPTED"
actions.reject = "REJECTED"

[states.FORGOTTEN]
wait = "1d"
next = "REJECTED"

[states.ACCEPTED]
final = "success"

[states.REJECTED]
final = "failure"
"#;

#[test]
fn ten_mistakes_give_exactly_ten_problems_in_file_order() {
    let source = Source::new("ten-mistakes.toml", TEN);
    let problems = problems_of(&source);
    let found: Vec<(usize, &str)> =
        problems.located(&source).map(|(at, problem)| (at.line, problem.code)).collect();
    let expected = [
        (3, "unknown-key"),
        (4, "bad-expression"),
        (10, "shadowed-key"),
        (18, "unknown-state"),
        (19, "edge-never-taken"),
        (24, "bad-span"),
        (25, "guarded-last-edge"),
        (26, "key-not-here"),
        (29, "bad-value"),
        (33, "unreachable-state"),
    ];
    assert_eq!(found, expected, "\n{}", problems.render(&source));
}

#[test]
fn report_shows_each_problem_under_its_line() {
    let source = Source::new("ten-mistakes.toml", TEN);
    insta::assert_snapshot!(problems_of(&source).render(&source));
}

#[test]
fn syntax_errors_come_with_what_else_is_wrong() {
    let toml = replaced("version = 1", "version = ").replace("on.good = \"DONE\"", "on.good = \"DNOE\"");
    let source = Source::new("broken.toml", toml);
    let problems = problems_of(&source);
    let found: Vec<(usize, &str)> =
        problems.located(&source).map(|(at, problem)| (at.line, problem.code)).collect();
    assert_eq!(found, [(2, "syntax"), (11, "unknown-state")], "\n{}", problems.render(&source));
}

#[test]
fn nothing_is_missed_from_a_file_that_was_not_understood() {
    assert_codes(&replaced("start = \"WORK\"", "start \"WORK\""), &["syntax"]);
}

#[test]
fn problems_inside_an_expression_point_into_it() {
    let toml = replaced(
        "on.good = \"DONE\"",
        "on.good = [{ to = 'DONE', when = \"output.x > pramas.least\" }, 'FAILED']",
    );
    let source = Source::new("test.toml", toml);
    let problems = problems_of(&source);
    let spans: Vec<&str> = problems.iter().map(|problem| &source.toml[problem.span.clone()]).collect();
    assert_eq!(spans, ["pramas"], "\n{}", problems.render(&source));
}

#[test]
fn what_was_meant_is_suggested() {
    let help = |toml: String| {
        let problems = problems_of(&Source::new("test.toml", toml));
        problems.iter().filter_map(|problem| problem.help.clone()).collect::<Vec<_>>()
    };
    assert_eq!(help(with("titel = 'x'", "")), ["did you mean `title`?"]);
    assert_eq!(
        help(with("on_duplicate = { same = 'return', differs = 'queue' }", "")),
        ["write `on_duplicate = \"queue\"` to let all of them wait"]
    );
    assert_eq!(
        help(with("on_duplicate = { same = 'reject', differs = 'return' }", "")),
        ["`same = \"return\", differs = \"reject\"` is the other way round"]
    );
    assert_eq!(help(with("key = 'paylaod.x'", "")), ["did you mean `payload`?"]);
    assert_eq!(
        help(with("key = 'data.x'", "")),
        ["only edges of actions and templates of notifications see `data`"]
    );
    assert_eq!(help(replaced("final = \"failure\"", "final = \"fail\"")), ["did you mean `failure`?"]);
    assert_eq!(
        help(replaced("final = \"failure\"", "final = \"failure\"\npriority = 3")),
        ["`priority` belongs to the top level: write it above the first `[table]`"]
    );
}

#[test]
fn a_second_state_that_makes_children_is_refused() {
    let brood = |second: &str| {
        let toml = format!(
            "name = \"x\"\nversion = 1\nstart = \"A\"\n[states.A]\ntask = \"t.a\"\njoin = \"y\"\non.all_succeeded = \"B\"\non.some_failed = \"B\"\n[states.B]\n{second}join = \"y\"\non.all_succeeded = \"C\"\non.some_failed = \"C\"\n[states.C]\nfinal = \"success\"\n"
        );
        load(&Source::new("x.toml", toml))
            .map(|_| ())
            .map_err(|problems| problems.iter().map(|problem| problem.code).collect::<Vec<_>>())
    };
    assert_eq!(brood("task = \"t.b\"\n"), Err(vec!["second-join"]));
    assert_eq!(brood(""), Ok(()), "one that only waits for them is fine");
}

#[test]
fn mistakes_that_are_made_again_and_again_are_told_the_right_form() {
    const MACHINE: &str = "name = \"x\"\nversion = 1\nstart = \"A\"\n#top\n[states.A]\ntask = \"t.a\"\n#state\non.done = \"B\"\n[states.B]\nfinal = \"success\"\n#end\n";
    for (place, line, hint) in [
        ("#top", "key = \"paper_id\"", "did you mean `payload.paper_id`?"),
        ("#top", "ttl = \"90d\"", "write `ttl = { after = \"90d\", to = \"STATE\" }`"),
        ("#top", "lane = \"payload.account\"", "write `lane = { key = \"payload.account\" }`"),
        ("#state", "sla = \"3bd\"", "write `sla = { target = \"3bd\" }`"),
        ("#state", "retry = 3", "write `retry = { times = 3, delay = \"30s\" }`"),
        ("#state", "timeout = 300", "a span of time has a unit: `timeout = \"300s\"`"),
        ("#state", "retry = { times = 3, delay = 30 }", "a span of time has a unit: `delay = \"30s\"`"),
        ("#state", "on_error = \"B\"", "did you mean `on.error`?"),
        (
            "#state",
            "approvals = 2",
            "`approvals` belongs to an action: `actions.approve = { to = \"STATE\", approvals = 2 }`",
        ),
        ("#end", "[states.C]\nfinal = true", "write `final = \"success\"`, `\"failure\"` or `\"cancelled\"`"),
        (
            "#end",
            "[states.C]\nreview = [\"reviewer\"]",
            "write `review = \"reviewer\"`: one role, whose holders and admins may act",
        ),
        ("#state", "on.error = { to = \"B\", when = \"payload.a and payload.b\" }", "write `&&`"),
        ("#state", "on.error = { to = \"B\", when = \"payload.a or payload.b\" }", "write `||`"),
        ("#state", "on.error = { to = \"B\", when = \"payload.a = 3\" }", "write `==` to compare"),
        (
            "#end",
            "[notify.desk]\nwebhook = \"https://desk.example/\"",
            "this is an expression: quote text once more, `\"'https://..'\"`, or name a parameter, `\"params.hook\"`",
        ),
    ] {
        let toml = MACHINE.replace(place, line);
        let problems = load(&Source::new("x.toml", toml)).unwrap_err();
        let hints: Vec<_> = problems.iter().filter_map(|problem| problem.help.as_deref()).collect();
        assert!(hints.contains(&hint), "{line}: {hints:?}");
    }
}

#[test]
fn the_tasks_that_send_messages_belong_to_one_pipeline() {
    let codes = |name: &str, state: &str| {
        let toml = format!(
            "name = \"{name}\"\nversion = 1\nstart = \"A\"\n[states.A]\n{state}\n[states.B]\nfinal = \"success\"\n"
        );
        let loaded = load(&Source::new("x.toml", toml));
        loaded.map_or_else(|problems| problems.iter().map(|problem| problem.code).collect(), |_| Vec::new())
    };
    let task = |task: &str| format!("task = \"{task}\"\non.done = \"B\"");
    let action =
        "next = { to = \"B\", when = \"held\" }\nactions.go = { to = \"B\", task = \"delivery.post\" }";
    assert_eq!(codes("x", &task("delivery.mail")), ["reserved"]);
    assert_eq!(codes("x", action), ["reserved"]);
    assert_eq!(codes("delivery", &task("x.mail")), ["reserved"]);
    assert_eq!(codes("x", &task("deliveries.mail")), [""; 0]);
    assert_eq!(codes("delivery", &task("delivery.pigeon")), [""; 0]);
}

#[test]
fn a_child_whose_parent_is_cancelled_can_only_end() {
    let child = |wherever: &str, ends: &str| {
        let toml = format!(
            "name = \"x\"\nversion = 1\nstart = \"A\"\n[defaults]\n{wherever}[states.A]\nnext = {{ to = \"B\", when = \"held\" }}\nactions.go = \"B\"\n[states.B]\ntask = \"t.b\"\non.done = \"C\"\n[states.C]\nfinal = \"success\"\n[states.D]\nfinal = \"cancelled\"\n{ends}"
        );
        match load(&Source::new("x.toml", toml)) {
            Ok(pipeline) => {
                let following = pipeline.states.iter().filter(|state| !state.on_parent_cancelled.is_empty());
                Ok(following.map(|state| state.name.to_string()).collect::<Vec<_>>())
            }
            Err(problems) => Err(problems.iter().map(|problem| problem.code).collect::<Vec<_>>()),
        }
    };
    let followed = child("on.parent_cancelled = \"D\"\n", "");
    assert_eq!(followed, Ok(vec!["A".to_owned(), "B".to_owned()]), "ends say so themselves");
    assert_eq!(child("on.parent_cancelled = \"B\"\n", ""), Err(vec!["bad-value", "unreachable-state"]));
    let guarded = "on.parent_cancelled = { to = \"D\", when = \"payload.mine\" }\n";
    assert!(child(guarded, "").is_ok(), "one that no guard is for stays");
    let stuck = "name = \"x\"\nversion = 1\nstart = \"A\"\n[states.A]\nnext = { to = \"D\", when = \"held\" }\non.parent_cancelled = \"D\"\n[states.D]\nfinal = \"cancelled\"\n";
    let problems = problems_of(&Source::new("x.toml", stuck));
    assert!(
        problems.iter().any(|problem| problem.code == "guarded-last-edge"),
        "nobody has to wait for a parent's end"
    );
}

#[test]
fn metrics_that_could_not_be_told_are_refused() {
    let codes = |metrics: &str| {
        let source = Source::new("test.toml", with("", metrics));
        match load(&source) {
            Ok(_) => Vec::new(),
            Err(problems) => problems.iter().map(|problem| problem.code).collect::<Vec<_>>(),
        }
    };
    assert_eq!(codes("[metrics.seen_total]\ncounter = 'entered'\nstate = 'DONE'\n"), Vec::<&str>::new());
    let two =
        "[[metrics.q]]\ngauge = 'depth'\nlabels.k = 'a'\n[[metrics.q]]\ngauge = 'depth'\nlabels.k = 'b'\n";
    assert_eq!(codes(two), Vec::<&str>::new());
    for bad in [
        "[metrics.seen]\ncounter = 'entered'\n",
        "[metrics.seen_total]\ngauge = 'depth'\n",
        "[metrics.milepost_seen]\ngauge = 'depth'\n",
        "[metrics.seen_total]\ncounter = 'received'\nstate = 'DONE'\n",
        "[metrics.q]\ngauge = 'depth'\nlabels.pipeline = 'x'\n",
        "[metrics.q_total]\ncounter = 'entered'\n[metrics.q]\ngauge = 'depth'\n",
        &two.replace("'b'", "'a'"),
        &two.replacen("labels.k = 'a'\n", "", 1),
        &two.replacen("gauge = 'depth'", "rate = 'dead'", 1),
    ] {
        assert_eq!(codes(bad), ["bad-metric"], "{bad}");
    }
    assert_eq!(codes("[metrics.q]\ngauge = 'received'\n"), ["bad-value"]);
    assert_eq!(codes("[metrics.q]\nstate = 'DONE'\n"), ["missing-key"]);
}
