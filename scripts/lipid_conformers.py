#!/usr/bin/env python3
"""lipid_conformers.py FOLDER: straight conformers of lipids, made from their chemical formulas.

Needs RDKit and NumPy. Distance geometry makes a molecule with the stereochemistry of its SMILES.
Its chains are stretched, the other bonds turn at random, and MMFF without electrostatics relaxes
the slimmest of these shapes. The slimmest ones that differ are written, heads towards +z.
"""
import pathlib
import sys

import numpy as np
from rdkit import Chem, RDLogger
from rdkit.Chem import AllChem, rdMolTransforms

RDLogger.DisableLog("rdApp.*")

OLEOYL = r"C(=O)CCCCCCC/C=C\CCCCCCCC"
PALMITOYL = "C(=O)CCCCCCCCCCCCCCC"
LIPIDS = {
    # File: residue, what it is, SMILES, labels of its chiral centers in the order of its atoms.
    "ssm": ("SSM", "stearoyl sphingomyelin (d18:1/18:0)",
            r"C[N+](C)(C)CCOP(=O)([O-])OC[C@@H]([C@@H](/C=C/CCCCCCCCCCCCC)O)NC(=O)CCCCCCCCCCCCCCCCC",
            "SR"),
    "popg": ("POPG", "POPG (16:0/18:1)",
             r"OC[C@H](O)COP(=O)([O-])OC[C@@H](COP1)OQ2", "SR"),
    "cardiolipin": ("CDL", "tetraoleoyl cardiolipin (18:1)4, both phosphates charged",
                    r"OC(COP(=O)([O-])OC[C@@H](COQ3)OQ4)COP(=O)([O-])OC[C@@H](COQ5)OQ6", "RR"),
}
CONFORMERS = 8
SEEDS = 3           # molecules by distance geometry
TRIES = 24          # random shapes of each
RELAXED = 48        # of the slimmest ones
APART = 0.8         # least root mean square distance of two conformers, Å
NONBONDED = 1.7     # least distance of atoms four or more bonds apart, Å


def smiles_of(name):
    text = LIPIDS[name][2].replace("OP1", "O" + PALMITOYL)
    for k in range(1, 7):
        text = text.replace(f"OQ{k}", "O" + OLEOYL)
    return text


def turning_bonds(mol):
    """Atoms of the torsions: of chains, next to double bonds, and all others."""
    pattern = Chem.MolFromSmarts("[!#1]~[!$(*#*)&!D1&!#1]-&!@[!$(*#*)&!D1&!#1]~[!#1]")
    chains, skew, free, seen = [], [], [], set()
    for a, b, c, d in mol.GetSubstructMatches(pattern, uniquify=False):
        if (min(b, c), max(b, c)) in seen:
            continue
        seen.add((min(b, c), max(b, c)))
        atoms = [mol.GetAtomWithIdx(k) for k in (b, c)]
        carbonyl = [any(x.GetBondTypeAsDouble() == 2 and x.GetOtherAtom(atom).GetSymbol() == "O"
                        and atom.GetSymbol() == "C" for x in atom.GetBonds()) for atom in atoms]
        vinyl = [any(x.GetBondTypeAsDouble() == 2 and x.GetOtherAtom(atom).GetSymbol() == "C"
                     for x in atom.GetBonds()) for atom in atoms]
        hetero = [atom.GetSymbol() in "ON" for atom in atoms]
        if (carbonyl[0] and hetero[1]) or (carbonyl[1] and hetero[0]):
            continue                       # esters and amides stay as they are
        is_methylene = [atom.GetSymbol() == "C" and atom.GetTotalNumHs() == 2 for atom in atoms]
        if any(vinyl) and any(is_methylene):
            skew.append((a, b, c, d))
        elif all(is_methylene) and {mol.GetAtomWithIdx(k).GetSymbol() for k in (a, d)} == {"C"} \
                and not in_head(mol, b, c):
            chains.append((a, b, c, d))
        else:
            free.append((a, b, c, d))
    return chains, skew, free


def in_head(mol, b, c):
    near = set()
    for k in (b, c):
        near |= {n.GetSymbol() for n in mol.GetAtomWithIdx(k).GetNeighbors()}
    return "O" in near or "N" in near


def upright(points, heads):
    """Points with the longest axis along z, the heads up."""
    points = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(points, full_matrices=False)
    axes = axes[[2, 1, 0]]
    if np.linalg.det(axes) < 0:
        axes[0] = -axes[0]
    points = points @ axes.T
    if points[heads, 2].mean() < 0:
        points = points * [1, -1, -1]
    return points


def width(points):
    return np.sqrt((points[:, :2] ** 2).sum(axis=1).mean())


def closest(points, distant):
    return np.sqrt(((points[distant[0]] - points[distant[1]]) ** 2).sum(axis=1)).min()


