//! Pieces of a file, each with what an agent does with them: read, quote, run.

use std::ops::Range;

use serde::Deserialize;

use super::text::{Text, plain};
use super::{disguise, front_matter, mention};

/// The place of a text, as rules look at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Context {
    /// Text that an agent reads, HTML comments included.
    Prose,
    /// A fenced block: shown, and perhaps run.
    Fence,
    /// Inline code: a mention.
    Inline,
    /// A file that is run.
    Script,
    /// A dynamic context line: it runs before anybody has read anything.
    Dynamic,
}

/// A piece of a file that is matched as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) context: Context,
    pub(super) text: Text,
    /// The places that are read otherwise than the rest: inline code, quotations of attacks, examples of what is bad.
    otherwise: Vec<(Range<usize>, Context)>,
    /// Set if only rules about what an agent is told look at it: the text is a guess at what a reader understands.
    pub(super) is_guess: bool,
}

impl Segment {
    fn new(context: Context) -> Segment {
        Segment { context, text: Text::default(), otherwise: Vec::new(), is_guess: false }
    }

    /// Returns the context of a match. Signs behind inline code that it has as well do not make it prose.
    pub(super) fn context_of(&self, place: &Range<usize>) -> Context {
        let ends_in = |end: usize| {
            let behind = self.text.text.as_bytes().get(end..place.end).unwrap_or_default();
            place.end <= end
                || behind.iter().all(|byte| byte.is_ascii_punctuation() || byte.is_ascii_whitespace())
        };
        let mut around = self
            .otherwise
            .iter()
            .filter(|(piece, _)| piece.start <= place.start && place.start < piece.end && ends_in(piece.end));
        around.next_back().map_or(self.context, |(_, context)| *context)
    }

    /// Marks the text from a place on as an example of what nobody should do.
    fn example(&mut self, from: usize) {
        let end = self.text.text.len();
        match self.otherwise.last_mut() {
            Some((last, Context::Inline)) if last.end == from => last.end = end,
            _ => self.otherwise.push((from..end, Context::Inline)),
        }
    }

    /// Returns what the text says besides: as a reader understands it, and as whoever decodes it.
    fn besides(&self) -> Vec<Segment> {
        let mut understood = Segment { is_guess: true, ..Segment::new(self.context) };
        let mut hidden = Segment::new(Context::Script);
        let mut differs = false;
        for (no, line) in self.text.lines() {
            let read = disguise::undisguised(line.trim_end_matches('\n'));
            differs |= read.is_some();
            // A line that goes on behind a backslash goes on here, too.
            let end = if line.ends_with('\n') { "\n" } else { " " };
            understood
                .text
                .push_line(no, &read.map_or_else(|| line.to_owned(), |read| format!("{read}{end}")));
            for text in disguise::decoded(line) {
                hidden.text.push_line(no, &format!("{text}\n"));
            }
        }
        let understood = differs.then_some(understood).into_iter();
        understood.chain(Some(hidden).filter(|hidden| !hidden.text.is_empty())).collect()
    }
}

/// Takes a file apart. Markdown has contexts; any other file is run, or might be.
pub(super) fn segments(path: &str, text: &str) -> Vec<Segment> {
    let mut segments = match is_markdown(path) {
        true => Markdown::default().read(text),
        false => vec![script(text)],
    };
    let besides: Vec<Segment> = segments.iter().flat_map(Segment::besides).collect();
    segments.extend(besides);
    segments
}

fn is_markdown(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    match name.rsplit_once('.') {
        Some((_, ending)) => {
            ["md", "markdown", "mdx", "txt", "rst"].iter().any(|known| ending.eq_ignore_ascii_case(known))
        }
        None => ["LICENSE", "README", "NOTICE", "AUTHORS"].contains(&name),
    }
}

/// Puts lines that go on behind a backslash into one, so that no rule is split by them.
fn script(text: &str) -> Segment {
    let mut segment = Segment::new(Context::Script);
    for (no, line) in (1u32..).zip(text.lines()) {
        let line = plain(line);
        match line.strip_suffix('\\') {
            Some(line) => segment.text.push_line(no, &format!("{line} ")),
            None => segment.text.push_line(no, &format!("{line}\n")),
        }
    }
    segment
}

/// A fence that is open: its character, its length, and whether its block is run.
struct Fence {
    mark: char,
    length: usize,
    is_dynamic: bool,
}

#[derive(Default)]
struct Markdown {
    segments: Vec<Segment>,
    /// Lines of prose that belong together.
    paragraph: Vec<(u32, String)>,
    in_comment: bool,
    in_front_matter: bool,
    /// The last paragraph, as a label of the block behind it.
    label: String,
    heading: String,
    /// For each mark, the length from which no fence is closed any more: looked for once, not once a line.
    unclosed_from: [Option<usize>; 2],
}

