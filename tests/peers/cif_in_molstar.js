// node cif_in_molstar.js FILE
//
// Opens an mmCIF or BinaryCIF file with instances (also .gz) in Mol*, as its viewer and its mesoscale
// explorer do, and prints what they have as JSON: the assembly "1", and the tree of groups.
'use strict';

const fs = require('fs');
const path = require('path');
const zlib = require('zlib');

// What the explorer asks of a browser.
globalThis.document = {
    addEventListener() { },
    removeEventListener() { },
    createElement: () => ({ style: {}, addEventListener() { }, setAttribute() { } }),
};
// Messages would mix with the result.
console.log = console.info = () => { };

const modules = 'molstar/lib/commonjs';
const { CIF } = require(`${modules}/mol-io/reader/cif.js`);
const { trajectoryFromMmCIF } = require(`${modules}/mol-model-formats/structure/mmcif.js`);
const { Structure, StructureSymmetry } = require(`${modules}/mol-model/structure.js`);
const { PluginContext } = require(`${modules}/mol-plugin/context.js`);
const { DefaultPluginSpec } = require(`${modules}/mol-plugin/spec.js`);
const { PluginStateObject } = require(`${modules}/mol-plugin-state/objects.js`);
const explorer = `${modules}/apps/mesoscale-explorer/data`;
const { createCellpackHierarchy } = require(`${explorer}/cellpack/preset.js`);
const { MesoscaleState, MesoscaleGroupObject } = require(`${explorer}/state.js`);

function contentOf(file) {
    const bytes = fs.readFileSync(file);
    const plain = file.endsWith('.gz') ? zlib.gunzipSync(bytes) : bytes;
    const isBinary = /\.bcif(\.gz)?$/.test(file);
    return isBinary ? new Uint8Array(plain) : plain.toString();
}

// World coordinates of an atom of a unit, in ångström.
function position(unit, index) {
    const atom = unit.elements[index];
    return ['x', 'y', 'z'].map(axis => unit.conformation[axis](atom));
}

function contents(structure) {
    const { units } = structure;
    const last = units[units.length - 1];
    return {
        units: units.length,
        elements: structure.elementCount,
        kinds: structure.unitSymmetryGroups.length,
        first: position(units[0], 0),
        last: position(last, last.elements.length - 1),
    };
}

async function assembly(content) {
    const parsed = await CIF.parse(content).run();
    if (parsed.isError) throw new Error(parsed.message);
    const block = parsed.result.blocks[0];
    const trajectory = await trajectoryFromMmCIF(block).run();
    const model = await trajectory.getFrameAtIndex(0);
    const structure = Structure.ofModel(model);
    const built = await StructureSymmetry.buildAssembly(structure, '1').run();
    return { header: block.header, ...contents(built) };
}

async function tree(content) {
    const plugin = new PluginContext(DefaultPluginSpec());
    await plugin.init();
    plugin.customState = { graphicsMode: 'quality', stateCache: {} };
    await MesoscaleState.init(plugin);
    const data = await plugin.builders.data.rawData({ data: content, label: 'scene' });
    const trajectory = await plugin.builders.structure.parseTrajectory(data, 'mmcif');
    await createCellpackHierarchy(plugin, trajectory);
    const state = plugin.state.data;
    const ofType = type => state.selectQ(q => q.ofType(type));
    const compartment = 'group:comp:';
    const groups = ofType(MesoscaleGroupObject)
        .flatMap(cell => (cell.transform.tags ?? []).map(tag => ({ tag, label: cell.obj.label })))
        .filter(({ tag }) => tag.startsWith(compartment) && tag !== compartment)
        .map(({ tag, label }) => ({ path: tag.slice(compartment.length), label }));
    const Molecule = PluginStateObject.Molecule;
    const structures = ofType(Molecule.Structure)
        .filter(cell => cell.transform.transformer.definition.name === 'cellpack-structure')
        .map(cell => {
            const shown = ofType(Molecule.Structure.Representation3D)
                .find(shown => shown.transform.parent === cell.transform.ref);
            const tag = shown?.transform.tags?.find(tag => tag.startsWith('comp:'));
            const { elementCount, units } = cell.obj.data;
            const path = tag?.slice('comp:'.length);
            return { label: cell.obj.label, path, units: units.length, elements: elementCount };
        });
    return { groups, structures };
}

async function main() {
    const file = process.argv[2];
    if (!file) throw new Error(`usage: node ${path.basename(__filename)} FILE`);
    const content = contentOf(file);
    const started = process.hrtime.bigint();
    const result = { assembly: await assembly(content), tree: await tree(content) };
    result.seconds = Number(process.hrtime.bigint() - started) / 1e9;
    // The plugin keeps the process alive.
    process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
}

main().catch(error => {
    process.stderr.write(`${error.stack}\n`, () => process.exit(1));
});
