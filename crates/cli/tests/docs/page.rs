//! A Markdown page as a shell script with the same lines, so that what fails is told by the page's own line.
//!
//! | in the page | what becomes of it |
//! |---|---|
//! | a block of `sh` | run, in the page's order and one shell |
//! | `sh skip="reason"` | not run |
//! | `sh refused="text"` | run, and must say the text: a refusal is what it shows |
//! | `file="name"`, of any language | written to a file before anything runs |
//! | a comment that begins with `<!-- sh` | run, and not shown: what a reader has or has done by then |

/// The commands and files of a page.
#[derive(Debug, Default)]
pub(crate) struct Page {
    /// As many lines as the page has; those that are no command are empty.
    pub(crate) script: String,
    /// Names and texts.
    pub(crate) files: Vec<(String, String)>,
    /// The blocks that are not run: their lines and the reasons.
    pub(crate) skipped: Vec<(usize, String)>,
    /// The number of blocks that are run and shown.
    pub(crate) shown: usize,
}

/// The treatment of the block that a line is in.
enum Within {
    Prose,
    /// Nothing is done with it.
    Other,
    Commands {
        end: &'static str,
    },
    File {
        name: String,
        text: String,
    },
}

impl Page {
    /// Reads a page, or says what is wrong with its marks and in which line.
    pub(crate) fn read(markdown: &str) -> Result<Page, String> {
        let mut page = Page::default();
        let mut within = Within::Prose;
        for (index, line) in markdown.lines().enumerate() {
            let number = index + 1;
            let mut command = "";
            let opening;
            within = match within {
                Within::Prose if line == "<!-- sh" => {
                    opening = format!("begin {number}");
                    command = &opening;
                    Within::Commands { end: "-->" }
                }
                Within::Prose if line.starts_with("```") => {
                    let mark = Mark::read(line.trim_start_matches('`'))
                        .map_err(|why| format!("line {number}: {why}"))?;
                    match mark {
                        Mark::Run { refused } => {
                            page.shown += 1;
                            opening = format!("begin {number} '{refused}'");
                            command = &opening;
                            Within::Commands { end: "```" }
                        }
                        Mark::Skip(reason) => {
                            page.skipped.push((number, reason));
                            Within::Other
                        }
                        Mark::File(name) => Within::File { name, text: String::new() },
                        Mark::Other => Within::Other,
                    }
                }
                Within::Prose => Within::Prose,
                Within::Commands { end } if line == end => {
                    command = "end";
                    Within::Prose
                }
                Within::Commands { end } => {
                    command = line;
                    Within::Commands { end }
                }
                Within::File { name, text } if line == "```" => {
                    page.files.push((name, text));
                    Within::Prose
                }
                Within::File { name, text } => Within::File { name, text: text + line + "\n" },
                Within::Other if line == "```" => Within::Prose,
                Within::Other => Within::Other,
            };
            page.script.push_str(command);
            page.script.push('\n');
        }
        match within {
            Within::Prose => Ok(page),
            _ => Err("the last block has no end".to_owned()),
        }
    }
}

/// The words behind a fence: the language, and what to do with the block.
enum Mark {
    Run { refused: String },
    Skip(String),
    File(String),
    Other,
}

impl Mark {
    fn read(info: &str) -> Result<Mark, String> {
        let (language, rest) = info.split_once(' ').unwrap_or((info, ""));
        let is_shell = matches!(language, "sh" | "bash" | "shell" | "console");
        if is_shell && language != "sh" {
            return Err(format!("write `sh` for `{language}`"));
        }
        let Some((key, value)) = rest.split_once("=\"") else {
            return match (is_shell, rest) {
                (true, "") => Ok(Mark::Run { refused: String::new() }),
                (false, "") => Ok(Mark::Other),
                _ => Err(format!("`{rest}` is no mark: write skip=\"..\", refused=\"..\" or file=\"..\"")),
            };
        };
        let value = value.strip_suffix('"').filter(|value| !value.is_empty() && !value.contains(['"', '\'']));
        let value =
            value.ok_or_else(|| format!("the value of `{key}` is one text in double quotes"))?.to_owned();
        match key {
            "skip" if is_shell => Ok(Mark::Skip(value)),
            "refused" if is_shell => Ok(Mark::Run { refused: value }),
            "file" => Ok(Mark::File(value)),
            _ => Err(format!("`{key}` is no mark of a block of `{language}`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Page;

    #[test]
    fn every_line_of_the_script_is_that_of_the_page() {
        let page = Page::read(
            "# A\n```sh\necho a\n```\n<!-- sh\nb=1\n-->\n```json\n{}\n```\n```sh refused=\"no\"\nc\n```\n",
        );
        let page = page.expect("the page is in order");
        assert_eq!(
            page.script,
            "\nbegin 2 ''\necho a\nend\nbegin 5\nb=1\nend\n\n\n\nbegin 11 'no'\nc\nend\n"
        );
        assert_eq!(page.shown, 2);
    }

    #[test]
    fn what_is_marked_is_no_command() {
        let page =
            Page::read("```sh skip=\"needs a bus\"\nrm -rf x\n```\n```toml file=\"a.toml\"\na = 1\n```\n");
        let page = page.expect("the page is in order");
        assert_eq!(page.script.trim(), "");
        assert_eq!(page.skipped, [(1, "needs a bus".to_owned())]);
        assert_eq!(page.files, [("a.toml".to_owned(), "a = 1\n".to_owned())]);
    }

    #[test]
    fn a_wrong_mark_is_told_with_its_line() {
        for (info, said) in [
            ("sh skip", "`skip` is no mark"),
            ("sh skip=\"\"", "the value of `skip`"),
            ("sh ignore=\"x\"", "`ignore` is no mark of a block of `sh`"),
            ("toml skip=\"x\"", "`skip` is no mark of a block of `toml`"),
            ("bash", "write `sh` for `bash`"),
        ] {
            let error = Page::read(&format!("\n```{info}\n```\n")).expect_err(info);
            assert!(error.starts_with("line 2: ") && error.contains(said), "{info}: {error}");
        }
        assert!(Page::read("```sh\na\n").is_err());
    }
}