def made(name, seeds):
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles_of(name)))
    labels = "".join(c for _, c in Chem.FindMolChiralCenters(mol, useLegacyImplementation=False)
                     if c in "RS")
    assert labels == LIPIDS[name][3], (name, labels)
    heads = [a.GetIdx() for a in mol.GetAtoms() if a.GetSymbol() == "P"]
    distant = np.nonzero(np.triu(Chem.GetDistanceMatrix(mol) > 3.5))
    chains, skew, free = turning_bonds(mol)
    random = np.random.default_rng(1)
    shapes = []
    AllChem.EmbedMultipleConfs(mol, seeds, randomSeed=1, useRandomCoords=True)
    for conformer in mol.GetConformers():
        for torsion in chains:
            rdMolTransforms.SetDihedralDeg(conformer, *torsion, 180.0)
        base = conformer.GetPositions()
        for _ in range(TRIES):
            for k, point in enumerate(base):
                conformer.SetAtomPosition(k, point)
            for torsion in skew:
                rdMolTransforms.SetDihedralDeg(conformer, *torsion, random.choice([-115.0, 115.0]))
            for torsion in free:
                angle = random.choice([-60.0, 60.0, 180.0, 180.0]) + random.normal(0, 10)
                rdMolTransforms.SetDihedralDeg(conformer, *torsion, angle)
            best = None
            for _ in range(8 * len(free)):        # turn single bonds while that makes it slimmer
                is_free = not skew or random.random() < 0.7
                pool, steps = (free, [60, 180, -60]) if is_free else (skew, [-115, 115])
                torsion = pool[random.integers(len(pool))]
                before = rdMolTransforms.GetDihedralDeg(conformer, *torsion)
                if best is None:
                    best = score(conformer, heads, distant)
                angle = random.choice(steps) + random.normal(0, 15)
                rdMolTransforms.SetDihedralDeg(conformer, *torsion, angle)
                new = score(conformer, heads, distant)
                if new <= best:
                    best = new
                else:
                    rdMolTransforms.SetDihedralDeg(conformer, *torsion, before)
            shapes.append((best, conformer.GetPositions()))
        print(name, conformer.GetId(), min(s[0] for s in shapes), flush=True)
    shapes.sort(key=lambda shape: shape[0])
    return mol, heads, distant, shapes


def score(conformer, heads, distant):
    points = upright(conformer.GetPositions(), heads)
    squeezed = max(0.0, 2.0 - closest(points, distant))
    tops = points[:, 2].max() - points[heads, 2].min()      # heads at the very end
    return width(points) + 4 * squeezed + 0.1 * max(0.0, tops - 8.0)


def relaxed(mol, heads, distant, shapes):
    properties = AllChem.MMFFGetMoleculeProperties(mol)
    properties.SetMMFFEleTerm(False)
    conformer = mol.GetConformers()[0]
    kept = []
    for _, points in shapes[:RELAXED]:
        for k, point in enumerate(points):
            conformer.SetAtomPosition(k, point)
        field = AllChem.MMFFGetMoleculeForceField(mol, properties, confId=conformer.GetId())
        field.Minimize(maxIts=2000)
        points = upright(conformer.GetPositions(), heads)
        if closest(points, distant) > NONBONDED:
            kept.append((width(points), points))
    kept.sort(key=lambda shape: shape[0])
    chosen = []
    for wide, points in kept:
        if all(apart(points, other) > APART for _, other in chosen):
            chosen.append((wide, points))
    return chosen[:CONFORMERS]


def apart(a, b):
    u, _, v = np.linalg.svd(a.T @ b)
    d = np.diag([1, 1, np.sign(np.linalg.det(u @ v))])
    return np.sqrt(((a @ (u @ d @ v) - b) ** 2).sum(axis=1).mean())


def write(path, name, mol, chosen):
    residue, what = LIPIDS[name][:2]
    count = {}
    names = []
    for atom in mol.GetAtoms():
        symbol = atom.GetSymbol()
        count[symbol] = count.get(symbol, 0) + 1
        names.append(symbol + str(count[symbol]))
    lines = [f"REMARK   {what}: {len(chosen)} straight conformers made from its chemical formula",
             "REMARK   (distance geometry, chains stretched, MMFF), heads towards +z"]
    for model, (_, points) in enumerate(chosen, 1):
        lines.append(f"MODEL     {model:4}")
        for k, (atom, (x, y, z)) in enumerate(zip(mol.GetAtoms(), points), 1):
            label = names[k - 1] if len(names[k - 1]) == 4 else " " + names[k - 1]
            lines.append(f"HETATM{k:5} {label:<4} {residue:<4}A   1    {x:8.3f}{y:8.3f}{z:8.3f}"
                         f"  1.00  0.00          {atom.GetSymbol():>2}")
        lines.append("ENDMDL")
    path.write_text("\n".join([*lines, "END"]) + "\n")


def main():
    folder = pathlib.Path(sys.argv[1])
    names = sys.argv[2:] or LIPIDS
    for name in names:
        mol, heads, distant, shapes = made(name, SEEDS)
        chosen = relaxed(mol, heads, distant, shapes)
        write(folder / f"{name}_conformers.pdb", name, mol, chosen)
        print(name, mol.GetNumAtoms(), "atoms, widths", [round(float(w), 2) for w, _ in chosen])


if __name__ == "__main__":
    main()
