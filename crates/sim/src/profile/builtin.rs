//! The built-in profiles.

/// Declares the built-in profiles by name. Each is the file of that name in `profiles/`.
macro_rules! profiles {
    ($($name:literal),+ $(,)?) => {
        pub(super) const NAMES: &[&str] = &[$($name),+];

        pub(super) fn text(name: &str) -> Option<&'static str> {
            match name {
                $($name => Some(include_str!(concat!("../../profiles/", $name, ".toml"))),)+
                _ => None,
            }
        }
    };
}

profiles![
    "a1-card-64g",
    "cheap-usb3-32g",
    "counterfeit-128g-limbo",
    "counterfeit-64g-wrap",
    "generic-2g",
    "lexar-633x-16g",
    "lexar-s75-128g",
    "linuxplanet-class10-sd",
    "linuxplanet-noname-2g",
    "modern-ssd-stick-128g",
    "olpc-high-perf",
    "olpc-toshiba-4g",
    "patriot-fitted",
    "patriot-xt-16g",
    "pqi-32g",
    "readme-card",
    "samsung-fit-plus",
    "samsung-oem-sd",
    "sandisk-cruzer-fit",
    "transcend-8g",
    "wirenboard-01",
    "wirenboard-03",
    "wirenboard-06",
    "wirenboard-08",
    "wirenboard-13",
    "wirenboard-14",
    "wirenboard-18",
    "wirenboard-22",
    "wirenboard-31",
];
