//! What the unit tests of this crate share.

/// Says why a test did not run. With `FLASHSCOPE_REQUIRE_ALL=1` that is a failure.
pub fn skip(reason: &str) {
    assert!(std::env::var("FLASHSCOPE_REQUIRE_ALL").as_deref() != Ok("1"), "must not be skipped: {reason}");
    #[expect(clippy::print_stderr, reason = "a skipped test reports it")]
    {
        eprintln!("skipped: {reason}");
    }
}
