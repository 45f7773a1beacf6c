//! The proxy cache and its files.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use bevy_rapier_molecules::proxy::{ProxyCache, ProxyFileError, proxy_file_path};

use crate::proxy::fixtures::molecule;

/// A temporary file, removed when dropped.
struct TemporaryFile(PathBuf);

impl TemporaryFile {
    fn new(name: &str) -> Self {
        let name = format!("proxies-{}-{name}", std::process::id());
        Self(proxy_file_path(std::env::temp_dir().join(name)))
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // It may not exist.
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn the_cache_computes_each_number_of_proxies_once() {
    let cache = ProxyCache::new(molecule("popc.pdb"));
    let first = cache.get(17).unwrap();
    assert!(Arc::ptr_eq(&first, &cache.get(17).unwrap()));
    assert!(Arc::ptr_eq(
        &cache.get(134).unwrap(),
        &cache.get(9999).unwrap()
    ));
    assert_eq!(cache.all().len(), 2);
    assert!(cache.get(0).is_err());
}

#[test]
fn proxies_round_trip_through_a_file_bit_for_bit() {
    let structure = PathBuf::from("molecules/1gzx.pdb");
    let beside = proxy_file_path(&structure);
    assert_eq!(beside, PathBuf::from("molecules/1gzx.pdb.proxy.ron"));
    let file = TemporaryFile::new("round");
    let molecule = molecule("dhfr.pdb");
    let cache = ProxyCache::new(molecule.clone());
    for count in [1, 17, 50] {
        cache.get(count).unwrap();
    }
    cache.save(&file.0).unwrap();
    let loaded = ProxyCache::new(molecule);
    assert_eq!(loaded.load(&file.0).unwrap(), 3);
    assert_eq!(loaded.all(), cache.all());
}

#[test]
fn missing_invalid_and_mismatched_files_are_rejected() {
    let file = TemporaryFile::new("bad");
    let molecule = molecule("popc.pdb");
    let cache = ProxyCache::new(molecule.clone());
    let load = |text: &str| {
        std::fs::write(&file.0, text).unwrap();
        cache.load(&file.0).unwrap_err()
    };
    let missing = cache.load("/nowhere/at/all.proxy.ron").unwrap_err();
    assert!(matches!(missing, ProxyFileError::Io { .. }));
    assert!(missing.source().is_some());
    let unwritable = cache.save("/nowhere/at/all.proxy.ron").unwrap_err();
    assert!(matches!(unwritable, ProxyFileError::Io { .. }));
    for broken in [
        "",
        "(",
        "(version:1)",
        "\u{0}\u{1}",
        "(version:2,atoms:0,sets:[])",
    ] {
        let error = load(broken);
        assert!(matches!(error, ProxyFileError::Syntax { .. }), "{error}");
    }
    let other = load("(version:1,atoms:12345,sets:[])");
    assert!(
        matches!(other, ProxyFileError::OtherAtoms { .. }),
        "{other}"
    );
    // A valid file with one error.
    cache.get(3).unwrap();
    cache.save(&file.0).unwrap();
    let good = std::fs::read_to_string(&file.0).unwrap();
    for (from, to) in [
        ("count:3", "count:0"),
        ("count:3", "count:2"),
        ("count:3", "count:4"),
        ("count:3", "count:4000000000"),
        ("assignment:[", "assignment:[0,"),
    ] {
        let error = load(&good.replace(from, to));
        assert!(
            matches!(error, ProxyFileError::Syntax { .. }),
            "{to}: {error}"
        );
    }
    // The same molecule with other radii.
    let thin = (*molecule).clone().with_uniform_radius(0.05).unwrap();
    std::fs::write(&file.0, &good).unwrap();
    let error = ProxyCache::new(Arc::new(thin)).load(&file.0).unwrap_err();
    assert!(
        matches!(error, ProxyFileError::OtherAtoms { .. }),
        "{error}"
    );
}
