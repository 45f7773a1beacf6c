//! Suggestions for misspelled names.

use bevy_rapier_molecules::names::closest_name;

const KNOWN: [&str; 4] = ["cholesterol", "popc", "pope", "Nucleus"];

fn closest(name: &str) -> Option<String> {
    closest_name(name, KNOWN)
}

#[test]
fn a_name_with_at_most_two_wrong_letters_is_found() {
    assert_eq!(closest("popp").as_deref(), Some("popc"));
    assert_eq!(closest("cholestrol").as_deref(), Some("cholesterol"));
    assert_eq!(closest("colestrol").as_deref(), Some("cholesterol"));
    assert_eq!(closest("nukleuss").as_deref(), Some("Nucleus"));
    assert_eq!(closest("olestrol"), None);
}

#[test]
fn the_name_with_the_fewest_changes_is_found() {
    assert_eq!(closest("pope").as_deref(), Some("pope"));
    assert_eq!(closest("poope").as_deref(), Some("pope"));
}

#[test]
fn upper_and_lower_case_are_the_same() {
    assert_eq!(closest("POPC").as_deref(), Some("popc"));
    assert_eq!(closest("nucleus").as_deref(), Some("Nucleus"));
}

#[test]
fn the_beginning_of_a_name_is_enough() {
    assert_eq!(closest("chol").as_deref(), Some("cholesterol"));
    assert_eq!(closest("ch"), None);
}

#[test]
fn unlike_and_overlong_names_have_no_suggestion() {
    assert_eq!(closest(""), None);
    assert_eq!(closest("water"), None);
    assert_eq!(closest_name("ab", ["xy"]), None);
    let long = "a".repeat(1_000_000);
    assert_eq!(closest_name(&long, [long.as_str()]), None);
}
