"""Opens trajectories with MDAnalysis, and checks those of Simularium against its file format.

usage: trajectory_in_python.py xtc STRUCTURE XTC
       trajectory_in_python.py simularium FILE
Prints JSON.
"""

import json
import math
import re
import sys
import warnings


def xtc(structure, trajectory):
    import MDAnalysis

    warnings.simplefilter("ignore")
    universe = MDAnalysis.Universe(structure, trajectory, refresh_offsets=True)
    frames = []
    for step in universe.trajectory:
        box = step.dimensions
        frames.append(
            {
                "time": float(step.time),
                "box": None if box is None else [float(edge) for edge in box],
                # nm
                "positions": [[float(x) / 10.0 for x in atom] for atom in step.positions],
            }
        )
    # What the structure file itself has, nm.
    alone = MDAnalysis.Universe(structure)
    return {
        "atoms": universe.atoms.n_atoms,
        "names": list(universe.atoms.names),
        "residues": list(universe.atoms.resnames),
        "structure": [[float(x) / 10.0 for x in atom] for atom in alone.atoms.positions],
        "frames": frames,
    }


NUMBER = (int, float)


def has(value, keys):
    """Checks the types of required and optional keys ("key?")."""
    assert isinstance(value, dict), value
    for key, kind in keys.items():
        name = key.rstrip("?")
        if name not in value:
            assert key.endswith("?"), f"{name} is missing"
            continue
        assert isinstance(value[name], kind), f"{name}: {value[name]!r}"
        assert not isinstance(value[name], bool)
    unknown = set(value) - {key.rstrip("?") for key in keys}
    assert not unknown, unknown


def point(value):
    has(value, {"x": NUMBER, "y": NUMBER, "z": NUMBER})
    return [value["x"], value["y"], value["z"]]


def unit(value):
    has(value, {"magnitude": NUMBER, "name": str})
    assert value["magnitude"] > 0 and value["name"]


def no_constant(text):
    raise AssertionError(f"{text} is not JSON")


def simularium(path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file, parse_constant=no_constant)
    has(document, {"trajectoryInfo": dict, "spatialData": dict, "plotData": dict})
    info = document["trajectoryInfo"]
    has(
        info,
        {
            "version": int,
            "timeUnits": dict,
            "timeStepSize": NUMBER,
            "totalSteps": int,
            "spatialUnits": dict,
            "size": dict,
            "cameraDefault?": dict,
            "typeMapping": dict,
            "trajectoryTitle?": str,
        },
    )
    assert info["version"] == 3 and info["timeStepSize"] > 0
    unit(info["timeUnits"])
    unit(info["spatialUnits"])
    size = point(info["size"])
    camera = info["cameraDefault"]
    has(camera, {"position": dict, "lookAtPosition": dict, "upVector": dict, "fovDegrees": NUMBER})
    for key in ["position", "lookAtPosition", "upVector"]:
        point(camera[key])
    for key, look in info["typeMapping"].items():
        assert key == str(int(key))
        has(look, {"name": str, "geometry?": dict})
        assert look["name"]
        has(look["geometry"], {"displayType": str, "url?": str, "color?": str})
        assert look["geometry"]["displayType"] == "SPHERE"
        assert re.fullmatch("(#[0-9a-f]{6})?", look["geometry"]["color"])
    spatial = document["spatialData"]
    keys = {"version": int, "msgType": int, "bundleStart": int, "bundleSize": int}
    has(spatial, keys | {"bundleData": list})
    assert [spatial[key] for key in keys] == [1, 1, 0, len(spatial["bundleData"])]
    assert info["totalSteps"] == spatial["bundleSize"]
    assert document["plotData"] == {"version": 1, "data": []}
    frames = []
    for number, frame in enumerate(spatial["bundleData"]):
        has(frame, {"frameNumber": int, "time": NUMBER, "data": list})
        assert frame["frameNumber"] == number
        data = frame["data"]
        assert all(isinstance(value, NUMBER) and math.isfinite(value) for value in data)
        agents, place, ids = [], 0, set()
        while place < len(data):
            viz, number, kind, x, y, z, a, b, c, radius, points = data[place : place + 11]
            place += 11 + points
            assert viz == 1000 and points == 0 and radius > 0
            assert number not in ids and number == int(number)
            ids.add(number)
            assert str(kind) in info["typeMapping"]
            assert all(abs(value) <= math.pi + 0.001 for value in (a, b, c))
            for value, edge in zip((x, y, z), size):
                assert abs(value) + radius <= edge / 2 + 0.002
            agents.append([number, kind, x, y, z])
        assert place == len(data)
        frames.append({"time": frame["time"], "agents": agents})
    return {"frames": frames, "types": len(info["typeMapping"])}


if __name__ == "__main__":
    result = {"xtc": xtc, "simularium": simularium}[sys.argv[1]](*sys.argv[2:])
    print(json.dumps(result))
