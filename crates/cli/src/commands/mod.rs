//! The commands, one file each.

mod act;
mod amend;
mod apply;
mod audit;
mod backup;
mod bench;
mod check;
mod clock;
mod completions;
mod config;
mod cursors;
mod dead;
mod deliveries;
mod demo;
mod doctor;
mod draw;
mod endpoints;
mod evidence;
mod export;
mod figures;
mod hold;
mod holds;
mod investigations;
mod list;
mod migrate;
mod migrate_store;
mod monitor;
mod new;
pub(crate) mod of_systems;
mod operations;
mod overdue;
mod pipelines;
mod release;
mod restore;
mod resume;
mod retire;
mod reviews;
mod serve;
mod servers;
mod show;
mod status;
mod submit;
mod tail;
mod test;
mod tokens;
mod torture;
mod verify;
mod why;
mod witness;
mod work;
mod worker;

use clap::Subcommand;
use model::Millis;

pub(crate) use list::{read_label, table};
pub(crate) use serve::Serve;

use crate::exit::Exit;
use crate::output::Format;
use crate::settings::ConfigFile;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(demo::Demo),
    Serve(Box<serve::Serve>),
    Config(config::Config),
    Backup(backup::Backup),
    Restore(restore::Restore),
    Doctor(doctor::Doctor),
    New(new::New),
    Completions(completions::Completions),
    Check(check::Check),
    Draw(draw::Draw),
    Test(test::Test),
    Torture(torture::Torture),
    Bench(bench::Bench),
    Apply(apply::Apply),
    Pipelines(pipelines::Pipelines),
    Retire(retire::Retire),
    Submit(submit::Submit),
    List(list::List),
    Export(export::Export),
    Show(show::Show),
    Why(why::Why),
    Tail(tail::Tail),
    Act(act::Act),
    Resume(resume::Resume),
    Amend(amend::Amend),
    Hold(hold::Hold),
    Holds(holds::Holds),
    Release(release::Release),
    Dead(dead::Dead),
    Reviews(reviews::Reviews),
    Investigations(investigations::Investigations),
    Deliveries(deliveries::Deliveries),
    Overdue(overdue::Overdue),
    Migrate(migrate::Migrate),
    MigrateStore(migrate_store::MigrateStore),
    Operations(operations::Operations),
    Status(status::Status),
    Figures(figures::Figures),
    Evidence(evidence::Evidence),
    Verify(verify::Verify),
    Audit(audit::Audit),
    Monitor(monitor::Monitor),
    Witness(witness::Witness),
    Servers(servers::Servers),
    Clock(clock::Clock),
    Work(work::Work),
    Worker(worker::Worker),
    Tokens(tokens::Tokens),
    Endpoints(endpoints::Endpoints),
    Cursors(cursors::Cursors),
}

impl Command {
    /// `file` holds the settings, for those who look at them.
    pub(crate) fn run(&self, file: Option<&ConfigFile>, format: Format) -> anyhow::Result<Exit> {
        match self {
            Command::Doctor(doctor) => doctor.run(format),
            Command::New(new) => new.run(),
            Command::Completions(completions) => completions.run(),
            Command::Backup(backup) => backup.run(format),
            Command::Restore(restore) => restore.run(format),
            Command::Config(config) => config.run(file, format),
            Command::Demo(demo) => demo.run(format),
            Command::Serve(serve) => serve.run(file),
            Command::Check(check) => check.run(format),
            Command::Draw(draw) => draw.run(format),
            Command::Test(test) => test.run(format),
            Command::Torture(torture) => torture.run(format),
            Command::Bench(bench) => bench.run(format),
            Command::Apply(apply) => apply.run(format),
            Command::Pipelines(pipelines) => pipelines.run(format),
            Command::Retire(retire) => retire.run(format),
            Command::Submit(submit) => submit.run(format),
            Command::List(list) => list.run(format),
            Command::Export(export) => export.run(),
            Command::Show(show) => show.run(format),
            Command::Why(why) => why.run(format),
            Command::Tail(tail) => tail.run(format),
            Command::Act(act) => act.run(format),
            Command::Resume(resume) => resume.run(format),
            Command::Amend(amend) => amend.run(format),
            Command::Hold(hold) => hold.run(format),
            Command::Holds(holds) => holds.run(format),
            Command::Release(release) => release.run(format),
            Command::Dead(dead) => dead.run(format),
            Command::Reviews(reviews) => reviews.run(format),
            Command::Investigations(investigations) => investigations.run(format),
            Command::Deliveries(deliveries) => deliveries.run(format),
            Command::Overdue(overdue) => overdue.run(format),
            Command::Migrate(migrate) => migrate.run(format),
            Command::MigrateStore(migrate) => migrate.run(format),
            Command::Operations(operations) => operations.run(format),
            Command::Status(status) => status.run(format),
            Command::Figures(figures) => figures.run(format),
            Command::Evidence(evidence) => evidence.run(),
            Command::Verify(verify) => verify.run(format),
            Command::Audit(audit) => audit.run(format),
            Command::Monitor(monitor) => monitor.run(format),
            Command::Witness(witness) => witness.run(),
            Command::Servers(servers) => servers.run(format),
            Command::Clock(clock) => clock.run(format),
            Command::Work(work) => work.run(file),
            Command::Worker(worker) => worker.run(),
            Command::Tokens(tokens) => tokens.run(format),
            Command::Endpoints(endpoints) => endpoints.run(format),
            Command::Cursors(cursors) => cursors.run(format),
        }
    }
}

/// Nobody needs the milliseconds of what was long ago.
fn rough(span: Millis) -> String {
    let step = if span.millis() < 10_000 { 1 } else { 1_000 };
    Millis::new(span.millis() / step * step).to_string()
}
