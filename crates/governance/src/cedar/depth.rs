//! How deep a statement may nest. Cedar's parser and evaluator call themselves for every level, and a text from outside must
//! neither end the process nor mean something else where the stack is larger.

/// What a statement may have of what nests: brackets in each other, operators in a row, `if` in `if`. Nobody writes half as
/// much, and all of it together fits a small stack.
const MOST_BRACKETS: usize = 20;
const MOST_OPERATORS: usize = 1_000;
const MOST_IFS: usize = 50;

/// Where a text nests too deep, if it does. It need not be Cedar.
pub(super) fn too_deep(text: &str) -> Option<usize> {
    let (mut brackets, mut operators, mut ifs) = (0usize, 0, 0);
    let mut letters = text.char_indices().peekable();
    let mut word = String::new();
    while let Some((at, letter)) = letters.next() {
        let ends = !letters.peek().is_some_and(|(_, next)| is_of_a_word(*next));
        if is_of_a_word(letter) {
            word.push(letter);
            if !ends {
                continue;
            }
            ifs += usize::from(word == "if");
            word.clear();
        }
        match letter {
            '"' => {
                while let Some((_, letter)) = letters.next() {
                    match letter {
                        '"' => break,
                        '\\' => drop(letters.next()),
                        _ => {}
                    }
                }
            }
            '/' if letters.peek().is_some_and(|(_, next)| *next == '/') => {
                letters.by_ref().find(|(_, letter)| *letter == '\n');
            }
            '(' | '[' | '{' => brackets += 1,
            ')' | ']' | '}' => brackets = brackets.saturating_sub(1),
            '+' | '-' | '*' | '.' | '!' => operators += 1,
            ';' => (operators, ifs) = (0, 0),
            _ => {}
        }
        if brackets > MOST_BRACKETS || operators > MOST_OPERATORS || ifs > MOST_IFS {
            return Some(at);
        }
    }
    None
}

fn is_of_a_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_in_strings_and_comments_nests_nothing() {
        let much = "(".repeat(100);
        assert_eq!(too_deep(&format!("a \"{much}\\\"{much}\" // {much}\n + b")), None);
        assert_eq!(too_deep(&much), Some(20));
        assert_eq!(too_deep(&"if ".repeat(51)), Some(151));
        assert_eq!(too_deep(&"if; notif iff if_ ".repeat(51)), None);
        assert_eq!(too_deep(&"1+".repeat(1_001)), Some(2_001));
    }
}
