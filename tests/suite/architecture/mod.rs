//! What Cargo can't hold: the shape of the tree, who may do what in which file, sizes, and ledgers that can't go stale.

mod languages;
mod layout;
mod ledger;
mod place;
mod size;
mod source;
