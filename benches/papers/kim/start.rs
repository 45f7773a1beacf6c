//! Both methods from the same state of a scene, and how their cost changes with time.

use std::error::Error;

use bevy_rapier_molecules::motion::CollisionPartner;
use bevy_rapier_molecules::motion::unknown_trajectories::{
    CollisionDetector, EventCounts, HubbardConfig, HubbardDetector, TimeVaryingConfig,
    TimeVaryingDetector, TimeVaryingRules,
};
use bevy_rapier_molecules::scenes::{ForcedSpheres, ForcedSpheresConfig};

use super::{for_each_scene, mean, timed};
use crate::common::{Column, Done, Run, cells};

/// Time for which Hubbard's broad phase runs before a window, s: the first sweep sorts all lines.
const LEAD: f64 = 0.005;

/// Time for which time-varying bounds run at least before a window, s: most bounds collide
/// within that time, so that their ages are spread.
const WARM_UP: f64 = 0.3;

/// A window of simulated time, s.
#[derive(Clone, Copy)]
pub struct Window {
    pub begin: f64,
    pub length: f64,
}

/// A sphere and what it touched.
type Touch = (u32, CollisionPartner);

/// What a method does in a window.
pub struct Measured {
    /// CPU seconds per simulated second.
    pub seconds: f64,
    /// Events per simulated second.
    pub counts: Rates,
    /// All contacts in order.
    pub contacts: Vec<Touch>,
}

/// Events per simulated second.
#[derive(Clone, Copy, Default)]
pub struct Rates {
    /// Collisions of bounds with each other and with walls.
    pub colliding: f64,
    /// Hubbard: rebuilds of all bounds.
    pub rebuilds: f64,
    /// Hubbard: crossings of lines.
    pub crossings: f64,
}

/// A scene [`LEAD`] before a window.
pub struct Start {
    motion: ForcedSpheres,
    /// Time-varying bounds by the rules of this library, which have moved the spheres so far.
    own: TimeVaryingDetector,
    /// The published rules, and the spheres as they have moved them during [`WARM_UP`].
    published: (TimeVaryingDetector, ForcedSpheres),
    window: Window,
}

impl Start {
    pub fn new(config: &ForcedSpheresConfig, window: Window) -> Result<Self, Box<dyn Error>> {
        let [warm_up, lead] = [WARM_UP, LEAD].map(|time| (window.begin - time).max(0.0));
        let mut motion = ForcedSpheres::new(config)?;
        let mut own = time_varying(TimeVaryingRules::FirstEnd, 0.0, &mut motion)?;
        own.advance(warm_up, &mut motion)?;
        let mut other = motion.clone();
        let mut published = time_varying(TimeVaryingRules::Published, warm_up, &mut other)?;
        published.advance(lead, &mut other)?;
        own.advance(lead, &mut motion)?;
        Ok(Self {
            motion,
            own,
            published: (published, other),
            window,
        })
    }

    /// Runs time-varying bounds by the rules of this library in the window.
    pub fn own(&self) -> Result<Measured, Box<dyn Error>> {
        self.measure(&mut self.own.clone(), self.motion.clone())
    }

    /// Runs time-varying bounds by the published rules in the window.
    pub fn published(&self) -> Result<Measured, Box<dyn Error>> {
        let (detector, motion) = &self.published;
        self.measure(&mut detector.clone(), motion.clone())
    }

    /// Runs Hubbard's broad phase in the window.
    pub fn hubbard(&self, config: &HubbardConfig) -> Result<Measured, Box<dyn Error>> {
        let mut motion = self.motion.clone();
        let (spheres, walls) = (motion.spheres().to_vec(), motion.walls());
        let now = self.own.time();
        let mut detector = HubbardDetector::new(&spheres, walls, config, now, &mut motion)?;
        self.measure(&mut detector, motion)
    }

    fn measure(
        &self,
        detector: &mut impl CollisionDetector,
        mut motion: ForcedSpheres,
    ) -> Result<Measured, Box<dyn Error>> {
        let Window { begin, length } = self.window;
        detector.advance(begin, &mut motion)?;
        let (before, contacts) = (detector.counts(), motion.contacts().len());
        let (seconds, done) = timed(|| detector.advance(begin + length, &mut motion));
        done?;
        let contacts = motion.contacts()[contacts..].iter();
        Ok(Measured {
            seconds: seconds / length,
            counts: rates(&before, &detector.counts(), length),
            contacts: contacts.map(|one| (one.sphere, one.other)).collect(),
        })
    }
}

fn rates(before: &EventCounts, after: &EventCounts, length: f64) -> Rates {
    let rate = |count: fn(&EventCounts) -> u64| (count(after) - count(before)) as f64 / length;
    Rates {
        colliding: rate(|counts| counts.colliding + counts.at_walls),
        rebuilds: rate(|counts| counts.colliding + counts.at_walls + counts.resetting),
        crossings: rate(|counts| counts.checks),
    }
}

fn time_varying(
    rules: TimeVaryingRules,
    start: f64,
    motion: &mut ForcedSpheres,
) -> Result<TimeVaryingDetector, Box<dyn Error>> {
    let config = TimeVaryingConfig {
        rules,
        ..TimeVaryingConfig::default()
    };
    let (spheres, walls) = (motion.spheres().to_vec(), motion.walls());
    let detector = TimeVaryingDetector::new(&spheres, walls, &config, start, motion);
    Ok(detector?)
}

/// The cost of both methods in windows from the start on.
pub fn run(run: &mut Run, scenes: u64) -> Done {
    let full: &[f64] = &[0.0, 0.02, 0.1, 0.5, 1.0, 2.0, 4.0, 7.0, 10.0, 14.9];
    let (count, length, begins) = run.pick((1000, 0.05, full), (30, 0.1, &[0.0, 0.1]));
    let scenes = scenes.div_ceil(5);
    let title = format!(
        "**Cost over time**: {count} spheres in windows of {length} s, mean of {scenes} scenes. \
         The window from 0 s begins with new detectors."
    );
    let columns = vec![
        Column::number("window from, s").decimals(2),
        Column::measured("time-varying bounds", "s").decimals(4),
        Column::number("colliding events per second").decimals(0),
        Column::measured("Hubbard, to the first overlap", "s").decimals(2),
        Column::number("rebuilds per second").decimals(0),
        Column::number("ratio").decimals(0),
    ];
    let mut table = run.table(&title, columns);
    for &begin in begins {
        let measured = for_each_scene(scenes, |seed| {
            let config = ForcedSpheresConfig {
                count,
                seed,
                ..ForcedSpheresConfig::default()
            };
            let start = Start::new(&config, Window { begin, length })?;
            let hubbard = HubbardConfig {
                interval: 0.001,
                ..HubbardConfig::default()
            };
            let own = start.own()?;
            Ok([own, start.hubbard(&hubbard)?])
        })?;
        let over = |pick: fn(&[Measured; 2]) -> f64| mean_of(&measured, pick);
        let [own, hubbard] = [over(|both| both[0].seconds), over(|both| both[1].seconds)];
        table.row(cells![
            begin,
            own,
            over(|both| both[0].counts.colliding),
            hubbard,
            over(|both| both[1].counts.rebuilds),
            hubbard / own,
        ]);
    }
    Ok(())
}

/// Mean of a property of all scenes.
pub fn mean_of<T>(scenes: &[T], pick: impl Fn(&T) -> f64) -> f64 {
    mean(&scenes.iter().map(pick).collect::<Vec<_>>())
}