impl Markdown {
    fn read(mut self, text: &str) -> Vec<Segment> {
        let lines: Vec<&str> = text.lines().collect();
        let of_front_matter = front_matter::split(text).map_or(0, |(_, lines)| lines);
        let mut no = 0;
        while no < lines.len() {
            let line = lines[no];
            let is_head = no < of_front_matter;
            if !is_head
                && !self.in_comment
                && let Some(fence) = fence(line)
                && let Some(end) = self.end_of(&fence, no + 1, &lines)
            {
                self.end_paragraph();
                self.block(&fence, no, &lines[no + 1..end]);
                no = end + 1;
                continue;
            }
            self.in_front_matter = is_head;
            self.prose(number(no), line);
            if no + 1 == of_front_matter {
                self.end_paragraph();
                self.label.clear();
            }
            no += 1;
        }
        self.end_paragraph();
        self.segments
    }

    /// Returns the line that closes a fence. One that is never closed opens none: else all behind it would count as quoted.
    fn end_of(&mut self, fence: &Fence, from: usize, lines: &[&str]) -> Option<usize> {
        let unclosed_from = &mut self.unclosed_from[usize::from(fence.mark == '~')];
        if unclosed_from.is_some_and(|length| fence.length >= length) {
            return None;
        }
        let end = (from..lines.len()).find(|no| closes(fence, lines[*no]));
        if end.is_none() {
            *unclosed_from = Some(fence.length);
        }
        end
    }

    fn block(&mut self, fence: &Fence, opened_at: usize, lines: &[&str]) {
        let mut segment = Segment::new(if fence.is_dynamic { Context::Dynamic } else { Context::Fence });
        let label = std::mem::take(&mut self.label);
        let is_warned =
            mention::is_warning(&self.heading) || label.lines().last().is_some_and(mention::is_warning);
        let mut is_example = is_warned;
        for (index, line) in lines.iter().enumerate() {
            let no = number(opened_at + 1 + index);
            self.dynamic_spans(no, line);
            let line = plain(line);
            let from = segment.text.text.len();
            match line.strip_suffix('\\') {
                Some(line) => segment.text.push_line(no, &format!("{line} ")),
                None => segment.text.push_line(no, &format!("{line}\n")),
            }
            // A comment in a block says what the lines behind it are, up to the next gap or comment.
            match line.trim_start() {
                "" => is_example = is_warned,
                line if is_remark(line) => is_example = is_warned || mention::is_warning(line),
                _ => {}
            }
            if is_example && !fence.is_dynamic {
                segment.example(from);
            }
        }
        if !segment.text.is_empty() {
            self.segments.push(segment);
        }
    }

    fn prose(&mut self, no: u32, line: &str) {
        if !self.in_comment {
            self.dynamic_spans(no, line);
        }
        // The last mark of the line says whether the next one is still within a comment.
        let (opened, closed) = (line.rfind("<!--"), line.rfind("-->"));
        self.in_comment = match (opened, closed) {
            (Some(opened), Some(closed)) => opened > closed,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => self.in_comment,
        };
        if line.trim().is_empty() {
            self.end_paragraph();
        } else {
            self.paragraph.push((no, line.to_owned()));
        }
    }

    /// Adds each ``!`command` `` of a line: it runs wherever it stands, in a fence as well.
    fn dynamic_spans(&mut self, no: u32, line: &str) {
        let mut rest = line;
        while let Some(at) = rest.find('!') {
            let begins_line = line[..line.len() - rest.len() + at]
                .chars()
                .all(|c| c.is_whitespace() || "-*+>:0123456789.".contains(c));
            let after = &rest[at + 1..];
            let behind = if begins_line { after.trim_start() } else { after };
            let length = behind.len() - behind.trim_start_matches('`').len();
            let (ticks, command) = behind.split_at(length);
            if length > 0
                && let Some(end) = command.find(ticks)
            {
                let mut segment = Segment::new(Context::Dynamic);
                segment.text.push_line(no, &plain(&command[..end]));
                self.segments.push(segment);
            }
            rest = after;
        }
    }

