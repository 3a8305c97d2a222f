//! The files of a package, and the package made of them.

use super::archive::{self, Entry};
use super::control::{self, Origin, VERSION};

/// What a package is made from.
#[derive(Debug)]
pub struct Contents {
    /// Debian's name of the architecture.
    pub architecture: String,
    /// The program, stripped.
    pub program: Vec<u8>,
    /// Man pages by file name, such as `flashscope-check.1`.
    pub pages: Vec<(String, String)>,
    /// Completions of bash, zsh and fish.
    pub completions: Completions,
    /// The text of README.md.
    pub readme: String,
    /// The text of CHANGELOG.md.
    pub changelog: String,
    /// The text of the MIT licence.
    pub mit: String,
    /// The text of the Apache licence.
    pub apache: String,
    /// The licences of the linked crates.
    pub licences: String,
}

/// A file of completions for each shell.
#[derive(Debug)]
pub struct Completions {
    /// For bash.
    pub bash: String,
    /// For zsh.
    pub zsh: String,
    /// For fish.
    pub fish: String,
}

/// Where zsh looks for completions: those of Debian's packages, and those that an administrator installs.
const ZSH: [&str; 2] = ["vendor-completions", "site-functions"];

impl Contents {
    /// The files that a package and a plain archive share, below `/usr` or `/usr/local`.
    fn shared(&self, prefix: &str, zsh: &str) -> anyhow::Result<Vec<Entry>> {
        let share = |path: &str| format!("{prefix}share/{path}");
        let mut entries = vec![
            Entry::program(format!("{prefix}bin/flashscope"), self.program.clone()),
            Entry::new(share("bash-completion/completions/flashscope"), self.completions.bash.clone()),
            Entry::new(share(&format!("zsh/{zsh}/_flashscope")), self.completions.zsh.clone()),
            Entry::new(share("fish/vendor_completions.d/flashscope.fish"), self.completions.fish.clone()),
            Entry::new(share("doc/flashscope/README.md"), self.readme.clone()),
            Entry::new(share("doc/flashscope/CHANGELOG.md.gz"), archive::gzip(self.changelog.as_bytes())?),
            Entry::new(share("doc/flashscope/THIRD-PARTY.gz"), archive::gzip(self.licences.as_bytes())?),
        ];
        for (name, page) in &self.pages {
            let path = share(&format!("man/man1/{name}.gz"));
            entries.push(Entry::new(path, archive::gzip(page.as_bytes())?));
        }
        Ok(entries)
    }

    /// The Debian package.
    pub fn deb(&self, origin: &Origin) -> anyhow::Result<Vec<u8>> {
        let document = |name: &str| format!("usr/share/doc/flashscope/{name}");
        let depends = super::binary::depends(&self.program);
        let mut data = self.shared("usr/", ZSH[0])?;
        data.push(Entry::new(document("copyright"), control::copyright(&self.mit)));
        let changelog = archive::gzip(control::changelog(origin)?.as_bytes())?;
        data.push(Entry::new(document("changelog.gz"), changelog));
        if depends.is_empty() {
            data.push(Entry::new(
                "usr/share/lintian/overrides/flashscope",
                "# One file for every Debian on this architecture, whatever its C library.\n\
                 flashscope: statically-linked-binary [usr/bin/flashscope]\n",
            ));
        }
        data.sort();
        let control = [
            Entry::new("control", control::control(&self.architecture, &depends, origin, &data)),
            Entry::new("md5sums", control::sums(&data)),
        ];
        archive::ar(
            &[
                ("debian-binary", b"2.0\n".to_vec()),
                ("control.tar.gz", archive::gzip(&archive::tar(".", &control, origin.seconds)?)?),
                ("data.tar.gz", archive::gzip(&archive::tar(".", &data, origin.seconds)?)?),
            ],
            origin.seconds,
        )
    }

