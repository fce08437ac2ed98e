//! The texts about settings elsewhere, made from the settings themselves.

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::path::PathBuf;

    use clap::{Arg, Command};

    use crate::settings::{CLIENT, client_settings, serve_settings, settings, variable};

    fn path(name: &str) -> PathBuf {
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(name)
    }

    /// Compares a file with what it should be; with UPDATE_DOCS=1, makes it so.
    fn compare(name: &str, wanted: &str) {
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path(name), wanted).expect("it can be written");
        }
        let found = std::fs::read_to_string(path(name)).expect("it is there");
        assert!(
            found == wanted,
            "{name} is out of date: UPDATE_DOCS=1 cargo test -p milepost-cli settings::doc"
        );
    }

    fn help(arg: &Arg) -> String {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        help.split(" [default: ").next().unwrap_or_default().to_owned()
    }

    fn default(arg: &Arg) -> Option<String> {
        let given = arg.get_default_values().first().map(|value| value.to_string_lossy().into_owned());
        let takes_none = !arg.get_action().takes_values();
        given
            .or_else(|| {
                let help = arg.get_help()?.to_string();
                let (_, promised) = help.split_once("[default: ")?;
                Some(promised.trim_end_matches(']').to_owned())
            })
            .or_else(|| takes_none.then(|| "false".to_owned()))
    }

    fn table(command: &Command, section: &str) -> String {
        let mut table = String::from("| setting | variable | default | what it is |\n|---|---|---|---|\n");
        for (name, arg) in settings(command) {
            let default = default(arg).map_or_else(String::new, |value| format!("`{value}`"));
            let help = help(arg).replace('|', "\\|").replace('<', "&lt;");
            writeln!(table, "| `{section}{name}` | `{}` | {default} | {help} |", variable(name))
                .expect("it is text");
        }
        table
    }

    fn example(command: &Command) -> String {
        let mut text = String::new();
        for (name, arg) in settings(command) {
            let word = arg.get_value_names().and_then(|names| names.first()).map_or("VALUE", |name| name);
            let plain = default(arg).filter(|value| !value.contains(' '));
            let value = match plain {
                Some(value) if value.parse::<u64>().is_ok() || value == "false" => value,
                Some(value) => format!("\"{value}\""),
                None if word == "NUMBER" => "1000".to_owned(),
                None => format!("\"{word}\""),
            };
            write!(text, "\n# {}\n#{name} = {value}\n", help(arg)).expect("it is text");
        }
        text
    }

    #[test]
    fn the_table_of_settings_is_current() {
        let name = "docs/operations.md";
        let text = std::fs::read_to_string(path(name)).expect("it is there");
        let (begin, end) = ("<!-- settings -->\n", "<!-- end of settings -->\n");
        let (before, rest) = text.split_once(begin).expect("it says where the table begins");
        let (_, after) = rest.split_once(end).expect("it says where the table ends");
        let tables = format!("{}\n{}", table(&serve_settings(), ""), table(&client_settings(), "client."));
        compare(name, &format!("{before}{begin}{tables}{end}{after}"));
    }

    #[test]
    fn the_example_file_is_current() {
        let head = "\
# Settings of a Milepost server. Every one is an option of `milepost serve` by the same name, and a variable: `keep-events` is
# --keep-events and MILEPOST_KEEP_EVENTS. Flags count more than the environment, the environment more than this file.
#   milepost serve --config milepost.toml
#   milepost config check milepost.toml
#   milepost config show --config milepost.toml --origin
# Paths are seen from where the server is started.
";
        let client = "\n# For commands that ask a server, where MILEPOST_CONFIG names this file.\n";
        let params = "\n# Parameters of a pipeline of the folder `pipelines`, in place of the defaults in its file.\n\
            #[params.skill-review]\n#approve_min = 90\n";
        let queues = "\n# Tasks of a pipeline as a queue: pushed to a consumer, or pulled by clients of Cloudflare Queues.\n\
            #[queue.submission-pipeline]\n#pipeline = \"skill-review\"\n\
            #tasks = [\"skills.tier1-scan\", \"skills.tier2-scan\", \"skills.publish\"]\n#body = \"job\"\n\
            #[queue.submission-pipeline.consumer]\n#url = \"https://scanner.example/tasks\"\n\
            #secret-file = \"/etc/milepost/scanner.secret\"\n";
        let public = "\n# A pipeline that everybody may submit to, at /public/skill-review; see docs/public.md.\n\
            #[public.skill-review]\n#title = \"Submit a skill\"\n";
        let (serve, asking) = (example(&serve_settings()), example(&client_settings()));
        let body = format!("{serve}{params}{queues}{public}{client}[{CLIENT}]\n{asking}");
        compare("packaging/milepost.toml", &format!("{head}{body}"));
    }
}
