//! Promises about the repository itself, kept by reading it.

#[cfg(test)]
mod repository {
    use std::fs;
    use std::path::{Path, PathBuf};

    /// Built, downloaded or found by fuzzing: nobody wrote what is in there.
    const NOT_OURS: &[&str] = &[
        "target",
        "node_modules",
        ".git",
        "data",
        "fuzz/target",
        "fuzz/artifacts",
        "fuzz/corpus",
        "fuzz/coverage",
    ];

    fn root() -> PathBuf {
        // Asked when the test runs: a target folder shared by two checkouts may hold the other one's binary.
        let xtask = std::env::var("CARGO_MANIFEST_DIR").unwrap_or(env!("CARGO_MANIFEST_DIR").into());
        Path::new(&xtask).parent().expect("xtask is in the repository").to_path_buf()
    }

    /// Every file below `folder`, as paths from the root.
    fn files(root: &Path, folder: &Path, found: &mut Vec<PathBuf>) {
        // Another process may remove a file while we walk.
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            let path = entry.path();
            let inside = path.strip_prefix(root).expect("walked from the root").to_path_buf();
            let is_ours =
                !NOT_OURS.iter().any(|name| inside == Path::new(name) || inside.ends_with("node_modules"));
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && is_ours => files(root, &path, found),
                Ok(kind) if kind.is_file() => found.push(inside),
                _ => {}
            }
        }
    }

    /// The lines of `text` below the first heading with `title` in it, up to the next heading of its rank.
    fn section(text: &str, title: &str) -> Option<String> {
        let rank = |line: &str| line.len() - line.trim_start_matches('#').len();
        let is_it = |line: &&str| rank(line) > 0 && line.to_lowercase().contains(title);
        let mut lines = text.lines().skip_while(|line| !is_it(line));
        let own = rank(lines.next()?);
        let body: Vec<&str> = lines.take_while(|line| rank(line) == 0 || rank(line) > own).collect();
        Some(body.join("\n"))
    }

    /// Where `path` begins an absolute path in `line`; `docs/work/` does not begin one.
    fn mentions(line: &str, path: &str) -> bool {
        line.match_indices(path).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            !before.is_some_and(|letter| letter.is_alphanumeric() || "._-/}>*".contains(letter))
        })
    }

    #[test]
    fn every_crate_is_in_the_code_map() {
        let text =
            fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md is at the root");
        let map = section(&text, "code map").expect("ARCHITECTURE.md has a heading `Code map`");
        let crates = fs::read_dir(root().join("crates")).expect("the crates are in crates/");
        let mut missing: Vec<String> = crates
            .flatten()
            .filter(|entry| entry.path().join("Cargo.toml").is_file())
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| !map.contains(&format!("`{name}`")) && !map.contains(&format!("crates/{name}")))
            .collect();
        missing.sort();
        assert!(
            missing.is_empty(),
            "write a paragraph in ARCHITECTURE.md's code map for: {}",
            missing.join(", ")
        );
    }

    /// The names of tests are sentences; no other word in backticks has so many underscores.
    fn names_of_tests(text: &str) -> Vec<&str> {
        let is_one = |word: &&str| {
            word.matches('_').count() >= 4
                && word
                    .chars()
                    .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_')
        };
        text.split('`').skip(1).step_by(2).filter(is_one).collect()
    }

    #[test]
    fn every_test_that_a_document_names_is_there() {
        let root = root();
        let mut all = Vec::new();
        files(&root, &root, &mut all);
        let read = |path: &PathBuf| fs::read_to_string(root.join(path)).unwrap_or_default();
        let rust = all.iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
        let code: String = rust.map(read).collect();
        let (mut named, mut missing) = (0, Vec::new());
        for document in ["ARCHITECTURE.md", "docs/explanation/what-goes-wrong.md"] {
            let text = read(&document.into());
            for name in names_of_tests(&text) {
                named += 1;
                if !code.contains(&format!("fn {name}(")) {
                    missing.push(format!("{document}: {name}"));
                }
            }
        }
        assert!(named > 50, "only {named} names were found: has their form changed?");
        assert!(missing.is_empty(), "no test has these names:\n{}", missing.join("\n"));
    }

    #[test]
    fn no_file_mentions_a_path_of_one_machine() {
        let root = root();
        let mut all = Vec::new();
        files(&root, &root, &mut all);
        assert!(all.iter().any(|path| path == Path::new("Cargo.toml")), "the walk found the repository");
        // Put together here, or this file would mention them.
        let paths = [concat!("/", "work/"), concat!("/", "root/")];
        let mut found = Vec::new();
        for path in &all {
            // What is not text has no paths that anyone reads.
            let Ok(text) = fs::read_to_string(root.join(path)) else {
                continue;
            };
            for (number, line) in text.lines().enumerate() {
                if paths.iter().any(|machine| mentions(line, machine)) {
                    found.push(format!("{}:{}: {}", path.display(), number + 1, line.trim()));
                }
            }
        }
        assert!(found.is_empty(), "these lines only make sense on one machine:\n{}", found.join("\n"));
    }

    #[test]
    fn a_path_is_told_from_a_part_of_one() {
        let path = concat!("/", "work/");
        assert!(mentions(&format!("cd {path}main"), path));
        assert!(mentions(&format!("`{path}main`"), path));
        assert!(!mentions(&format!("docs{path}notes.md"), path));
        assert!(!mentions(&format!("https://example.org{path}x"), path));
    }

    #[test]
    fn a_section_ends_at_the_next_heading_of_its_rank() {
        let text = "# A\n## Code map\none\n### `x`\ntwo\n## Next\nthree";
        assert_eq!(section(text, "code map").as_deref(), Some("one\n### `x`\ntwo"));
        assert_eq!(section(text, "absent"), None);
    }
}