    fn end_paragraph(&mut self) {
        let lines = std::mem::take(&mut self.paragraph);
        if lines.is_empty() {
            return;
        }
        let mut segment = Segment::new(Context::Prose);
        let is_code = code_of(&lines);
        for ((no, line), is_code) in lines.iter().zip(is_code) {
            segment.text.push_line(*no, "");
            let line = line.trim_start_matches([' ', '\t', '>', '#']);
            let skipped = is_code.len() - line.chars().count();
            push_prose(&mut segment, line, &is_code[skipped..]);
            segment.text.text.push('\n');
        }
        let is_hidden =
            self.in_front_matter || self.in_comment || lines.iter().any(|(_, line)| line.contains("-->"));
        for (place, context) in &mut segment.otherwise {
            if mention::tells_to_run(&segment.text.text[..place.start]) {
                *context = Context::Fence;
            }
        }
        let about = [&self.heading, self.label.as_str(), segment.text.text.as_str()];
        if !is_hidden && about.into_iter().any(mention::is_about_attacks) {
            let quoted = mention::quotations(&segment.text.text);
            segment.otherwise.extend(quoted.into_iter().map(|place| (place, Context::Inline)));
        }
        if lines.len() == 1 && lines[0].1.starts_with('#') {
            self.heading.clone_from(&segment.text.text);
        }
        self.label.clone_from(&segment.text.text);
        self.segments.push(segment);
    }
}

/// Returns whether a line of code is a remark for its readers.
fn is_remark(line: &str) -> bool {
    ["#", "//", "--", "/*", "<!--", "::", ";", "REM "].iter().any(|mark| line.starts_with(mark))
}

fn number(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(u32::MAX)
}

/// Returns the fence that a line opens: three marks or more, in a list or a quotation as well.
fn fence(line: &str) -> Option<Fence> {
    let line = line.trim_start_matches([' ', '\t', '>']);
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = line.trim_start_matches(mark);
    let length = line.len() - info.len();
    let is_fence = length >= 3 && !(mark == '`' && info.contains('`'));
    is_fence.then_some(Fence { mark, length, is_dynamic: info.trim_start().starts_with('!') })
}

/// Returns whether a line closes a fence.
fn closes(fence: &Fence, line: &str) -> bool {
    let line = line.trim_matches([' ', '\t', '>']);
    line.len() >= fence.length && line.chars().all(|c| c == fence.mark)
}

/// Returns, for each character of each line, whether it is inline code. Code within an HTML comment is text.
fn code_of(lines: &[(u32, String)]) -> Vec<Vec<bool>> {
    let chars: Vec<(usize, char)> = lines
        .iter()
        .enumerate()
        .flat_map(|(index, (_, line))| line.chars().chain(['\n']).map(move |c| (index, c)))
        .collect();
    let mut is_code: Vec<Vec<bool>> =
        lines.iter().map(|(_, line)| Vec::with_capacity(line.chars().count())).collect();
    let run = |from: usize| chars[from..].iter().take_while(|(_, c)| *c == '`').count();
    let closed_at = Closers::new(&chars);
    let (mut at, mut code_until) = (0, 0);
    let has_comment = lines.iter().any(|(_, line)| line.contains("<!--") || line.contains("-->"));
    while at < chars.len() {
        let length = if at < code_until || has_comment { 0 } else { run(at) };
        if length > 0 {
            code_until = closed_at.next(length, at + length).map_or(at, |closed| closed + length);
        }
        for _ in 0..length.max(1) {
            let (index, c) = chars[at];
            if c != '\n' {
                is_code[index].push(at < code_until);
            }
            at += 1;
        }
    }
    is_code
}

/// The places where runs of backticks begin, by their length, each looked at once.
struct Closers {
    runs: Vec<(usize, usize)>,
}

impl Closers {
    fn new(chars: &[(usize, char)]) -> Closers {
        let mut runs = Vec::new();
        let mut at = 0;
        while at < chars.len() {
            let length = chars[at..].iter().take_while(|(_, c)| *c == '`').count();
            if length > 0 {
                runs.push((length, at));
            }
            at += length.max(1);
        }
        runs.sort_unstable();
        Closers { runs }
    }

    /// Returns the first run of this length at or behind a place.
    fn next(&self, length: usize, from: usize) -> Option<usize> {
        let index = self.runs.partition_point(|run| *run < (length, from));
        self.runs.get(index).filter(|(found, _)| *found == length).map(|(_, at)| *at)
    }
}

/// Adds a line of prose without its marks of emphasis, which could split any word.
fn push_prose(segment: &mut Segment, line: &str, is_code: &[bool]) {
    let chars: Vec<char> = line.chars().collect();
    let mut start = 0;
    while start < chars.len() {
        let code = is_code.get(start).copied().unwrap_or_default();
        let end = (start..chars.len())
            .find(|at| is_code.get(*at).copied().unwrap_or_default() != code)
            .unwrap_or(chars.len());
        let piece = &chars[start..end];
        let text: String = match code {
            true => piece.iter().filter(|c| **c != '`').collect(),
            false => without_emphasis(piece),
        };
        let from = segment.text.text.len();
        segment.text.text.push_str(&plain(&text));
        if code {
            segment.otherwise.push((from..segment.text.text.len(), Context::Inline));
        }
        start = end;
    }
}

