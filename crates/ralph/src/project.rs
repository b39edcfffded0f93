//! What belongs to the project that a run works in: its repository, who may work in it, and the files there that are
//! ralph's own or the stories loop's.

pub(crate) mod archived;
pub(crate) mod git;
pub(crate) mod iteration_files;
pub(crate) mod lock;
pub(crate) mod own_files;
pub(crate) mod own_output;
pub(crate) mod story_files;
