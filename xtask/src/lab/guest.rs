//! The programs inside the machine: its init script, and the script of the command.

use std::path::Path;

use anyhow::bail;

/// The longest wait for the sticks: 120 half seconds. Guess: a busy host boots the machine in 30 s.
const WAITS_MAX: u32 = 120;

/// The init script. It loads the modules, mounts the host's files, waits for `sticks` disks, runs the
/// command's script, and turns the machine off. Standard output goes to the second serial port, standard
/// error to the third, the exit code to the fourth.
pub fn init(sticks: usize) -> String {
    format!(
        "#!/bin/busybox sh
export PATH=/bin
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
for module in $(cat /modules); do insmod /lib/$module.ko; done
mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,ro,cache=loose root /host
mount -t proc proc /host/proc
mount -t sysfs sysfs /host/sys
mount -t debugfs debugfs /host/sys/kernel/debug
mount -t devtmpfs devtmpfs /host/dev
mount -t tmpfs tmpfs /host/run
waits=0
while [ $(ls /sys/block | grep -c '^sd') -lt {sticks} ] && [ $waits -lt {WAITS_MAX} ]; do
    waits=$((waits + 1))
    sleep 0.5
done
for line in 1 2 3; do stty -F /dev/ttyS$line raw; done
cp /script /host/run/script
mkfifo /results
cat /results > /dev/ttyS1 &
chroot /host /bin/sh /run/script < /dev/null > /results 2> /dev/ttyS2
code=$?
wait
echo $code > /dev/ttyS3
sync
poweroff -f
"
    )
}

/// The script that runs `command` in `folder`, with the folder of `program` in the path. Only /run is
/// writable.
pub fn script(command: &[String], program: &Path, folder: &Path) -> anyhow::Result<String> {
    let programs = program.parent().unwrap_or(program);
    let (Some(programs), Some(folder)) = (programs.to_str(), folder.to_str()) else {
        bail!("the paths {} and {} must be UTF-8", programs.display(), folder.display());
    };
    let command = match command {
        [line] => line.clone(),
        words => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
    };
    Ok(format!(
        "export PATH={}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/run TMPDIR=/run\ncd {}\n{command}\n",
        quoted(programs),
        quoted(folder)
    ))
}

/// Quotes one word for the shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_words_are_quoted_and_a_single_line_is_not() {
        let script = |command: &[&str]| {
            let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
            script(&command, Path::new("/a b/flashscope"), Path::new("/c")).unwrap()
        };
        assert!(script(&["echo", "it's", "$HOME"]).ends_with("cd '/c'\n'echo' 'it'\\''s' '$HOME'\n"));
        assert!(script(&["lsblk | head -1"]).ends_with("\nlsblk | head -1\n"));
        assert!(script(&["x"]).starts_with("export PATH='/a b':"));
    }
}
