//! What a user can type, compared with what it is called elsewhere.

mod names;
