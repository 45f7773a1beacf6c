//! Few spheres in the place of many atoms: how good are they?
//!
//! ```text
//! cargo run --release --example proxies -- FILE... [--proxies N | --tolerance NM]
//!     [--radius-scale X] [--save]
//! ```
//!
//! Prints a table. With `--save` the proxies go to FILE.proxy.ron, from where
//! `ProxyCache::load` reads them. Exit code 0 if all files were good, and 2 if one was not.

use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use bevy_rapier_molecules::molecule::{DEFAULT_RADIUS_SCALE, LoadOptions, load};
use bevy_rapier_molecules::proxy::{
    DEFAULT_PROXIES, PROXY_SEED, ProxyCache, ProxySet, proxy_file_of,
};
use clap::Parser;

mod common;

fn main() -> ExitCode {
    common::finish(run(&Arguments::parse()))
}

/// Makes the proxies of structure files, and measures them.
#[derive(Parser)]
struct Arguments {
    /// Structure files: .pdb, .ent, .cif or .bcif, plain or gzipped.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// How many proxies each molecule gets.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_PROXIES)]
    proxies: usize,
    /// As many as it takes for their surface to be nowhere further than this many nm from
    /// that of the atoms.
    #[arg(long, value_name = "NM", conflicts_with = "proxies")]
    tolerance: Option<f32>,
    /// Radii of the atoms in units of their van der Waals radii.
    #[arg(long, value_name = "X", default_value_t = DEFAULT_RADIUS_SCALE)]
    radius_scale: f32,
    /// Save the proxies beside each file.
    #[arg(long)]
    save: bool,
}

fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let options = LoadOptions {
        radius_scale: arguments.radius_scale,
        ..LoadOptions::default()
    };
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "| structure | atoms | proxies | atoms, nm³ | proxies, nm³ | overestimate | farthest, nm |"
    )?;
    writeln!(out, "|---|--:|--:|--:|--:|--:|--:|")?;
    for file in &arguments.files {
        let template = Arc::new(load(file, &options)?);
        let set = match arguments.tolerance {
            Some(tolerance) => ProxySet::for_tolerance(&*template, tolerance, PROXY_SEED)?,
            None => ProxySet::from_atoms(&*template, arguments.proxies, PROXY_SEED)?,
        };
        let quality = set.quality(&*template)?;
        let name = file.file_name().unwrap_or(file.as_os_str());
        writeln!(
            out,
            "| {} | {} | {} | {:.2} | {:.2} | {:.0} % | {:.2} |",
            name.to_string_lossy(),
            template.atom_count(),
            set.len(),
            quality.atom_volume_nm3,
            quality.proxy_volume_nm3,
            100.0 * quality.overestimate(),
            quality.largest_distance_nm
        )?;
        if arguments.save {
            let cache = ProxyCache::new(template);
            cache.insert(set)?;
            cache.save(proxy_file_of(file))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
