/// The way out of an error, kept apart from its message.
///
/// An error says in one line what was refused; the hint says what to do about it. The command line prints it
/// on a line of its own, Python appends it to the exception.
pub trait Hint: std::error::Error {
    /// What the user can do, if we know.
    fn hint(&self) -> Option<String>;

    /// What kind of refusal this is, for programs: a word that stays the same between versions.
    fn code(&self) -> &'static str {
        "refused"
    }

    /// Whether the machine did not do its part, rather than the request being refused.
    fn is_failure(&self) -> bool {
        false
    }

    /// Both in one text, the hint on a line of its own.
    fn explained(&self) -> String {
        match self.hint() {
            Some(hint) => format!("{self}\nhint: {hint}"),
            None => self.to_string(),
        }
    }
}

/// What cannot happen needs no way out.
impl Hint for std::convert::Infallible {
    fn hint(&self) -> Option<String> {
        None
    }
}
