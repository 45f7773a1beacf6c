//! Writes balls as mmCIF of integrative models, in which spheres have radii.

use std::io::Write;

use crate::export::text_rows::{TextRows, push_fixed, scale};
use crate::export::{ANGSTROM_PER_NM, ExportError};
use crate::molecule::MoleculeTemplate;

/// The columns of a sphere, in the order of their values in a row.
const SPHERE_SITE: [&str; 11] = [
    "id",
    "entity_id",
    "asym_id",
    "seq_id_begin",
    "seq_id_end",
    "Cartn_x",
    "Cartn_y",
    "Cartn_z",
    "object_radius",
    "rmsf",
    "model_id",
];

/// Writes the balls of a template in its body frame.
pub(super) fn write_sphere_cif(
    writer: impl Write,
    template: &MoleculeTemplate,
    decimals: u8,
) -> Result<(), ExportError> {
    let mut rows = TextRows::new(writer);
    rows.push("data_spheres\n#\n_entry.id spheres\n#\n");
    rows.push("_entity.id 1\n_entity.type polymer\n#\n");
    rows.push("_ihm_model_list.model_id 1\n_ihm_model_list.model_name spheres\n#\nloop_\n");
    for column in SPHERE_SITE {
        rows.push("_ihm_sphere_obj_site.");
        rows.push(column);
        rows.end_row()?;
    }
    let balls = template.positions().iter().zip(template.radii());
    for (index, (position, radius)) in balls.enumerate() {
        let id = index + 1;
        rows.push(&format!("{id} 1 A {id} {id}"));
        for value in [position.x, position.y, position.z, *radius] {
            rows.push(" ");
            let angstrom = f64::from(value) * ANGSTROM_PER_NM;
            push_fixed(&mut rows.buffer, scale(angstrom, decimals), decimals);
        }
        rows.push(" . 1");
        rows.end_row()?;
    }
    rows.push("#");
    rows.end_row()?;
    rows.finish()?;
    Ok(())
}
