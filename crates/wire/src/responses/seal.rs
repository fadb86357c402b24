//! The seal on a thought, which its vendor wants back unchanged.
//!
//! OpenAI's seal is the id of the thought and the sealed thought: they go to callers of another wire together, as its
//! signature. Anthropic's is a signature: it goes to callers of OpenAI's wire as the sealed thought, marked as another
//! vendor's. Either way it is known for what it is when it comes back, and goes only to the vendor that set it.

/// What marks a sealed thought as Anthropic's.
const ANTHROPIC: &str = "anthropic:";

/// What the ids of OpenAI's thoughts begin with, and the whole of an id that the caller left out.
const ID: &str = "rs_";

/// The signature of a thought on this wire.
pub(crate) fn seal(id: Option<&str>, sealed: &str) -> String {
    match sealed.strip_prefix(ANTHROPIC) {
        Some(signature) => signature.to_owned(),
        None => format!("{}.{sealed}", id.filter(|id| id.starts_with(ID) && !id.contains('.')).unwrap_or(ID)),
    }
}

/// The id of a thought that OpenAI sealed, if it has one, and the sealed thought; the seals of other vendors do not look
/// like this.
pub(crate) fn open(signature: &str) -> Option<(Option<&str>, &str)> {
    let (id, sealed) = signature.split_once('.')?;
    let ours = id.starts_with(ID) && !sealed.is_empty();
    ours.then_some((Some(id).filter(|id| *id != ID), sealed))
}

/// What a caller of this wire keeps of a signature.
pub(crate) fn keep(signature: &str) -> String {
    match open(signature) {
        Some((_, sealed)) => sealed.to_owned(),
        None => format!("{ANTHROPIC}{signature}"),
    }
}
