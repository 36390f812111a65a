//! The embedded backend: the conformance suites, and what is true of files and processes only.

mod bed;
mod child;
mod crash;
mod disk;
mod files;

use bed::Embedded;

jackfield_store::conformance!(Embedded);
