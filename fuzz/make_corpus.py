#!/usr/bin/env python3
"""Writes the seed corpora of the fuzzer, corpus/*/hand-*."""

import gzip
import pathlib
import struct

FOLDER = pathlib.Path(__file__).parent / "corpus"
PDB, MMCIF, BINARY, GRO, ANY = 0, 1, 2, 3, 4
OBJ, STL, PLY, BY_NAME, SPHERES = 0, 1, 2, 3, 4


def write(name, choice, content, target="read_structure"):
    folder = FOLDER / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"hand-{name}").write_bytes(bytes([choice]) + content)


def write_mesh(name, choice, content):
    write(name, choice, content, "read_mesh")


UNKNOWN = b"HETATM    1 UNK  UNX A   1      10.000  20.000 -30.500   inf  0.00           X"
ATOM = b"ATOM      1  CA  ALA A   1      10.000  20.000 -30.500"
LONG = b"HETATM99999 CA    CA B9999     -32.798   7.360 -10.359  1.00 21.26          CA  "
TAIL = b"\nHETATMA0000 CA    CA BA000     -32.798   7.360 -10.359  0.50 21.26          CA2+"
BIOMT = b"""REMARK 350 BIOMOLECULE: 1
REMARK 350 APPLY THE FOLLOWING TO CHAINS: A, B,
REMARK 350                    AND CHAINS: C
REMARK 350   BIOMT1   1  1.000000  0.000000  0.000000        0.00000
REMARK 350   BIOMT2   1  0.000000  1.000000  0.000000        0.00000
REMARK 350   BIOMT3   1  0.000000  0.000000  1.000000        0.00000
REMARK 350   BIOMT1   2  0.000000 -1.000000  0.000000        1.00000
REMARK 350   BIOMT2   2  1.000000  0.000000  0.000000        0.00000
REMARK 350   BIOMT3   2  0.000000  0.000000  1.000000        5.00000
"""
ALTERNATES = b"""ATOM      1  CA ASER A   1      10.000  20.000 -30.500  0.40
ATOM      2  CA BSER A   1      11.000  20.000 -30.500  0.60
ATOM      3  N  ATHR A   2      12.000  20.000 -30.500  0.30
ATOM      4  N  BVAL A   2      12.000  20.000 -30.500  0.70
"""
CIF = b"""# comment
data_X
loop_
_atom_site.group_PDB
_atom_site.type_symbol
_atom_site.label_atom_id
_atom_site.label_alt_id
_atom_site.label_comp_id
_atom_site.label_asym_id
_atom_site.auth_asym_id
_atom_site.auth_seq_id
_atom_site.pdbx_PDB_ins_code
_atom_site.Cartn_x
_atom_site.Cartn_y
_atom_site.Cartn_z
_atom_site.occupancy
_atom_site.pdbx_PDB_model_num
ATOM C "C1'" . DC A X 1 ? 1.0 -2.5 3.25 1.0 1
HETATM FE 'FE' A HEM B X -2 B 1.0e1 2 3 .5 2
_pdbx_struct_assembly_gen.assembly_id 1
_pdbx_struct_assembly_gen.oper_expression '(1,2)(1-2)'
_pdbx_struct_assembly_gen.asym_id_list A,B
_x.text
;several
lines
;
loop_
_pdbx_struct_oper_list.id
_pdbx_struct_oper_list.matrix[1][1]
_pdbx_struct_oper_list.matrix[1][2]
_pdbx_struct_oper_list.matrix[1][3]
_pdbx_struct_oper_list.vector[1]
_pdbx_struct_oper_list.matrix[2][1]
_pdbx_struct_oper_list.matrix[2][2]
_pdbx_struct_oper_list.matrix[2][3]
_pdbx_struct_oper_list.vector[2]
_pdbx_struct_oper_list.matrix[3][1]
_pdbx_struct_oper_list.matrix[3][2]
_pdbx_struct_oper_list.matrix[3][3]
_pdbx_struct_oper_list.vector[3]
1 1 0 0 0 0 1 0 0 0 0 1 0
2 0 -1 0 5 1 0 0 0 0 0 1 0
"""


