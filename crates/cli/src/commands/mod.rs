//! The commands, one file each.

mod act;
mod amend;
mod apply;
mod bench;
mod check;
mod dead;
mod demo;
mod draw;
mod hold;
mod holds;
mod list;
mod migrate;
mod operations;
mod overdue;
mod release;
mod resume;
mod serve;
mod show;
mod status;
mod submit;
mod tail;
mod test;
mod torture;
mod why;

use clap::Subcommand;

pub(crate) use list::read_label;

use crate::exit::Exit;
use crate::output::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(demo::Demo),
    Serve(serve::Serve),
    Check(check::Check),
    Draw(draw::Draw),
    Test(test::Test),
    Torture(torture::Torture),
    Bench(bench::Bench),
    Apply(apply::Apply),
    Submit(submit::Submit),
    List(list::List),
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
    Overdue(overdue::Overdue),
    Migrate(migrate::Migrate),
    Operations(operations::Operations),
    Status(status::Status),
}

impl Command {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        match self {
            Command::Demo(demo) => demo.run(format),
            Command::Serve(serve) => serve.run(),
            Command::Check(check) => check.run(format),
            Command::Draw(draw) => draw.run(format),
            Command::Test(test) => test.run(format),
            Command::Torture(torture) => torture.run(format),
            Command::Bench(bench) => bench.run(format),
            Command::Apply(apply) => apply.run(format),
            Command::Submit(submit) => submit.run(format),
            Command::List(list) => list.run(format),
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
            Command::Overdue(overdue) => overdue.run(format),
            Command::Migrate(migrate) => migrate.run(format),
            Command::Operations(operations) => operations.run(format),
            Command::Status(status) => status.run(format),
        }
    }
}
