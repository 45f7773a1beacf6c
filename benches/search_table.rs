//! The table of the README: who counts pairs how fast, as Markdown.
//!
//! Contestants take turns and each one's best round counts, so that a noisy
//! machine is noisy to all of them. Close everything else nevertheless: two busy
//! threads suffer more from a third than one does.
//! Arguments are atom counts; default: all.
#![allow(clippy::print_stdout, reason = "the table is the purpose")]

mod contest;

use std::time::{Duration, Instant};

use bevy_rapier_molecules::search::{PairBuffer, PairSearch, SearchTimes, UniformGrid};
use contest::TOLERANCE_NM;
use contest::contestants::{Contestant, contestants};
use contest::scene::Scene;

/// Atoms of the scenes unless arguments say otherwise.
const ATOMS: [usize; 6] = [1000, 10_000, 100_000, 1_000_000, 2_000_000, 4_000_000];

/// Rounds that each contestant has at least.
const MIN_ROUNDS: usize = 5;

/// Rounds go on until a scene has taken this long.
const TIME_PER_SCENE: Duration = Duration::from_secs(30);

/// Rounds that are enough in any case.
const MAX_ROUNDS: usize = 200;

/// Counts of different searches may differ by pairs at the very tolerance, whose
/// distance each rounds in its own way: this fraction at most.
const UNDECIDED: f64 = 1.0e-5;

/// The columns, after the atoms and the pairs.
const NAMES: [&str; 4] = ["uniform-grid", "zelll", "kiddo", "brute-force"];

fn main() {
    let mut sizes: Vec<usize> = std::env::args()
        .filter_map(|arg| arg.parse().ok())
        .collect();
    if sizes.is_empty() {
        // `cargo bench` says so; `cargo test --benches` only wants to see it run.
        let in_earnest = std::env::args().any(|arg| arg == "--bench");
        sizes = ATOMS[..if in_earnest { ATOMS.len() } else { 1 }].to_vec();
    }
    println!(
        "Pairs of atoms of different molecules closer than {TOLERANCE_NM} nm, from unsorted atoms; \
         ms, best of interleaved rounds, on {}, {} threads.\n",
        processor(),
        rayon::current_num_threads()
    );
    println!(
        "| atoms | pairs | {} | zelll ÷ uniform-grid | build + walk |",
        NAMES.join(" | ")
    );
    println!("|--:|--:|{}--:|--:|", "--:|".repeat(NAMES.len()));
    for atoms in sizes {
        println!("{}", row(&Scene::vesicle(atoms)));
    }
}

/// Runs all contestants on one scene and writes its line.
fn row(scene: &Scene) -> String {
    let scenes = [&scene.mirrored(), scene];
    let mut contestants = contestants(scene.len());
    let mut best = vec![Duration::MAX; contestants.len()];
    let counts: Vec<u64> = contestants.iter_mut().map(|one| one.count(scene)).collect();
    for (&count, contestant) in counts.iter().zip(&contestants) {
        let apart = count.abs_diff(counts[0]) as f64;
        assert!(
            apart <= 2.0 + UNDECIDED * count as f64,
            "{} counts {count} pairs, not {}",
            contestant.name(),
            counts[0]
        );
    }
    let start = Instant::now();
    let mut round = 0;
    while round < MIN_ROUNDS || (round < MAX_ROUNDS && start.elapsed() < TIME_PER_SCENE) {
        for (contestant, best) in contestants.iter_mut().zip(&mut best) {
            *best = timed(contestant.as_mut(), scenes[round % 2]).min(*best);
        }
        round += 1;
    }
    let time_of = |name: &str| {
        let index = contestants.iter().position(|one| one.name() == name)?;
        Some(best[index].as_secs_f64() * 1.0e3)
    };
    let mut cells = vec![scene.len().to_string(), counts[0].to_string()];
    cells.extend(NAMES.map(|name| time_of(name).map_or("–".to_owned(), significant)));
    let ratio = time_of("zelll").zip(time_of("uniform-grid"));
    cells.push(ratio.map_or("–".to_owned(), |(zelll, grid)| {
        format!("{:.1}", zelll / grid)
    }));
    let split = split(scene);
    let ms = |duration: Duration| significant(duration.as_secs_f64() * 1.0e3);
    cells.push(format!("{} + {}", ms(split.build), ms(split.walk)));
    format!("| {} |", cells.join(" | "))
}

fn timed(contestant: &mut dyn Contestant, scene: &Scene) -> Duration {
    let start = Instant::now();
    std::hint::black_box(contestant.count(scene));
    start.elapsed()
}

/// The two halves of the grid's fastest search that also writes the pairs down.
fn split(scene: &Scene) -> SearchTimes {
    let (mut search, mut pairs) = (UniformGrid::new(), PairBuffer::new());
    (0..MIN_ROUNDS * 2)
        .map(|_| {
            search
                .find_pairs(&scene.spheres, 0.0, &mut pairs)
                .expect("a vesicle is finite")
        })
        .min_by_key(|times| times.build + times.walk)
        .unwrap_or_default()
}

/// Three digits or so.
fn significant(ms: f64) -> String {
    match ms {
        _ if ms < 1.0 => format!("{ms:.3}"),
        _ if ms < 100.0 => format!("{ms:.1}"),
        _ => format!("{ms:.0}"),
    }
}

/// What the system calls the processor.
fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    info.lines()
        .find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1))
        .unwrap_or("an unknown processor")
        .to_owned()
}
