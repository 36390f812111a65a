//! Actions, natively: what each asks the host for, and what it says of the answers.

mod broadcast;
mod desk;
mod direct;
mod edit;
mod faults;
mod people;
pub(crate) mod recorded;
mod schemas;
mod send;
mod split;
