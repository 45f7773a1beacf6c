//! Sources of the kernels that solve contacts.

use crate::gpu::shader::{ARBITRARY_DIRECTION, DIRECTION, DISPATCH, PAIR_GROUP, SHORTENED, Shader};

/// What is solved.
const PARAMS: &str = include_str!("../../../shaders/crowd_params.wgsl");

/// Bodies.
const BODY: &str = include_str!("../../../shaders/crowd_body.wgsl");

/// Contacts and their groups.
const CONTACT: &str = include_str!("../../../shaders/crowd_contact.wgsl");

/// Surfaces, and who touches whom.
const MEET: &str = include_str!("../../../shaders/crowd_meet.wgsl");

/// Where groups were before.
const FIND: &str = include_str!("../../../shaders/crowd_find.wgsl");

/// What a contact makes of its bodies.
const LOOK: &str = include_str!("../../../shaders/crowd_look.wgsl");

/// How impulses change.
const CHANGE: &str = include_str!("../../../shaders/crowd_change.wgsl");

/// Who may touch whom.
pub(in crate::gpu) const CROWD_GROUPS: Shader = Shader {
    name: "crowd_groups",
    parts: &[
        DISPATCH,
        PARAMS,
        PAIR_GROUP,
        CONTACT,
        MEET,
        include_str!("../../../shaders/crowd_groups.wgsl"),
    ],
};

/// Sleepers that are disturbed.
pub(in crate::gpu) const CROWD_WAKE: Shader = Shader {
    name: "crowd_wake",
    parts: &[
        DISPATCH,
        PARAMS,
        DIRECTION,
        BODY,
        CONTACT,
        include_str!("../../../shaders/crowd_wake.wgsl"),
    ],
};

/// Sleepers that have lost a neighbour.
pub(in crate::gpu) const CROWD_BEREAVED: Shader = Shader {
    name: "crowd_bereaved",
    parts: &[
        DISPATCH,
        PARAMS,
        CONTACT,
        FIND,
        include_str!("../../../shaders/crowd_bereaved.wgsl"),
    ],
};

/// Pairs of spheres to contacts.
pub(in crate::gpu) const CROWD_PREPARE: Shader = Shader {
    name: "crowd_prepare",
    parts: &[
        DISPATCH,
        PARAMS,
        DIRECTION,
        ARBITRARY_DIRECTION,
        SHORTENED,
        BODY,
        CONTACT,
        MEET,
        FIND,
        LOOK,
        include_str!("../../../shaders/crowd_prepare.wgsl"),
    ],
};

/// Contacts of the engine to contacts.
pub(in crate::gpu) const CROWD_SUPPORTS: Shader = Shader {
    name: "crowd_supports",
    parts: &[
        DISPATCH,
        PARAMS,
        SHORTENED,
        BODY,
        CONTACT,
        LOOK,
        include_str!("../../../shaders/crowd_supports.wgsl"),
    ],
};

/// Which of these are left to the engine.
pub(in crate::gpu) const CROWD_LEAVE: Shader = Shader {
    name: "crowd_leave",
    parts: &[
        DISPATCH,
        PARAMS,
        BODY,
        CONTACT,
        include_str!("../../../shaders/crowd_leave.wgsl"),
    ],
};

/// Groups by bodies.
pub(in crate::gpu) const CROWD_SIDES: Shader = Shader {
    name: "crowd_sides",
    parts: &[
        DISPATCH,
        PARAMS,
        CONTACT,
        include_str!("../../../shaders/crowd_sides.wgsl"),
    ],
};

/// Iterations, group by group.
pub(in crate::gpu) const CROWD_SOLVE: Shader = Shader {
    name: "crowd_solve",
    parts: &[
        DISPATCH,
        PARAMS,
        SHORTENED,
        BODY,
        CONTACT,
        CHANGE,
        include_str!("../../../shaders/crowd_solve.wgsl"),
    ],
};

/// Iterations, body by body.
pub(in crate::gpu) const CROWD_BODIES: Shader = Shader {
    name: "crowd_bodies",
    parts: &[
        DISPATCH,
        PARAMS,
        BODY,
        CHANGE,
        include_str!("../../../shaders/crowd_bodies.wgsl"),
    ],
};

/// What contacts carry.
pub(in crate::gpu) const CROWD_PACK: Shader = Shader {
    name: "crowd_pack",
    parts: &[
        DISPATCH,
        PARAMS,
        CONTACT,
        include_str!("../../../shaders/crowd_pack.wgsl"),
    ],
};
