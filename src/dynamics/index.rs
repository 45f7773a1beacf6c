//! Index types of a crowd: see the [module page](super#index-spaces).

macro_rules! index_types {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "gpu", derive(bytemuck::Pod, bytemuck::Zeroable))]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The same as `usize`, to index a slice.
            #[inline]
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

index_types! {
    /// A member of a crowd: its place in the list of
    /// [`members`](super::CrowdContacts::members).
    MemberIndex;

    /// A member that is not excluded. Owners are numbered in the order of their members; the
    /// spheres of owner *k* have [`owner`](crate::spheres::SphereSet::owner) *k*.
    OwnerIndex;

    /// A body of the solver: first one per owner, then the external bodies.
    BodyIndex;
}

impl OwnerIndex {
    /// The body of this owner.
    #[inline]
    #[must_use]
    pub const fn body(self) -> BodyIndex {
        BodyIndex(self.0)
    }
}
