"""structures_in_python.py FOLDER: reads cell.pdb, cell.cif and cell.gro with gemmi and MDAnalysis.

Prints, for each file and reader, the number of atoms, names of atoms and residues as hashes, the
box (nm), and positions (nm) of some atoms.
"""

import hashlib
import json
import pathlib
import sys
import warnings

import gemmi
import MDAnalysis
import numpy

warnings.simplefilter("ignore")
folder = pathlib.Path(sys.argv[1])
every = int(sys.argv[2])


def digest(names):
    return hashlib.sha256("\n".join(names).encode()).hexdigest()


def report(atom_names, residue_names, box, positions):
    positions = numpy.asarray(positions, dtype=float)
    return {
        "atoms": len(atom_names),
        "atom_names": digest(atom_names),
        "residue_names": digest(residue_names),
        "box": [float(edge) for edge in box],
        "positions": positions[::every].tolist(),
    }


def with_gemmi(path):
    structure = gemmi.read_structure(str(path), merge_chain_parts=False)
    cell = structure.cell
    atoms = [
        (atom.name, residue.name, [atom.pos.x / 10, atom.pos.y / 10, atom.pos.z / 10])
        for chain in structure[0]
        for residue in chain
        for atom in residue
    ]
    names, residues, positions = zip(*atoms)
    return report(names, residues, [cell.a / 10, cell.b / 10, cell.c / 10], positions)


def with_mdanalysis(path):
    universe = MDAnalysis.Universe(str(path))
    box = universe.dimensions
    box = [0, 0, 0] if box is None else box[:3] / 10
    atoms = universe.atoms
    return report(list(atoms.names), list(atoms.resnames), box, atoms.positions / 10)


print(
    json.dumps(
        {
            "gemmi pdb": with_gemmi(folder / "cell.pdb"),
            "gemmi cif": with_gemmi(folder / "cell.cif"),
            "MDAnalysis pdb": with_mdanalysis(folder / "cell.pdb"),
            "MDAnalysis gro": with_mdanalysis(folder / "cell.gro"),
        }
    )
)
