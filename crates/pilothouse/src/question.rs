//! What a user chose when the model asked.

/// The answer to one question: the label of an option, several labels, or the user's own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice(Vec<String>);

impl Choice {
    /// The form that the CLI takes: several labels in one text.
    pub(crate) fn into_text(self) -> String {
        self.0.join(", ")
    }
}

impl From<&str> for Choice {
    fn from(label: &str) -> Self {
        Self(vec![label.to_owned()])
    }
}

impl From<String> for Choice {
    fn from(label: String) -> Self {
        Self(vec![label])
    }
}

impl<S: Into<String>> From<Vec<S>> for Choice {
    fn from(labels: Vec<S>) -> Self {
        Self(labels.into_iter().map(Into::into).collect())
    }
}

impl<S: Into<String>, const N: usize> From<[S; N]> for Choice {
    fn from(labels: [S; N]) -> Self {
        Self(labels.into_iter().map(Into::into).collect())
    }
}
