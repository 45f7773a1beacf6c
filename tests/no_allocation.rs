//! A step does not allocate once its buffers have grown to the size of the scene.
//!
//! A counting allocator counts the allocations of the threads of a [`CountedPool`] only, not
//! those of the test harness. All work of a test runs inside the pool, since entering it
//! allocates.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bevy_rapier_molecules::dynamics::{
    ContactMember, ContactSide, CrowdContacts, ExternalBody, ExternalContact, MemberIndex,
    MovingBody,
};
use bevy_rapier_molecules::force::ThesisSteps;
use bevy_rapier_molecules::molecule::{LoadOptions, read_bytes};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::relax::{ReactionLaw, RelaxConfig, Relaxer};
use bevy_rapier_molecules::scenes::{VesicleConfig, VesicleSize, VesicleStart, vesicle};
use bevy_rapier_molecules::search::RigidSpheres;
use bevy_rapier_molecules::search::boxes::{BoxGrid, BoxSearch, BoxSet, SpheresInBoxes};
use bevy_rapier_molecules::search::{LinearKdTree, PairBuffer, PairSearch, UniformGrid};
use bevy_rapier_molecules::spheres::SphereSet;
use glam::Vec3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// The system allocator, which counts for threads that have a counter.
struct CountingAllocator;

thread_local! {
    /// Counter of this thread, if its allocations are counted.
    static COUNTER: Cell<Option<&'static AtomicUsize>> = const { Cell::new(None) };
}

