//! Files that are named where another kind belongs.

use crate::{flashscope, published, stderr};

#[test]
fn a_file_of_another_kind_is_named_with_the_command_that_takes_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (run, plan, undo) = (path("run.json"), path("plan.json"), path("old.undo"));
    flashscope(&["check", "sim:generic-2g", "-q", "-o", &run]);
    flashscope(&["plan", "sim:generic-2g", "--for", "share", "--erase-block", "4MiB", "-q", "-o", &plan]);
    std::fs::write(&undo, "FSUNDO1\n and no more").unwrap();
    let log = published("readme-example-arnd.txt").to_str().unwrap().to_owned();
    let stick = "sim:generic-2g";
    for (arguments, file, takes) in [
        (&["apply"][..], &run, "report"),
        (&["apply"], &undo, "undo"),
        (&["apply"], &log, "import"),
        (&["undo"], &plan, "apply"),
        (&["report"], &log, "import"),
        (&["report"], &plan, "apply"),
        (&["import"], &run, "report"),
        (&["import"], &undo, "undo"),
        (&["whatif"], &log, "import"),
        (&["whatif"], &plan, "apply"),
        (&["plan", stick, "--for", "share", "--run"], &plan, "apply"),
        (&["report", "compare", &run], &plan, "apply"),
        (&["sim", "fit"], &plan, "apply"),
        (&["check"], &log, "import"),
        (&["check"], &run, "report"),
        (&["bench"], &undo, "undo"),
        (&["restore"], &run, "report"),
    ] {
        let output = flashscope(&[arguments, &[file.as_str()]].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?} {file}");
        let wanted = format!("this reads it: flashscope {takes} {file}");
        assert!(stderr(&output).contains(&wanted), "{arguments:?}: {}", stderr(&output));
    }
    let directory = flashscope(&["restore", folder.path().to_str().unwrap()]);
    assert_eq!(directory.status.code(), Some(2));
    assert!(stderr(&directory).contains("is a directory"), "{}", stderr(&directory));
}

#[test]
fn a_run_that_is_compared_with_itself_is_noted() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run.json").to_str().unwrap().to_owned();
    flashscope(&["bench", "sustained", "sim:generic-2g", "--time-budget", "30s", "-q", "-o", &run]);
    let again = folder.path().join("./run.json").to_str().unwrap().to_owned();
    let output = flashscope(&["report", "compare", &run, &again]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("is named twice"), "{}", stderr(&output));
}