def pack(value):
    """Encodes the values that the corpus needs as MessagePack."""
    if value is None:
        return b"\xc0"
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        return struct.pack(">Bi", 0xD2, value)
    if isinstance(value, float):
        return struct.pack(">Bd", 0xCB, value)
    if isinstance(value, str):
        return struct.pack(">BB", 0xD9, len(value)) + value.encode()
    if isinstance(value, bytes):
        return struct.pack(">BB", 0xC4, len(value)) + value
    if isinstance(value, list):
        return struct.pack(">BH", 0xDC, len(value)) + b"".join(map(pack, value))
    return struct.pack(">BH", 0xDE, len(value)) + b"".join(
        pack(key) + pack(item) for key, item in value.items()
    )


def kind(name, **rest):
    return {"kind": name, **rest}


def column(name, data, encodings, mask=None):
    return {"name": name, "data": {"encoding": encodings, "data": data}, "mask": mask}


def strings(name, words, mask=None):
    offsets = [0]
    for word in words:
        offsets.append(offsets[-1] + len(word))
    encoding = kind(
        "StringArray",
        dataEncoding=[kind("ByteArray", type=1)],
        stringData="".join(words),
        offsetEncoding=[kind("ByteArray", type=4)],
        offsets=bytes(offsets),
    )
    return column(name, bytes(range(len(words))), [encoding], mask)


INT8 = kind("ByteArray", type=1)
ATOMS = [
    strings("type_symbol", ["C", "FE"]),
    strings("label_atom_id", ["CA", "FE"]),
    strings("label_asym_id", ["A", "B"], {"encoding": [INT8], "data": b"\x00\x02"}),
    column(
        "Cartn_x",
        b"\x7f\x05\x01",
        [
            kind("FixedPoint", factor=100, srcType=33),
            kind("Delta", origin=10, srcType=3),
            kind("IntegerPacking", byteCount=1, isUnsigned=False, srcSize=2),
            INT8,
        ],
    ),
    column(
        "Cartn_y",
        b"\x00\x02",
        [kind("IntervalQuantization", min=-1.0, max=1.0, numSteps=5, srcType=33), INT8],
    ),
    column("Cartn_z", struct.pack("<2f", 1.5, -2.5), [kind("ByteArray", type=32)]),
    column(
        "auth_seq_id",
        b"\x07\x02",
        [kind("RunLength", srcType=3, srcSize=2), kind("ByteArray", type=4)],
    ),
]
ASSEMBLY = [
    strings("assembly_id", ["1"]),
    strings("oper_expression", ["1"]),
    strings("asym_id_list", ["A,B"]),
]
OPERATOR = [strings("id", ["1"])]
for row in (1, 2, 3):
    for other in (1, 2, 3):
        OPERATOR.append(column(f"matrix[{row}][{other}]", bytes([row == other]), [INT8]))
    OPERATOR.append(column(f"vector[{row}]", b"\x05", [INT8]))
BCIF = pack(
    {
        "encoder": "by hand",
        "version": "0.3.0",
        "dataBlocks": [
            {
                "header": "X",
                "categories": [
                    {"name": "_atom_site", "rowCount": 2, "columns": ATOMS},
                    {"name": "_pdbx_struct_assembly_gen", "rowCount": 1, "columns": ASSEMBLY},
                    {"name": "_pdbx_struct_oper_list", "rowCount": 1, "columns": OPERATOR},
                ],
            }
        ],
    }
)

write("short.pdb", PDB, ATOM)
write("unknown.pdb", PDB, UNKNOWN)
write("numbers.pdb", PDB, LONG + TAIL)
write("assembly.pdb", PDB, BIOMT + ATOM)
write("alternates.pdb", PDB, ALTERNATES)
write("models.pdb", PDB, b"MODEL 1\n" + ATOM + b"\nTER\nENDMDL\nMODEL 2\n" + ATOM + b"\nENDMDL\nEND\n")
write("tables.cif", MMCIF, CIF)
write("packed.bcif", BINARY, BCIF)
write("any.pdb", ANY, ATOM)
write("any.cif", ANY, CIF)
write("any.bcif", ANY, BCIF)
write("any.cif.gz", ANY, gzip.compress(CIF, mtime=0))
write("packed.bcif.gz", BINARY, gzip.compress(BCIF, mtime=0))

