//! The blocks of the documents: the configurations and commands that they show.

use std::fs;
use std::path::{Path, PathBuf};

/// A fenced block of a document.
#[derive(Clone, Debug)]
pub struct Block {
    /// The document, from the root of the sources, such as `docs/security.md`.
    pub document: String,
    /// The line of the opening fence.
    pub line: usize,
    /// The word after the opening fence; empty if there is none.
    pub language: String,
    /// What is between the fences, without the indentation of a list.
    pub text: String,
    /// Why it is not run, from the comment `<!-- not run: why -->` in the line above it.
    pub not_run: Option<String>,
}

impl Block {
    /// Where it is, such as `README.md:38`.
    pub fn place(&self) -> String {
        format!("{}:{}", self.document, self.line)
    }
}

/// The root of the sources.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("t/harness is below it").to_owned()
}

/// The documents whose blocks are run, from the root of the sources.
pub fn names() -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(root().join("docs"))
        .expect("docs")
        .map(|entry| format!("docs/{}", entry.expect("an entry").file_name().to_string_lossy()))
        .filter(|name| name.ends_with(".md"))
        .collect();
    names.extend(["README.md", "CONTRIBUTING.md", "SECURITY.md"].map(String::from));
    names.sort();
    names
}

/// The blocks of a document.
///
/// # Panics
///
/// If a block is not closed, or is one by indentation alone: such a block has no language, and would not be run.
pub fn blocks(name: &str) -> Vec<Block> {
    let text = fs::read_to_string(root().join(name)).unwrap_or_else(|err| panic!("{name}: {err}"));
    let mut blocks = Vec::new();
    let mut open: Option<(Block, usize)> = None;
    let mut above = "";
    for (index, line) in text.lines().enumerate() {
        let indentation = line.len() - line.trim_start().len();
        match (&mut open, line.trim_start().strip_prefix("```")) {
            (None, Some(language)) => {
                let not_run =
                    above.trim().strip_prefix("<!-- not run: ").and_then(|it| it.strip_suffix(" -->"));
                let block = Block {
                    document: name.into(),
                    line: index + 1,
                    language: language.trim().into(),
                    text: String::new(),
                    not_run: not_run.map(String::from),
                };
                open = Some((block, indentation));
            }
            (Some(_), Some(_)) => blocks.extend(open.take().map(|(block, _)| block)),
            (Some((block, depth)), None) => {
                block.text.push_str(&line[indentation.min(*depth)..]);
                block.text.push('\n');
            }
            (None, None) => assert!(
                !(line.starts_with("    ") && above.is_empty()),
                "{name}:{}: fence this block, and name its language",
                index + 1
            ),
        }
        above = line;
    }
    assert!(open.is_none(), "{name}: a block is not closed");
    blocks
}
