//! Tripwires: what a tool call would destroy, and what text from outside says to a model behind its reader's back.
//!
//! [`destructive`] reads the arguments of a call as the shells, databases and cloud tools that would run them do, and tells what
//! would be lost. [`injection`] reads untrusted text and labels what looks like an attempt to give orders. Both are pure, linear in
//! their input, and say where and why.
//!
//! Signals are reasons to ask, to record and to lower trust. They are never the only boundary: whoever writes the text knows that it
//! is read, and a language has more ways to say a thing than a list has lines.

pub mod destructive;
pub mod injection;
