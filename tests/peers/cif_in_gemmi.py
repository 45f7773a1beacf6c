"""cif_in_gemmi.py FILE: prints what gemmi has of an mmCIF file with instances, as JSON."""

import json
import sys

import gemmi


def main():
    structure = gemmi.read_structure(sys.argv[1])
    model = structure[0]
    assembly = structure.assemblies[0]
    expanded = gemmi.make_assembly(assembly, model, gemmi.HowToNameCopiedChain.AddNumber)
    atoms = [site.atom.pos.tolist() for site in expanded.all()]
    print(
        json.dumps(
            {
                "name": structure.name,
                "cell": [structure.cell.a, structure.cell.b, structure.cell.c],
                "template_atoms": model.count_atom_sites(),
                "template_residues": sum(len(chain) for chain in model),
                "entities": [entity.name for entity in structure.entities],
                "chains": len(expanded),
                "atoms": expanded.count_atom_sites(),
                "low": [min(atom[axis] for atom in atoms) for axis in range(3)],
                "high": [max(atom[axis] for atom in atoms) for axis in range(3)],
            }
        )
    )


main()
