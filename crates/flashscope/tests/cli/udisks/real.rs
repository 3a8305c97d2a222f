//! The real udisks2 and polkit, on a private bus and in a mount namespace of their own.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use super::mock::Bus;
use crate::skip;

/// Where distributions have the daemons.
const UDISKS: [&str; 2] = ["/usr/libexec/udisks2/udisksd", "/usr/lib/udisks2/udisksd"];
const POLKIT: [&str; 2] = ["/usr/lib/polkit-1/polkitd", "/usr/libexec/polkitd"];

/// udisks2 ignores disks that udev has not seen. Without udev here, its record of the disk is made by hand.
const SCRIPT: &str = "set -e
mount --make-rprivate /
mkdir -p /run/udev
mount -t tmpfs none /run/udev
mkdir /run/udev/data
echo I:1 > /run/udev/data/b$1
mount --bind \"$2\" /etc/polkit-1/rules.d
exec 2>&1
\"$3\" &
exec \"$4\" --debug
";

/// A rule that lets every user use udisks2, as an administrator's password does.
const RULE: &str = "polkit.addRule(function(action, subject) {
    if (action.id.indexOf('org.freedesktop.udisks2.') == 0) return polkit.Result.YES;
});";

/// Both daemons, stopped when dropped.
pub struct Daemons {
    child: Child,
    _output: BufReader<ChildStdout>,
    _rules: tempfile::TempDir,
}

impl Daemons {
    /// `None`, with a message, if they are not installed.
    pub fn start(bus: &Bus, disk: &str, is_allowed: bool) -> Option<Self> {
        let find = |paths: [&'static str; 2]| paths.into_iter().find(|path| Path::new(path).is_file());
        let (Some(udisks), Some(polkit)) = (find(UDISKS), find(POLKIT)) else {
            skip("udisks2 or polkit is not installed");
            return None;
        };
        let rules = tempfile::tempdir().unwrap();
        super::open_to_all(rules.path());
        if is_allowed {
            std::fs::write(rules.path().join("50-test.rules"), RULE).unwrap();
        }
        let name = disk.strip_prefix("/dev/").unwrap();
        let number = std::fs::read_to_string(format!("/sys/class/block/{name}/dev")).unwrap();
        let mut child = Command::new("unshare")
            .args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", SCRIPT, "sh", number.trim()])
            .arg(rules.path())
            .args([polkit, udisks])
            .env("DBUS_SYSTEM_BUS_ADDRESS", &bus.address)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut missing = vec!["name org.freedesktop.PolicyKit1", "name org.freedesktop.UDisks2"];
        let mut said = String::new();
        while !missing.is_empty() {
            let start = said.len();
            assert!(output.read_line(&mut said).unwrap() > 0, "the daemons ended: {said}");
            missing.retain(|words| !said[start..].contains(words));
        }
        Some(Self { child, _output: output, _rules: rules })
    }
}

impl Drop for Daemons {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
