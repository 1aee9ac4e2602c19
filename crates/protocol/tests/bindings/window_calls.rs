//! The calls of the window in TypeScript.

use super::TypeDeclarations;

include!("../../ipc_calls.rs");

macro_rules! window_calls {
    (
        types { $($import:item)* }
        $($module:ident {
            $(
                $(#[doc = $docs:literal])*
                $scope:ident $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty;
            )*
        })*
    ) => {
        $($import)*

        /// Declares the types of all arguments and results.
        pub(super) fn declare_types(types: &mut TypeDeclarations) {
            $($(
                $(types.declare::<$type>();)*
                types.declare::<$result>();
            )*)*
        }
    };
}

ipc_calls!(window_calls);
