//! The bench harness: interleaved rounds, Markdown tables and the JSON report.

use std::time::Duration;

use crate::common::interleave::{Rounds, Samples, interleave};
use crate::common::{Cell, Column, Run, cells, cpu_time, grouped};
use serde_json::{Value, json};

fn seconds(times: &[u64]) -> Samples {
    times.iter().copied().map(Duration::from_secs).collect()
}

#[test]
fn competitors_run_once_per_round_in_order() {
    let mut turns = Vec::new();
    let samples = interleave(Rounds::exactly(2), &mut ["a", "b"], |round, name| {
        turns.push((round, *name));
    });
    assert_eq!(turns, [(0, "a"), (0, "b"), (1, "a"), (1, "b")]);
    assert_eq!(samples.len(), 2);
}

#[test]
fn rounds_end_after_the_given_time_within_their_bounds() {
    let mut rounds = 0;
    let endless = Rounds {
        min: 3,
        max: 7,
        time: Duration::MAX,
    };
    interleave(endless, &mut [()], |_, ()| rounds += 1);
    assert_eq!(rounds, 7);
    rounds = 0;
    let short = Rounds {
        time: Duration::ZERO,
        ..endless
    };
    interleave(short, &mut [()], |_, ()| rounds += 1);
    assert_eq!(rounds, 3);
}

#[test]
fn best_and_median_of_laps() {
    let samples = seconds(&[5, 1, 9, 2]);
    assert_eq!(samples.best(), Duration::from_secs(1));
    assert_eq!(samples.median(), Duration::from_secs(5));
    assert_eq!(samples.sum(), Duration::from_secs(17));
    assert_eq!(seconds(&[]).best(), Duration::ZERO);
}

#[test]
fn numbers_are_rounded_and_grouped_in_markdown() {
    let significant = Column::number("any");
    for (value, shown) in [
        (0.0, "0.000"),
        (0.000_051, "0.00005"),
        (0.061_2, "0.061"),
        (28.94, "28.9"),
        (350.4, "350"),
        (-1819.3, "-1,819"),
        (1_234_567.8, "1,234,568"),
    ] {
        assert_eq!(significant.show(&Cell::Number(value)), shown);
    }
    let fixed = Column::measured("any", "ms").decimals(2);
    assert_eq!(fixed.show(&Cell::Number(1234.567)), "1,234.57");
    assert_eq!(fixed.show(&Cell::from([0.5, 2.0])), "0.50 + 2.00");
    assert_eq!(fixed.show(&Cell::from(None)), "–");
    assert_eq!(fixed.show(&Cell::from(83_080_u32)), "83,080");
    assert_eq!(
        ["1", "12", "123", "1234"].map(grouped),
        ["1", "12", "123", "1,234"]
    );
}

#[test]
fn report_rows_are_keyed_by_column_name() {
    let mut run = Run::new("bench", true, true);
    run.begin("part");
    let columns = vec![
        Column::text("who"),
        Column::measured("build + walk", "ms"),
        Column::number("ratio").headed("÷"),
    ];
    let mut table = run.table("A title.", columns);
    table.row(cells!["grid", [1.25, 2.5], 0.123_456]);
    table.row(cells!["tree", 3.0, None]);
    run.end_table();
    run.note("A note.");
    let report = serde_json::to_value(run.report()).unwrap();
    assert_eq!(report["bench"], "bench");
    assert_eq!(report["quick"], true);
    assert_eq!(report["profile"], "dev");
    assert_eq!(report["threads"], rayon::current_num_threads());
    assert_eq!(
        report["notes"],
        json!([{ "part": "part", "text": "A note." }])
    );
    let table = &report["tables"][0];
    assert_eq!(table["part"], "part");
    assert_eq!(table["title"], "A title.");
    assert!(table["seconds"].as_f64().unwrap() > 0.0);
    let columns = json!([
        { "name": "who", "unit": null },
        { "name": "build + walk", "unit": "ms" },
        { "name": "ratio", "unit": null },
    ]);
    assert_eq!(table["columns"], columns);
    let rows = json!([
        { "who": "grid", "build + walk": [1.25, 2.5], "ratio": 0.123_456 },
        { "who": "tree", "build + walk": 3.0, "ratio": Value::Null },
    ]);
    assert_eq!(table["rows"], rows);
}

#[test]
#[should_panic(expected = "duplicate column 'ms'")]
fn duplicate_columns_are_rejected() {
    let mut run = Run::new("bench", true, true);
    run.table("A title.", vec![Column::number("ms"), Column::text("ms")]);
}

#[test]
#[should_panic(expected = "A title.")]
fn rows_with_missing_cells_are_rejected() {
    let mut run = Run::new("bench", true, true);
    let columns = vec![Column::number("one"), Column::number("other")];
    run.table("A title.", columns).row(cells![1.0]);
}

#[test]
fn cpu_time_excludes_setup() {
    let spin = |seconds: f64| {
        let begin = cpu_time::thread_seconds();
        while cpu_time::thread_seconds() - begin < seconds {
            std::hint::spin_loop();
        }
    };
    let (took, last) = cpu_time::time(
        || {
            spin(0.3);
            Ok(7)
        },
        |prepared| {
            spin(0.5);
            Ok(prepared)
        },
    )
    .unwrap();
    assert_eq!(last, 7);
    assert!((0.45..0.7).contains(&took), "{took}");
}
