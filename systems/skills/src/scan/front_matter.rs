//! The YAML before a skill's text.

use serde::Deserialize;

/// The most bytes of front matter that are parsed.
const BYTES_MAX: usize = 16 << 10;

/// The front matter of a skill, as far as anybody here looks at it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct FrontMatter {
    #[serde(default)]
    pub name: Option<String>,
    #[serde(default)]
    pub description: Option<String>,
    #[serde(default, rename = "allowed-tools")]
    pub allowed_tools: Option<Tools>,
}

/// A list of tools, as a list or as one text.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Tools {
    Text(String),
    List(Vec<String>),
}

impl FrontMatter {
    /// Reads the front matter at the beginning of a skill's text.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn read(text: &str) -> Result<FrontMatter, String> {
        let (yaml, _) = split(text).ok_or_else(|| {
            "the file must begin with front matter: YAML between two lines of `---`".to_owned()
        })?;
        if yaml.len() > BYTES_MAX {
            return Err(format!("the front matter has {} bytes: {BYTES_MAX} is the most", yaml.len()));
        }
        serde_saphyr::from_str(yaml).map_err(|error| {
            let message = error.to_string();
            let first = message.lines().next().unwrap_or_default();
            format!("the front matter is not valid: {first}")
        })
    }

    /// Returns each tool that the skill asks for. A text may separate them by commas or spaces, but not within parentheses.
    #[must_use]
    pub fn tools(&self) -> Vec<String> {
        let texts = match &self.allowed_tools {
            None => return Vec::new(),
            Some(Tools::Text(text)) => std::slice::from_ref(text),
            Some(Tools::List(texts)) => texts,
        };
        let mut tools = Vec::new();
        for text in texts {
            let mut depth = 0usize;
            let parts = text.split(|c: char| {
                match c {
                    '(' => depth += 1,
                    ')' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                depth == 0 && (c == ',' || c.is_whitespace())
            });
            tools.extend(parts.filter(|part| !part.is_empty()).map(str::to_owned));
        }
        tools
    }
}

/// Returns the front matter and the number of its lines, with those of its fences.
pub(super) fn split(text: &str) -> Option<(&str, usize)> {
    let is_fence = |line: &str| line.trim_end() == "---";
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().filter(|line| is_fence(line))?;
    let mut end = first.len();
    for (no, line) in lines.enumerate() {
        if is_fence(line) {
            return Some((&text[first.len()..end], no + 2));
        }
        end += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_is_read_in_every_usual_form() {
        let read = |tools: &str| {
            FrontMatter::read(&format!("---\nname: pdf\ndescription: Reads.\nlicense: MIT\n{tools}---\nText"))
                .unwrap()
        };
        assert_eq!(read("").name.as_deref(), Some("pdf"));
        assert_eq!(read("").tools(), [""; 0]);
        for tools in [
            "allowed-tools: Read, Bash(git log:*, git diff), Write\n",
            "allowed-tools: Read Bash(git log:*, git diff) Write\n",
            "allowed-tools:\n  - Read\n  - Bash(git log:*, git diff)\n  - Write\n",
            "allowed-tools: [Read, \"Bash(git log:*, git diff)\", Write]\n",
        ] {
            assert_eq!(read(tools).tools(), ["Read", "Bash(git log:*, git diff)", "Write"], "{tools}");
        }
    }

    #[test]
    fn what_is_no_front_matter_is_an_error_with_a_reason() {
        let deep = format!("---\na: {}{}\n---\n", "[".repeat(5_000), "]".repeat(5_000));
        let bomb = (1..30).fold("---\na0: &a0 [x, x]\n".to_owned(), |text, no| {
            format!("{text}a{no}: &a{no} [*a{0}, *a{0}, *a{0}]\n", no - 1)
        }) + "---\n";
        let long = format!("---\ndescription: {}\n---\n", "a".repeat(20_000));
        for text in ["", "# Title", "---\nname: x", "---\nname: [\n---\n", "---\n- a\n---\n", &deep, &long] {
            let shown: String = text.chars().take(40).collect();
            assert!(FrontMatter::read(text).is_err_and(|reason| !reason.is_empty()), "{shown}");
        }
        // Refused or read without the rest: what matters is that this ends.
        let _ = FrontMatter::read(&bomb);
    }
}
