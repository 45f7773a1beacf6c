//! Markdown tables.

/// Prints a table under a title, numbers to the right.
pub fn print(title: &str, header: &[String], rows: &[Vec<String>]) {
    println!("{title}\n");
    println!("| {} |", header.join(" | "));
    println!("|---|{}", "--:|".repeat(header.len().saturating_sub(1)));
    for row in rows {
        println!("| {} |", row.join(" | "));
    }
    println!();
}

/// Three digits or so; nothing if there is no number.
pub fn number(value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        Some(value) if value < 0.001 => format!("{value:.5}"),
        Some(value) if value < 1.0 => format!("{value:.3}"),
        Some(value) if value < 100.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.0}"),
    }
}

/// Owned copies of words.
pub fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
