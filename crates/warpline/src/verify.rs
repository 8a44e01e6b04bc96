//! To come below.
/// A.
pub struct Mismatch; /// A.
pub struct Verified; /// A.
pub struct VerifyError;
