//! Paths and names of kinds as descriptions of entities.

/// First name of all descriptions.
const ROOT: &str = "root";

/// Characters that separate names or descriptions, and the characters of names that replace them.
const REPLACED: [(char, char); 2] = [('.', '\u{2024}'), (',', '\u{201a}')];

/// The path and the name of a kind, separated by dots.
pub(super) fn description_of(path: &[String], name: &str) -> String {
    let mut description = ROOT.to_owned();
    let names = path.iter().map(String::as_str).chain([name]);
    for name in names {
        description.push('.');
        description.extend(name.chars().map(|c| {
            let replaced = REPLACED.iter().find(|(from, _)| *from == c);
            replaced.map_or(c, |(_, to)| *to)
        }));
    }
    description
}

/// The path and the name in a description.
pub(super) fn path_and_name(description: &str) -> (Vec<String>, String) {
    let rest = description.strip_prefix(ROOT);
    let rest = rest.and_then(|rest| rest.strip_prefix('.'));
    let restored = |name: &str| -> String {
        let chars = name.chars().map(|c| {
            let replaced = REPLACED.iter().find(|(_, to)| *to == c);
            replaced.map_or(c, |(from, _)| *from)
        });
        chars.collect()
    };
    let mut names: Vec<String> = rest
        .unwrap_or(description)
        .split('.')
        .map(restored)
        .collect();
    let name = names.pop().unwrap_or_default();
    (names, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_and_commas_in_names_do_not_separate() {
        let path = ["a.b", "", "root", "c d"].map(str::to_owned);
        let description = description_of(&path, "x,y 1.5");
        assert_eq!(description, "root.a․b..root.c d.x‚y 1․5");
        let expected = (path.to_vec(), "x,y 1.5".to_owned());
        assert_eq!(path_and_name(&description), expected);
    }

    #[test]
    fn descriptions_of_other_programs_are_split_at_dots() {
        let read = path_and_name("vesicle.outer.POPC");
        let path = ["vesicle", "outer"].map(str::to_owned).to_vec();
        assert_eq!(read, (path, "POPC".to_owned()));
        assert_eq!(path_and_name("root"), (Vec::new(), "root".to_owned()));
        assert_eq!(path_and_name(""), (Vec::new(), String::new()));
    }
}
