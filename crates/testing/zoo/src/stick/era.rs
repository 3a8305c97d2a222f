//! The era of a stick: sizes and speeds depend on it.

use crate::draw::Draw;

/// When a stick may have been made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    /// About 2004 to 2008.
    Early,
    /// About 2009 to 2013.
    Middle,
    /// 2014 and later.
    Late,
    /// Any combination of sizes and speeds.
    Unusual,
}

impl Era {
    pub(super) fn sample(draw: &mut Draw) -> Self {
        draw.weighted(&[(0.15, Self::Early), (0.45, Self::Middle), (0.25, Self::Late), (0.15, Self::Unusual)])
    }

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Early => "of 2004 to 2008",
            Self::Middle => "of 2009 to 2013",
            Self::Late => "of 2014 or later",
            Self::Unusual => "with unusual sizes and speeds",
        }
    }
}
