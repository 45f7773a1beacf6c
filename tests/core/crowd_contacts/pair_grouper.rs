//! Grouping of candidate pairs by molecules on the CPU.

use std::sync::Arc;

use bevy_rapier_molecules::dynamics::{GroupSearch, MovingBody, PairGrouper, PairGroups};
use bevy_rapier_molecules::search::{
    Pair, PairBuffer, PairSearch, RigidSpheres, SearchError, SearchTimes,
};
use bevy_rapier_molecules::spheres::SphereSet;
use glam::Vec3;

/// A search that returns given lists of pairs.
struct FixedPairs(Vec<Vec<(u32, u32)>>);

impl PairSearch for FixedPairs {
    fn name(&self) -> &'static str {
        "fixed"
    }

    fn find_pairs(
        &mut self,
        _: &SphereSet,
        _: f32,
        pairs: &mut PairBuffer,
    ) -> Result<SearchTimes, SearchError> {
        for (list, fixed) in pairs.start(self.0.len()).iter_mut().zip(&self.0) {
            list.extend(fixed.iter().map(|&(a, b)| Pair { a, b }));
        }
        Ok(SearchTimes::default())
    }

    fn count_pairs(&mut self, _: &SphereSet, _: f32) -> Result<u64, SearchError> {
        Ok(self.0.iter().map(|list| list.len() as u64).sum())
    }
}

/// `sizes` are the numbers of spheres of the molecules.
fn find(sizes: &[usize], lists: Vec<Vec<(u32, u32)>>) -> PairGroups {
    let molecule = |size: &usize| {
        let spheres = std::iter::repeat_n((Vec3::ZERO, 0.1), *size);
        Arc::new(RigidSpheres::new(spheres).unwrap())
    };
    let molecules: Vec<_> = sizes.iter().map(molecule).collect();
    let bodies = vec![MovingBody::default(); sizes.len()];
    let mut grouper = PairGrouper::new(Box::new(FixedPairs(lists)));
    grouper.set_molecules(&molecules).unwrap();
    let mut found = PairGroups::default();
    // Twice: the second search reuses the memory of the first.
    for _ in 0..2 {
        grouper.find_groups(&bodies, 0.0, &mut found).unwrap();
    }
    found
}

#[test]
fn groups_are_sorted_however_the_pairs_are_cut_into_lists() {
    let sizes = [2, 2, 1, 1];
    let pairs = [(3, 4), (1, 5), (0, 2), (1, 3), (2, 4), (0, 3), (0, 5)];
    for size in [7, 4, 3, 1] {
        let lists = pairs.chunks(size).map(<[_]>::to_vec).collect();
        let found = find(&sizes, lists);
        let listed: Vec<_> = found
            .groups
            .iter()
            .map(|group| {
                let kept = &found.kept[group.first as usize..][..group.kept as usize];
                let pairs = kept.iter().map(|pair| (pair.a, pair.b));
                ((group.a.0, group.b.0), pairs.collect::<Vec<_>>())
            })
            .collect();
        assert_eq!(
            listed,
            [
                ((0, 1), vec![(0, 2), (0, 3), (1, 3)]),
                ((0, 3), vec![(0, 5), (1, 5)]),
                ((1, 2), vec![(2, 4), (3, 4)]),
            ]
        );
    }
    assert_eq!(find(&sizes, Vec::new()), PairGroups::default());
}

#[test]
fn the_hash_table_grows_with_the_number_of_groups() {
    let mut list: Vec<_> = (0..299).rev().map(|a| (a, a + 1)).collect();
    list.extend((0..298).map(|a| (a, a + 2)));
    let found = find(&[1; 300], vec![list]);
    let molecules: Vec<_> = found
        .groups
        .iter()
        .map(|group| [group.a, group.b])
        .collect();
    assert_eq!(molecules.len(), 299 + 298);
    assert!(molecules.is_sorted());
    assert!(found.groups.iter().all(|group| group.kept == 1));
}
