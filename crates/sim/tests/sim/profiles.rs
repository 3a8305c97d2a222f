//! Profiles and targets: built-in ones are sound, impossible values are refused with their key.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use flashscope_device::Bytes;
use flashscope_sim::{Class, Profile, ProfileError, Target, TargetError};

const PATRIOT: &str = "patriot-xt-16g";

#[test]
fn builtin_profiles_parse_and_name_their_sources() {
    for name in Profile::builtin_names() {
        let profile = Profile::builtin(name).unwrap();
        assert_eq!(profile.name, name);
        assert!(!profile.description.is_empty() && !profile.source.is_empty(), "{name}");
    }
}

#[test]
fn builtin_profiles_cover_three_classes() {
    let classes: Vec<Class> =
        Profile::builtin_names().map(|name| Profile::builtin(name).unwrap().truth().class).collect();
    assert!(
        [Class::LinearOnly, Class::LogStructured, Class::OpenBlock]
            .iter()
            .all(|class| classes.contains(class))
    );
}

#[test]
fn truth_of_the_patriot_profile() {
    let truth = Profile::builtin(PATRIOT).unwrap().truth();
    assert_eq!((truth.erase_block, truth.page), (Bytes::mib(8), Bytes::kib(32)));
    assert_eq!((truth.open_units_linear, truth.open_units_random), (Some(8), Some(8)));
    assert_eq!((truth.fat_area, truth.small_writes_up_to), (Bytes::ZERO, Some(Bytes::kib(16))));
}

/// The Patriot profile with one line replaced.
fn with(old: &str, new: &str) -> Result<Profile, ProfileError> {
    let text = Profile::text(PATRIOT).unwrap();
    assert!(text.contains(old), "{old}");
    Profile::parse(&text.replace(old, new))
}

#[test]
fn impossible_values_are_refused_with_key_value_and_what_is_allowed() {
    let cases = [
        ("page = \"32KiB\"", "page = \"48KiB\"", "ftl.page", "48 KiB"),
        ("page = \"32KiB\"", "page = 0", "ftl.page", "0 B"),
        ("erase_block = \"8MiB\"", "erase_block = 1000", "ftl.erase_block", "1000 B"),
        ("capacity = \"15264MiB\"", "capacity = \"1MiB\"", "capacity", "1 MiB"),
        ("capacity = \"15264MiB\"", "capacity = \"9000TiB\"", "capacity", "9000 TiB"),
        ("open_units_linear = 8", "open_units_linear = 0", "policy.open_blocks.open_units_linear", "0"),
        ("open_units_random = 8", "open_units_random = 9", "policy.open_blocks.open_units_random", "9"),
        ("megabytes_per_s = 35", "megabytes_per_s = 0", "link.megabytes_per_s", "0"),
        ("jitter = 0.015", "jitter = nan", "noise.jitter", "NaN"),
        ("merge_us = 205000", "merge_us = -1", "policy.open_blocks.merge_us", "-1"),
        ("page = \"32KiB\"", "page = \"32KiB\"\nfat_area = \"1MiB\"", "ftl.fat_area", "1 MiB"),
        ("phase = \"16KiB\"", "phase = \"32KiB\"", "read.boundary.phase", "32 KiB"),
        ("before_us = -117", "before_us = -500", "read.boundary.before_us", "-500"),
        ("name = \"patriot-xt-16g\"", "name = \"\\u001b[31m\"", "name", "\\u{1b}[31m"),
    ];
    for (old, new, expected_key, expected_value) in cases {
        let Err(ProfileError::Impossible { key, value, allowed }) = with(old, new) else {
            unreachable!("{new} was accepted")
        };
        assert_eq!((key, value.as_str()), (expected_key, expected_value));
        assert!(!allowed.is_empty());
    }
}

#[test]
fn unknown_missing_and_mistyped_keys_are_refused_by_name() {
    let cases = [
        ("access_us = 380", "acess_us = 380", "acess_us"),
        ("access_us = 380", "", "access_us"),
        ("access_us = 380", "access_us = \"fast\"", "fast"),
        ("page = \"32KiB\"", "page = \"32 apples\"", "32 apples"),
        ("page = \"32KiB\"", "page = -1", "page"),
        ("basis = \"measured\"", "basis = \"guessed\"", "guessed"),
    ];
    for (old, new, word) in cases {
        let error = with(old, new).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
    let error = Profile::parse("\u{1b}[31m = 1").unwrap_err().to_string();
    assert!(!error.contains('\u{1b}'), "{error:?}");
}

#[test]
fn target_parses_seed_and_overrides() {
    let target = Target::parse("patriot-xt-16g?seed=7&capacity=8GiB&open_units_random=3&noise=0").unwrap();
    assert_eq!((target.seed, target.profile.capacity), (7, Bytes::gib(8)));
    assert_eq!(
        (target.profile.truth().open_units_random, target.profile.noise.jitter.to_bits()),
        (Some(3), 0)
    );
}

#[test]
fn target_can_be_a_file() {
    let folder = std::env::temp_dir().join(format!("flashscope-profiles-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("stick.toml");
    std::fs::write(&path, Profile::text("generic-2g").unwrap()).unwrap();
    let target = Target::parse(&format!("{}?page=8KiB", path.display())).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(target.profile.ftl.page, Bytes::kib(8));
    assert!(matches!(Target::parse("no/such.toml"), Err(TargetError::File { .. })));
}

#[test]
fn unknown_targets_list_the_known_names() {
    let cases = [
        ("patriot", "patriot-xt-16g, "),
        ("generic-2g?sed=1", "the keys are seed, capacity"),
        ("generic-2g?seed=-1", "whole number"),
        ("generic-2g?capacity=lots", "such as 8MiB"),
        ("generic-2g?noise", "such as 0"),
        ("generic-2g?open_units_random=4", "0 to open_units_linear (1)"),
    ];
    for (text, expected) in cases {
        let error = Target::parse(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn serialized_builtin_profiles_parse_to_equal_profiles() {
    for name in Profile::builtin_names() {
        let profile = Profile::builtin(name).unwrap();
        let text = profile.to_toml().unwrap();
        assert_eq!(Profile::parse(&text).unwrap(), profile, "{text}");
    }
}
