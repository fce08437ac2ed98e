//! Commands of systems: `milepost NAME COMMAND ..`, beside the program's own and as they are.

use clap::{ArgMatches, Args as _, Command, FromArgMatches as _};
use system::{Failed, Stop, System};

use crate::exit::Exit;
use crate::output::{self, Format, Output};
use crate::remote::{ServerArgs, block_on};
use crate::settings::ConfigFile;
use crate::systems;

/// Adds the commands of systems to the program's own.
pub(crate) fn add(program: Command, systems: &[Box<dyn System>]) -> Command {
    program.subcommands(systems.iter().filter_map(|system| command(&**system)))
}

fn command(system: &dyn System) -> Option<Command> {
    let commands = system.commands();
    let subcommands = commands.into_iter().map(|command| match command.asks {
        true => asking(command.clap),
        false => command.clap,
    });
    let command = Command::new(system.name())
        .about(format!("Work with the system `{}`", system.name()))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(subcommands);
    command.has_subcommands().then_some(command)
}

/// Adds the arguments that say where the server is. They bring a sentence along, and the command keeps its own.
fn asking(command: Command) -> Command {
    let about = command.get_about().cloned().unwrap_or_default();
    let long_about = command.get_long_about().cloned();
    let command = ServerArgs::augment_args(command).about(about);
    match long_about {
        Some(long_about) => command.long_about(long_about),
        None => command.long_about(None),
    }
}

/// Runs a command of a system, where the matches are of one. A system that the settings turn on has them.
pub(crate) fn run(
    matches: &ArgMatches,
    file: Option<&ConfigFile>,
    output: Output,
) -> Option<anyhow::Result<Exit>> {
    let (name, matches) = matches.subcommand()?;
    systems::all().iter().any(|system| system.name() == name).then(|| {
        let system = systems::find(name, file)?;
        let (name, matches) = matches.subcommand().expect("a command of the system is required");
        block_on(run_one(&*system, (name, matches), output))
    })
}

async fn run_one(
    system: &dyn System,
    (name, matches): (&str, &ArgMatches),
    output: Output,
) -> anyhow::Result<Exit> {
    let commands = system.commands();
    let named = commands.iter().find(|command| command.clap.get_name() == name);
    let command = named.expect("matches are of commands that there are");
    let client = match command.asks {
        true => Some(ServerArgs::from_arg_matches(matches)?.client()?),
        false => None,
    };
    let shown = command.run(matches, client).await.map_err(told)?;
    if let (Output::Sarif, Some(sarif)) = (output, &shown.sarif) {
        output::print(&format!("{}\n", output::pretty(sarif)))?;
        return Ok(shown.exit);
    }
    match output.format()? {
        Format::Table => output::print(&shown.text)?,
        Format::Json => output::print(&format!("{}\n", output::pretty(&shown.json)))?,
    }
    Ok(shown.exit)
}

/// Returns an error as the program's own commands report theirs.
fn told(error: Failed) -> anyhow::Error {
    let error = match error.downcast::<Stop>() {
        Ok(stop) => return (*stop).into(),
        Err(error) => error,
    };
    match error.downcast::<client::Error>() {
        Ok(error) => (*error).into(),
        Err(error) => anyhow::anyhow!(error),
    }
}

#[cfg(test)]
mod tests {
    use clap::Args;
    use system::{PipelineFile, Shown};

    use super::*;

    /// Greet somebody
    #[derive(Args)]
    struct Greet {
        name: String,
    }

    /// List those who were greeted
    #[derive(Args)]
    struct List {}

    struct Greetings;

    impl System for Greetings {
        fn name(&self) -> &'static str {
            "greetings"
        }

        fn pipelines(&self) -> Vec<PipelineFile> {
            Vec::new()
        }

        fn commands(&self) -> Vec<system::Command> {
            let greet = |greet: Greet| async move {
                match &*greet.name {
                    "nobody" => Err(Stop::new(Exit::NotFound, "there is nobody").into()),
                    "luck" => Err("no luck".into()),
                    name => Ok(Shown::new(format!("hello {name}\n"), &name).exit(Exit::Negative)),
                }
            };
            let list = |_: List, client: client::Client| async move {
                client.pipelines().await?;
                Ok(Shown::new("", &()))
            };
            vec![system::Command::new("greet", greet), system::Command::asking("list", list)]
        }
    }

    fn ended(words: &[&str]) -> Result<Exit, anyhow::Error> {
        let systems: Vec<Box<dyn System>> = vec![Box::new(Greetings)];
        let program = add(Command::new("milepost"), &systems);
        program.clone().debug_assert();
        let matches = program.try_get_matches_from(words)?;
        let (_, matches) = matches.subcommand().expect("it is required");
        let command = matches.subcommand().expect("it is required");
        block_on(run_one(&Greetings, command, Output::Json))
    }

    #[test]
    fn a_command_ends_as_it_says() {
        assert_eq!(ended(&["milepost", "greetings", "greet", "ada"]).unwrap(), Exit::Negative);
        let stop = ended(&["milepost", "greetings", "greet", "nobody"]).unwrap_err();
        assert_eq!(stop.downcast_ref::<Stop>().map(|stop| stop.exit), Some(Exit::NotFound));
        assert_eq!(ended(&["milepost", "greetings", "greet", "luck"]).unwrap_err().to_string(), "no luck");
    }

    #[test]
    fn a_command_that_asks_is_told_where_and_reported_as_the_programs_own() {
        let server = "http://127.0.0.1:1";
        let error = ended(&["milepost", "greetings", "list", "--server", server]).unwrap_err();
        assert!(
            matches!(error.downcast_ref(), Some(client::Error::Unreachable { .. })),
            "no server is at port 1: {error}"
        );
        assert!(ended(&["milepost", "greetings", "greet", "ada", "--server", server]).is_err());
    }

    #[test]
    fn a_command_that_there_is_not_is_a_wrong_usage() {
        for words in [&["milepost", "greetings"][..], &["milepost", "greetings", "greeet", "x"]] {
            let error = ended(words).unwrap_err();
            assert_eq!(error.downcast_ref::<clap::Error>().map(clap::Error::exit_code), Some(2), "{error}");
        }
    }

    #[test]
    fn commands_that_ask_a_server_say_what_they_do_and_take_its_address() {
        let program = add(Command::new("milepost"), &systems::all());
        for system in systems::all() {
            for command in system.commands() {
                let own = program.find_subcommand(system.name()).expect("it has commands");
                let shown = own.find_subcommand(command.clap.get_name()).expect("it is one of them");
                let about = |command: &Command| command.get_about().map(ToString::to_string);
                assert_eq!(about(shown), about(&command.clap), "{} {}", system.name(), shown.get_name());
                let takes_address = shown.get_arguments().any(|argument| argument.get_id() == "server");
                assert_eq!(takes_address, command.asks);
            }
        }
    }
}
