//! The commands, one file each.

mod act;
mod apply;
mod check;
mod demo;
mod draw;
mod list;
mod serve;
mod show;
mod submit;

use clap::Subcommand;

use crate::exit::Exit;
use crate::output::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(demo::Demo),
    Serve(serve::Serve),
    Check(check::Check),
    Draw(draw::Draw),
    Apply(apply::Apply),
    Submit(submit::Submit),
    List(list::List),
    Show(show::Show),
    Act(act::Act),
}

impl Command {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        match self {
            Command::Demo(demo) => demo.run(format),
            Command::Serve(serve) => serve.run(),
            Command::Check(check) => check.run(format),
            Command::Draw(draw) => draw.run(format),
            Command::Apply(apply) => apply.run(format),
            Command::Submit(submit) => submit.run(format),
            Command::List(list) => list.run(format),
            Command::Show(show) => show.run(format),
            Command::Act(act) => act.run(format),
        }
    }
}