fn count_one() {
    if let Some(counter) = COUNTER.get() {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: every call is forwarded to the system allocator, and counting neither allocates nor
// unwinds.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_one();
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count_one();
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// A thread pool whose allocations are counted.
struct CountedPool {
    pool: rayon::ThreadPool,
    counter: &'static AtomicUsize,
}

impl CountedPool {
    fn new(threads: usize) -> Self {
        let counter: &'static AtomicUsize = Box::leak(Box::new(AtomicUsize::new(0)));
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .start_handler(move |_| COUNTER.set(Some(counter)))
            .build()
            .expect("threads");
        // A worker allocates when it looks for work for the first time.
        pool.broadcast(|_| ());
        Self { pool, counter }
    }

    /// Calls `step` with 0, 1, 2 and so on, `warm_up` times and then `steps` times, and counts the
    /// allocations of all threads in the latter.
    fn allocations_after(
        &self,
        warm_up: usize,
        steps: usize,
        mut step: impl FnMut(usize) + Send,
    ) -> usize {
        self.pool.install(|| {
            (0..warm_up).for_each(&mut step);
            let start = self.counter.load(Ordering::Relaxed);
            (warm_up..warm_up + steps).for_each(&mut step);
            self.counter.load(Ordering::Relaxed) - start
        })
    }
}

/// Enough for several tasks in every stage of the search, with a few neighbors per sphere.
const SPHERES: u32 = 70_000;

/// A cube of liquid density, with spheres displaced by up to 0.01 nm in each `step`.
fn moved_liquid(step: u64) -> SphereSet {
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let mut jitter = Pcg64Mcg::seed_from_u64(step);
    let edge = (SPHERES as f32 / 100.0).cbrt();
    let mut spheres = SphereSet::new();
    for k in 0..SPHERES {
        let start = Vec3::from_array(std::array::from_fn(|_| edge * random.random::<f32>()));
        let shift = Vec3::from_array(std::array::from_fn(|_| 0.01 * jitter.random::<f32>()));
        let radius = 0.05 + 0.1 * random.random::<f32>();
        spheres
            .push(start + shift, radius, k / 50)
            .expect("the scene is finite");
    }
    spheres
}

fn find_pairs(search: &mut UniformGrid, spheres: &SphereSet, pairs: &mut PairBuffer) {
    search
        .find_pairs(spheres, 0.0, pairs)
        .expect("the scene is finite");
    assert!(!pairs.is_empty());
}

#[test]
fn allocations_are_counted() {
    let allocations = CountedPool::new(2).allocations_after(0, 5, |_| {
        rayon::join(
            || drop(std::hint::black_box(Box::new(1))),
            || drop(std::hint::black_box(Box::new(2))),
        );
    });
    assert!(allocations >= 10);
}

#[test]
fn a_repeated_kd_tree_search_does_not_allocate() {
    let spheres = moved_liquid(0);
    for threads in [1, 2] {
        let mut search = SpheresInBoxes::new(LinearKdTree::new());
        let mut pairs = PairBuffer::new();
        let allocations = CountedPool::new(threads).allocations_after(1, 5, |_| {
            let found = search.find_pairs(&spheres, 0.0, &mut pairs);
            assert!(found.is_ok() && !pairs.is_empty());
        });
        assert_eq!(allocations, 0, "on {threads} threads");
    }
}

#[test]
fn a_repeated_grid_search_does_not_allocate() {
    let spheres = moved_liquid(0);
    for threads in [1, 2, 4] {
        let (mut search, mut pairs) = (UniformGrid::new(), PairBuffer::new());
        let allocations = CountedPool::new(threads).allocations_after(1, 10, |_| {
            find_pairs(&mut search, &spheres, &mut pairs);
        });
        assert_eq!(allocations, 0, "on {threads} threads");
    }
}

#[test]
fn a_grid_search_of_moving_spheres_does_not_allocate() {
    let scenes: Vec<SphereSet> = (0..15).map(moved_liquid).collect();
    let (mut search, mut pairs) = (UniformGrid::new(), PairBuffer::new());
    let allocations = CountedPool::new(2).allocations_after(5, 10, |step| {
        find_pairs(&mut search, &scenes[step], &mut pairs);
    });
    assert_eq!(allocations, 0);
}

/// Boxes that rest, that stay within their skins, and that leave them.
#[test]
fn a_search_of_remembered_boxes_does_not_allocate() {
    for speed in [0.0, 0.002, 0.01, 0.1] {
        let scenes: Vec<BoxSet> = (0..40)
            .map(|step| {
                let mut boxes = BoxSet::new();
                for k in 0..8000_u32 {
                    let cell = Vec3::new((k % 20) as f32, (k / 20 % 20) as f32, (k / 400) as f32);
                    // Around a circle, in different phases.
                    let phase = step as f32 + k as f32;
                    let shift = speed * Vec3::new(phase.sin(), phase.cos(), 0.0);
                    let low = 0.9 * cell + shift;
                    boxes.push(low, low + 1.0, k).expect("the box is valid");
                }
                boxes
            })
            .collect();
        let (mut search, mut pairs) = (BoxGrid::new(), PairBuffer::new());
        let allocations = CountedPool::new(2).allocations_after(20, 20, |step| {
            let found = search.find_box_pairs(&scenes[step], &mut pairs);
            assert!(found.is_ok() && !pairs.is_empty());
        });
        assert_eq!(allocations, 0, "at {speed} nm per step");
    }
}

#[test]
fn a_relaxation_does_not_allocate_after_warm_up() {
    let bytes = include_bytes!("../assets/molecules/popc.pdb");
    let options = LoadOptions::default();
    let lipid = read_bytes(bytes, "popc.pdb", &options)
        .and_then(|structure| structure.template(&options))
        .expect("the bundled lipid");
    let config = VesicleConfig {
        size: VesicleSize::Counts {
            outer: 300,
            inner: 70,
            radius: 5.2,
        },
        start: VesicleStart::Uniform,
        ..VesicleConfig::default()
    };
    for law in [
        ReactionLaw::default(),
        ReactionLaw::Thesis(ThesisSteps::default()),
    ] {
        let vesicle = vesicle(Arc::new(lipid.clone()), &config).expect("the lipids are placed");
        let config = RelaxConfig {
            law,
            ..RelaxConfig::default()
        };
        let mut relaxer = Relaxer::new(vesicle.crowd, config).expect("the scene is finite");
        // What is remembered grows while the molecules slow down.
        let allocations = CountedPool::new(2).allocations_after(60, 40, |_| {
            relaxer.step().expect("the steps are small");
        });
        assert_eq!(allocations, 0, "{}", law.name());
    }
}

/// Ignored pairs and external contacts are set again in every substep, as the plugin does.
#[test]
fn a_substep_of_a_crowd_does_not_allocate_after_warm_up() {
    let ball = Arc::new(RigidSpheres::new([(Vec3::ZERO, 0.1)]).expect("the sphere is valid"));
    let member = |id| ContactMember {
        id,
        spheres: Arc::clone(&ball),
        ..ContactMember::default()
    };
    // Columns of three balls that overlap, on a floor.
    let body = |member: MemberIndex| {
        let (column, level) = (member.0 / 3, member.0 % 3);
        let (x, z) = ((column % 40) as f32, (column / 40) as f32);
        let position = Vec3::new(x, 0.19 * level as f32, z);
        Some(MovingBody {
            pose: Pose::from_translation(position),
            center: position,
            inverse_mass: Vec3::ONE,
            acceleration: Vec3::NEG_Y,
            // None is fast enough for a continuous test.
            ccd: true,
            ..MovingBody::default()
        })
    };
    let floor = ExternalBody {
        id: 1,
        body: MovingBody::default(),
    };
    let on_floor = |column: u32| ExternalContact {
        a: ContactSide::External(0),
        b: ContactSide::Member(MemberIndex(3 * column)),
        key: u64::from(column),
        normal: Vec3::Y,
        point: Vec3::new((column % 40) as f32, -0.1, (column / 40) as f32),
        gap: 0.0,
        friction: 0.5,
        restitution: 0.0,
    };
    let mut contacts = CrowdContacts::default();
    contacts
        .set_members((0..3000).map(member).collect())
        .expect("few spheres");
    let allocations = CountedPool::new(2).allocations_after(3, 10, |_| {
        contacts.set_ignored_pairs(|ignored| {
            let columns = (0..1000).rev().step_by(10);
            ignored.extend(columns.map(|column| [3 * column + 1, 3 * column].map(MemberIndex)));
        });
        contacts.gather(body).expect("all bodies are valid");
        contacts.detect().expect("the spheres are finite");
        contacts.set_external_contacts(&[floor], (0..1000).map(on_floor));
        contacts.respond(0.01);
        assert_eq!(contacts.touches().len(), 2000 - 100);
    });
    assert_eq!(allocations, 0);
}