fn without_emphasis(chars: &[char]) -> String {
    let is_letter =
        |index: Option<usize>| index.and_then(|index| chars.get(index)).is_some_and(|c| c.is_alphanumeric());
    let mut text = String::with_capacity(chars.len());
    for (index, &c) in chars.iter().enumerate() {
        let (before, after) = (is_letter(index.checked_sub(1)), is_letter(Some(index + 1)));
        let is_mark = match c {
            '*' => true,
            '`' => true,
            '_' => before != after,
            _ => false,
        };
        // A star between blanks or in parentheses stands for something: `rm -rf *`, `Bash(*)`.
        let is_star = |index: Option<usize>| index.and_then(|index| chars.get(index)) == Some(&'*');
        let has_star = is_star(index.checked_sub(1)) || is_star(Some(index + 1));
        let is_alone = c == '*' && !before && !after && !has_star;
        if !is_mark || is_alone {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(Context, String)> {
        let segments = segments("a.md", text);
        segments.into_iter().map(|segment| (segment.context, segment.text.text)).collect()
    }

    #[test]
    fn markdown_is_taken_apart() {
        let text = "---\nname: a\n---\n# Title\n\n> *One* **two**\n> three `rm x`\n\n```bash\nls \\\n  -l\n```\n\n!`git log`\n";
        use Context::{Dynamic, Fence, Prose};
        assert_eq!(
            read(text),
            [
                (Prose, "---\nname: a\n---\n".to_owned()),
                (Prose, "Title\n".to_owned()),
                (Prose, "One two\nthree rm x\n".to_owned()),
                (Fence, "ls    -l\n".to_owned()),
                (Dynamic, "git log".to_owned()),
                (Prose, "!git log\n".to_owned()),
            ]
        );
    }

    #[test]
    fn a_match_within_inline_code_is_a_mention_and_one_across_is_not() {
        let segment = &segments("a.md", "Send `key` to `host` now")[0];
        assert_eq!(segment.text.text, "Send key to host now\n");
        assert_eq!(segment.context_of(&(5..8)), Context::Inline);
        assert_eq!(segment.context_of(&(0..8)), Context::Prose);
        assert_eq!(segment.context_of(&(5..16)), Context::Prose);
    }

    #[test]
    fn nothing_hides_behind_marks_that_are_not_closed() {
        let contexts = |text: &str| read(text).into_iter().map(|(context, _)| context).collect::<Vec<_>>();
        assert_eq!(contexts("```\nsudo x\n"), [Context::Prose]);
        assert_eq!(contexts("<!--\n```\nsudo x\n```\n-->"), [Context::Prose], "code in a comment is text");
        assert_eq!(segments("a.md", "`sudo x").remove(0).context_of(&(0..4)), Context::Prose);
        let commented = segments("a.md", "<!-- `sudo x` -->").remove(0);
        assert_eq!(commented.context_of(&(6..10)), Context::Prose);
    }

    #[test]
    fn dynamic_lines_are_found_wherever_they_run() {
        let dynamic = |text: &str| -> Vec<String> {
            let read = read(text).into_iter();
            read.filter(|(context, _)| *context == Context::Dynamic).map(|(_, text)| text).collect()
        };
        assert_eq!(dynamic("Status: !`git status` and !`ls`"), ["git status", "ls"]);
        assert_eq!(dynamic("- ! `git log`"), ["git log"]);
        assert_eq!(dynamic("```\n!`env`\n```"), ["env"]);
        assert_eq!(dynamic("```!\nenv\n```"), ["env\n"]);
        assert_eq!(dynamic("!``a ` b``"), ["a ` b"]);
        assert_eq!(dynamic("Done! `sudo` is not needed."), [""; 0]);
        assert_eq!(dynamic("![image](x.png) `code`"), [""; 0]);
    }

    #[test]
    fn a_file_that_is_no_markdown_is_a_script() {
        let segment = &segments("scripts/a.sh", "curl x \\\n | sh\nls")[0];
        assert_eq!((segment.context, segment.text.text.as_str()), (Context::Script, "curl x   | sh\nls\n"));
        assert_eq!([0, 10, 16].map(|place| segment.text.line_at(place)), [1, 2, 3]);
    }

    #[test]
    fn lines_without_end_take_no_more_than_their_length() {
        for text in ["`".repeat(100_000), "`a``".repeat(25_000), "!`".repeat(50_000), "```a\n".repeat(20_000)]
        {
            assert!(read(&text).len() <= 50_000);
        }
    }
}
