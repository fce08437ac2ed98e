use clap::Args;
use clap_complete::Shell;

use crate::exit::Exit;
use crate::output;

/// Print what a shell needs to complete this program's commands
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost completions bash > /etc/bash_completion.d/milepost
  milepost completions fish > ~/.config/fish/completions/milepost.fish")]
pub(crate) struct Completions {
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut crate::command(), "milepost", &mut script);
        output::print(&String::from_utf8(script)?)?;
        Ok(Exit::Fine)
    }
}