    /// A plain archive to unpack into `/usr/local`, not yet compressed, and the directory that it unpacks to.
    pub fn tar(&self, machine: &str, origin: &Origin) -> anyhow::Result<(String, Vec<u8>)> {
        let mut entries = self.shared("", ZSH[1])?;
        entries.push(Entry::new("share/doc/flashscope/LICENSE-MIT", self.mit.clone()));
        entries.push(Entry::new("share/doc/flashscope/LICENSE-APACHE", self.apache.clone()));
        let name = format!("flashscope-{VERSION}-{machine}");
        let bytes = archive::tar(&name, &entries, origin.seconds)?;
        Ok((name, bytes))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::GzDecoder;

    use super::*;

    /// A dynamic program for tests: only its string table matters.
    const PROGRAM: &[u8] = b"\x7fELF\0libgcc_s.so.1\0libc.so.6\0GLIBC_2.2.5\0GLIBC_2.34\0GLIBC_2.4\0";

    fn contents(program: &[u8]) -> Contents {
        let [bash, zsh, fish] = ["bash", "zsh", "fish"].map(str::to_owned);
        Contents {
            architecture: "amd64".to_owned(),
            program: program.to_vec(),
            pages: vec![("flashscope.1".to_owned(), ".TH flashscope 1\n".to_owned())],
            completions: Completions { bash, zsh, fish },
            readme: "# flashscope\n".to_owned(),
            changelog: "# Changelog\n".to_owned(),
            mit: "MIT License\n\nCopyright (c) 2026 somebody\n\nPermission is granted\n\nas is\n".to_owned(),
            apache: "Apache\n".to_owned(),
            licences: "somebody else's crate\n".to_owned(),
        }
    }

    fn origin() -> Origin {
        Origin { email: "somebody@flashscope.test".to_owned(), seconds: 1_700_000_000 }
    }

    /// The members of a package by name, read by hand so that the writer is not its own judge.
    fn members(package: &[u8]) -> Vec<(String, Vec<u8>)> {
        let mut rest = package.strip_prefix(b"!<arch>\n").unwrap();
        let mut members = Vec::new();
        while !rest.is_empty() {
            let (header, after) = rest.split_at(60);
            assert!(header.ends_with(b"`\n"));
            let field =
                |range: std::ops::Range<usize>| std::str::from_utf8(&header[range]).unwrap().trim_end();
            assert_eq!(field(16..28), "1700000000");
            let size: usize = field(48..58).parse().unwrap();
            members.push((field(0..16).to_owned(), after[..size].to_vec()));
            rest = &after[size + size % 2..];
        }
        members
    }

    /// Path, mode, owner, time and contents of what a compressed tar archive holds.
    fn unpacked(archive: &[u8]) -> Vec<(String, u32, u64, u64, String)> {
        let mut archive = tar::Archive::new(GzDecoder::new(archive));
        let entries = archive.entries().unwrap().map(|entry| {
            let mut entry = entry.unwrap();
            let header = entry.header().clone();
            let path = String::from_utf8(entry.path_bytes().into_owned()).unwrap();
            let mut text = Vec::new();
            entry.read_to_end(&mut text).unwrap();
            let text = String::from_utf8_lossy(&text).into_owned();
            let (mode, owner, time) = (
                header.mode().unwrap(),
                header.uid().unwrap() + header.gid().unwrap(),
                header.mtime().unwrap(),
            );
            (path, mode, owner, time, text)
        });
        entries.collect()
    }

    #[test]
    fn package_of_the_same_inputs_has_the_same_bytes() {
        let mut other_order = contents(PROGRAM);
        other_order.pages.insert(0, ("flashscope-watch.1".to_owned(), "watch".to_owned()));
        let mut order = contents(PROGRAM);
        order.pages.push(("flashscope-watch.1".to_owned(), "watch".to_owned()));
        assert_eq!(order.deb(&origin()).unwrap(), other_order.deb(&origin()).unwrap());
        assert_eq!(order.tar("x", &origin()).unwrap(), other_order.tar("x", &origin()).unwrap());
        let later = Origin { seconds: 1_700_000_001, ..origin() };
        assert_ne!(order.deb(&origin()).unwrap(), order.deb(&later).unwrap());
    }

    #[test]
    fn control_fields_of_a_dynamic_program_name_its_libraries() {
        let members = members(&contents(PROGRAM).deb(&origin()).unwrap());
        let names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["debian-binary", "control.tar.gz", "data.tar.gz"]);
        assert_eq!(members[0].1, b"2.0\n");
        let control = unpacked(&members[1].1);
        let [root, fields, sums] = control.as_slice() else { panic!("{control:?}") };
        assert_eq!(root.0, "./");
        assert_eq!(fields.0, "./control");
        for line in [
            "Package: flashscope",
            "Architecture: amd64",
            "Depends: libc6 (>= 2.34), libgcc-s1 (>= 4.2)",
            "Maintainer: flashscope developers <somebody@flashscope.test>",
        ] {
            assert!(fields.4.lines().any(|field| field == line), "{line}:\n{}", fields.4);
        }
        assert!(sums.4.contains("  usr/bin/flashscope\n"), "{}", sums.4);
    }

    #[test]
    fn control_fields_of_a_static_program_name_no_library() {
        let members = members(&contents(b"\x7fELF").deb(&origin()).unwrap());
        let control = unpacked(&members[1].1);
        assert!(!control[1].4.contains("Depends"), "{}", control[1].4);
        let paths: Vec<String> = unpacked(&members[2].1).into_iter().map(|entry| entry.0).collect();
        assert!(paths.contains(&"./usr/share/lintian/overrides/flashscope".to_owned()));
    }

    #[test]
    fn data_of_a_package_belongs_to_root_and_lies_below_its_directories() {
        let members = members(&contents(PROGRAM).deb(&origin()).unwrap());
        let data = unpacked(&members[2].1);
        assert!(data.iter().all(|(_, _, owner, time, _)| *owner == 0 && *time == 1_700_000_000));
        let paths: Vec<&str> = data.iter().map(|entry| entry.0.as_str()).collect();
        assert_eq!(paths[..3], ["./", "./usr/", "./usr/bin/"]);
        for path in &paths[1..] {
            let parent = path.trim_end_matches('/').rsplit_once('/').unwrap().0;
            let parent = format!("{parent}/");
            assert!(
                paths.iter().take_while(|before| before != &path).any(|before| *before == parent),
                "{path}"
            );
        }
        let program = data.iter().find(|entry| entry.0 == "./usr/bin/flashscope").unwrap();
        assert_eq!(program.1, 0o755);
        let copyright = &data.iter().find(|entry| entry.0.ends_with("/copyright")).unwrap().4;
        assert!(
            copyright.contains("Copyright: 2026 somebody\nLicense: Expat or Apache-2.0\n"),
            "{copyright}"
        );
        assert!(copyright.contains("\n Permission is granted\n .\n as is\n"), "{copyright}");
    }

    #[test]
    fn plain_archive_unpacks_into_one_directory() {
        let (name, bytes) = contents(PROGRAM).tar("x86_64", &origin()).unwrap();
        let paths = unpacked(&archive::gzip(&bytes).unwrap());
        assert!(paths.iter().all(|entry| entry.0.starts_with(&format!("{name}/"))), "{paths:?}");
        assert!(paths.iter().any(|entry| entry.0 == format!("{name}/bin/flashscope")));
        assert!(paths.iter().any(|entry| entry.0.ends_with("/LICENSE-APACHE")));
    }
}
