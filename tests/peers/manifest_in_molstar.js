// node manifest_in_molstar.js FILE.zip: opens a manifest as the mesoscale explorer of Mol* does, and
// prints JSON: for each structure its label, groups, number of units and elements, and the first and
// last position, ångström.
'use strict';

const fs = require('fs');
const path = require('path');

// What the plugin expects of a browser.
const element = () => ({ style: {}, appendChild() {}, getContext: () => null });
global.document = { addEventListener() {}, removeEventListener() {}, createElement: element };
const lib = 'molstar/lib/commonjs/';
const { File_ } = require(lib + 'mol-util/nodejs-shims');
global.File = File_;

const { PluginContext } = require(lib + 'mol-plugin/context');
const { DefaultPluginSpec } = require(lib + 'mol-plugin/spec');
const { PluginStateObject } = require(lib + 'mol-plugin-state/objects');
const { Asset } = require(lib + 'mol-util/assets');
const explorer = lib + 'apps/mesoscale-explorer/data/';
const { createGenericHierarchy } = require(explorer + 'generic/preset');
const { MesoscaleState, MesoscaleGroupObject } = require(explorer + 'state');

function position(unit, element) {
    const at = unit.conformation;
    return [at.x(element), at.y(element), at.z(element)];
}

/** Labels of the groups of an entity, from the outermost to the innermost. */
function pathOf(tag, groups) {
    const labels = [];
    for (let group = groups.get(tag); group; group = groups.get(group.parent)) labels.unshift(group.label);
    return labels;
}

async function main() {
    const file = process.argv[2];
    const plugin = new PluginContext(DefaultPluginSpec());
    await plugin.init();
    plugin.customState = { graphicsMode: 'quality', stateCache: {} };
    await MesoscaleState.init(plugin);
    const log = console.log;
    console.log = () => {};
    await createGenericHierarchy(plugin, Asset.File(new File_([fs.readFileSync(file)], path.basename(file))));
    console.log = log;

    const groups = new Map();
    for (const cell of plugin.state.data.selectQ(q => q.ofType(MesoscaleGroupObject))) {
        const { tag, label } = cell.params.values;
        const tags = [].concat(cell.transform.tags || []);
        groups.set(tag, { label, parent: tags.find(other => !other.startsWith('group:')) });
    }
    const structures = plugin.state.data.selectQ(q => q.ofType(PluginStateObject.Molecule.Structure)).map(cell => {
        const structure = cell.obj.data;
        const { units } = structure;
        const first = units[0], last = units[units.length - 1];
        const representation = plugin.state.data.selectQ(q => q.byRef(cell.transform.ref).children())[0];
        const tags = [].concat((representation && representation.transform.tags) || []);
        const radii = first.kind === 0 ? null : Array.from(first.elements, e => first.coarseConformation.radius[e]);
        return {
            label: cell.obj.label,
            path: pathOf(tags[0], groups),
            units: units.length,
            elements: structure.elementCount,
            first: position(first, first.elements[0]),
            last: position(last, last.elements[last.elements.length - 1]),
            radii,
        };
    });
    console.log(JSON.stringify({ structures }));
    process.exit(0);
}

main().catch(error => { console.error(error); process.exit(1); });
