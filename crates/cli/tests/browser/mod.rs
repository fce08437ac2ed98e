//! The console in a real browser: Debian's Chromium, driven by playwright-core over the real binary.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::common::{Server, node};

const FILES: &[(&str, &str)] = &[
    ("package.json", include_str!("files/package.json")),
    ("package-lock.json", include_str!("files/package-lock.json")),
    ("browser.mjs", include_str!("files/browser.mjs")),
    ("run.mjs", include_str!("files/run.mjs")),
    ("acts.mjs", include_str!("files/acts.mjs")),
    ("looks.mjs", include_str!("files/looks.mjs")),
    ("public.mjs", include_str!("files/public.mjs")),
    ("ledger.mjs", include_str!("files/ledger.mjs")),
];

/// Returns the folder where screenshots are kept.
fn shots() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("screenshots")
}

/// A server whose first token is an admin's.
struct Guarded {
    server: Server,
    token: String,
    _folder: TempDir,
}

impl Guarded {
    fn start() -> Guarded {
        Guarded::with_settings("")
    }

    fn with_settings(settings: &str) -> Guarded {
        let folder = TempDir::new().unwrap();
        let (file, config) = (folder.path().join("first.token"), folder.path().join("milepost.toml"));
        std::fs::write(&config, format!("{settings}\n{}", include_str!("settings.toml"))).unwrap();
        let args = ["--first-token", &file.display().to_string(), "--config", &config.display().to_string()];
        let args = args.map(str::to_owned);
        let files = [
            ("orders.toml", include_str!("orders.toml")),
            ("wishes.toml", include_str!("wishes.toml")),
            ("schemas/wish.json", include_str!("wish.json")),
        ];
        let server = Server::start_with(&files, &args, &[]);
        let token = std::fs::read_to_string(&file).unwrap().trim().to_owned();
        Guarded { server, token, _folder: folder }
    }

    fn play(&self, scenario: &str) -> Child {
        let mut command = Command::new("node");
        command
            .args(["run.mjs", scenario, &self.server.url, &self.token])
            .arg(shots())
            .current_dir(node::folder("browser", FILES));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        command.spawn().unwrap_or_else(|error| panic!("node: {error}; install the Debian package nodejs"))
    }

    /// Plays a scenario to its end; what it asks for meanwhile is done to the server.
    #[track_caller]
    fn plays(mut self, scenario: &str) {
        let mut playing = self.play(scenario);
        let lines = BufReader::new(playing.stdout.take().unwrap()).lines().map_while(Result::ok);
        for line in lines {
            match line.as_str() {
                "ask restart" => self.server.restart(),
                other => println!("{other}"),
            }
            playing.stdin.as_mut().unwrap().write_all(b"done\n").unwrap();
        }
        let status = playing.wait().unwrap();
        assert!(status.success(), "the scenario `{scenario}` failed; what it says stands above");
    }
}

#[test]
fn a_token_signs_in_and_its_session_ends_with_it() {
    Guarded::start().plays("sign_in");
}

#[test]
fn a_submission_moves_while_its_page_is_open() {
    Guarded::start().plays("moves_live");
}

#[test]
fn a_review_is_decided_by_keyboard_alone() {
    Guarded::start().plays("review_by_keyboard");
}

#[test]
fn a_hold_is_placed_and_released_and_a_refused_form_is_not_lost() {
    Guarded::start().plays("hold");
}

#[test]
fn a_dead_letter_is_redriven_from_its_page() {
    Guarded::start().plays("redrive");
}

#[test]
fn an_investigation_is_acknowledged_with_a_note() {
    Guarded::start().plays("acknowledge");
}

#[test]
fn evidence_is_checked_in_the_page_and_what_was_changed_is_noticed() {
    Guarded::start().plays("evidence");
}

#[test]
fn an_amendment_shows_what_it_changed() {
    Guarded::start().plays("amend");
}

#[test]
fn work_in_hand_flow_and_dead_letters_are_shown_as_they_are() {
    Guarded::start().plays("workers_and_overview");
}

#[test]
fn the_live_tail_goes_on_after_the_server_was_restarted() {
    Guarded::start().plays("tail_through_restart");
}

#[test]
fn a_page_that_was_left_open_over_a_deploy_is_loaded_anew() {
    Guarded::start().plays("open_over_a_deploy");
}

#[test]
fn many_are_acted_on_after_a_preview() {
    Guarded::start().plays("many");
}

#[test]
fn a_role_that_may_not_act_sees_no_button_and_is_refused() {
    Guarded::start().plays("not_for_viewers");
}

#[test]
fn a_token_with_a_scope_sees_its_part_on_every_page() {
    Guarded::start().plays("scoped");
}

#[test]
fn every_page_is_accessible_light_and_fits_by_day_by_night_and_on_a_phone() {
    Guarded::start().plays("every_page");
}

#[test]
fn a_service_of_a_ledger_is_looked_at_paused_and_released() {
    // Nobody listens there: what is under way is delayed with the reason, and the others wait.
    let ledger = "[system.ledger]\n[[system.ledger.ledgers]]\nname = \"gone\"\nkind = \"sawtooth\"\n\
                  services = [\"*\"]\nurl = \"http://127.0.0.1:1\"\nallow-address = [\"127.0.0.1\"]\nattempts = 1\n";
    Guarded::with_settings(ledger).plays("ledger");
}

#[test]
fn what_others_wrote_is_shown_and_never_run() {
    Guarded::start().plays("hostile");
}

#[test]
fn pages_are_read_and_forms_are_sent_without_scripts() {
    Guarded::start().plays("without_scripts");
}

#[test]
fn a_stranger_fills_a_public_form_mends_it_and_follows_it_to_the_end() {
    Guarded::start().plays("public_form");
}

#[test]
fn a_public_form_works_without_scripts_and_runs_nothing_that_was_typed() {
    Guarded::start().plays("public_form_without_scripts");
}
