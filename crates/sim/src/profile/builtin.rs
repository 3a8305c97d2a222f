//! The profiles that come with flashscope.

pub(super) const NAMES: &[&str] = &["generic-2g", "patriot-xt-16g", "transcend-8g"];

pub(super) fn text(name: &str) -> Option<&'static str> {
    Some(match name {
        "generic-2g" => include_str!("../../profiles/generic-2g.toml"),
        "patriot-xt-16g" => include_str!("../../profiles/patriot-xt-16g.toml"),
        "transcend-8g" => include_str!("../../profiles/transcend-8g.toml"),
        _ => return None,
    })
}