SPACE = "[ space ] dimensions 9, 9.5, 9 "
BENT = {
    "settings": """[ general ] # comment
title "a b" ; comment
seed 1 bead-radius .2 max-tries-mult 3 max-tries-rot-div 4 rearrange none
[ space ] dimensions (1, 2, 3) resolution 0.5 periodic true
[ includes ] "a.itp" "b.itp"
[ segments ]
""",
    "shapes": SPACE + """[ segments ] [ compartments ]
a is all b from "b.npz"
c as sphere at center with radius 2 d as sphere at 1, 2, 3 with diameter 3.
e as cuboid from start to end f within 1 of a g around 1 of b
""",
    "expressions": SPACE + """[ segments ] [ compartments ]
a where 2 < x and not (y > -5 or z < 1.5) b combines not a or (a and (not a))
""",
    "segments": SPACE + """[ compartments ] a is all b is all
[ constraints ] r rotates x, y s rotates
[ segments ] p:TAG 3 from "p.pdb" in a, b satisfies r, s
q 1M from "q.pdb" in a q 1mM from "q.pdb" in a q 1uM from "q.pdb" in a
q 1\u00b5M from "q.pdb" in a q 1\u03bcM from "q.pdb" in a q 1nM from "q" in b q 1pM from "q" in b
""",
    "line-ends": "\ufeff[ space ]\r\ndimensions 1, 1, 1\r[ segments ]\n",
}
(FOLDER / "read_bent").mkdir(parents=True, exist_ok=True)
for name, text in BENT.items():
    (FOLDER / "read_bent" / f"hand-{name}.bent").write_bytes(text.encode())
CORNERS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1.5)]
TRIANGLES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
OBJ_STATEMENTS = b"""# a pyramid
mtllib a.mtl
o first
v 0 0 0
v 1 0 0 0.5 0.5 0.5
v 1 1 0 1.0
v 0 1 0
vn 0 0 1
g b
f 1/1 4/1 \\
  3/1 2/1
v 0.5 5e-1 .75
f 1/1/1 2/1/1 -1/1/1
f 2//1 3//1 -1//1
f 3 4 -1
f -2 1 -1
"""
FACET = """ facet normal 0 0 0
  outer loop
   vertex {}
   vertex {}
   vertex {}
  endloop
 endfacet
"""


def coordinates(corner):
    return " ".join(map(str, corner))


def ascii_stl():
    facets = [FACET.format(*(coordinates(CORNERS[k]) for k in row)) for row in TRIANGLES]
    half = len(facets) // 2
    parts = facets[:half], facets[half:]
    return "".join(f"solid a\n{''.join(part)}endsolid a\n" for part in parts).encode()


def binary_stl(header):
    rows = [
        struct.pack("<12fH", 0, 0, 0, *CORNERS[a], *CORNERS[b], *CORNERS[c], 0)
        for a, b, c in TRIANGLES
    ]
    return header.ljust(80, b"\0") + struct.pack("<I", len(rows)) + b"".join(rows)


PLY_HEADER = """ply
format {} 1.0
comment by hand
obj_info nothing
element material 1
property list uchar short weights
element face {}
property uchar flags
property list uchar int vertex_indices
element vertex {}
property float x
property list uint8 float64 tags
property double y
property float32 z
end_header
"""


def ply(encoding):
    header = PLY_HEADER.format(encoding, len(TRIANGLES), len(CORNERS)).encode()
    if encoding == "ascii":
        rows = ["2 -1 7"]
        rows += [f"9 3 {a} {b} {c}" for a, b, c in TRIANGLES]
        rows += [f"{x} 1 0.5 {y} {z}" for x, y, z in CORNERS]
        return header + "\n".join(rows).encode()
    order = "<" if encoding == "binary_little_endian" else ">"
    rows = [struct.pack(f"{order}Bhh", 2, -1, 7)]
    rows += [struct.pack(f"{order}BB3i", 9, 3, *row) for row in TRIANGLES]
    rows += [struct.pack(f"{order}fBddf", x, 1, 0.5, y, z) for x, y, z in CORNERS]
    return header + b"".join(rows)


write_mesh("statements.obj", OBJ, OBJ_STATEMENTS)
write_mesh("text.stl", STL, ascii_stl())
write_mesh("binary.stl", STL, binary_stl(b""))
write_mesh("solid.stl", STL, binary_stl(b"solid a"))
for encoding in ("ascii", "binary_little_endian", "binary_big_endian"):
    write_mesh(f"{encoding}.ply", PLY, ply(encoding))
write_mesh("any.ply", BY_NAME, ply("ascii"))
write_mesh("tree.sph", SPHERES, b"# rmin rmax\n1.5 3\n\n2\n1\n0 0 0 3 0 1\n2\n-1.5 0 0 1.5\n1.5 0 0 1.5\n")
