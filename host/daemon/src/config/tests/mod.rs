//! Files that are wrong in many ways, and what is said of them.

mod bad;
mod connector;
mod good;
