//! SIGHUP: the configuration is read again.

use rustix::process::Signal;

use crate::Desk;

#[test]
fn a_hangup_has_the_spaces_of_the_configuration_read_again() {
    let desk = Desk::new();
    let write = |spaces: &str| {
        let text = format!("[storage]\npath = 'd'\n{spaces}");
        std::fs::write(desk.path().join("pressmark.toml"), text).unwrap();
    };
    let space = |name: &str, more: &str| {
        format!("[[space]]\nname = '{name}'\nuri_template = '{name}://{{x}}'\n{more}\n")
    };
    write(&(space("a", "") + &space("b", "")));
    let server = desk.serve_with(&["--log", "info"]);
    let names = || -> Vec<String> {
        let output = desk.run(&["space", "list", "--admin", &server.admin]);
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
    };
    assert_eq!(names(), ["a", "b"]);

    write(&(space("a", "title = 'A'") + &space("c", "")));
    server.signal(Signal::HUP);
    let said = server.says("configuration");
    assert!(said.contains("2 spaces added or changed, 1 removed"), "{said}");
    assert_eq!(names(), ["a", "c"]);

    write(&(space("d", "") + "[[space]]\nnam = 'e'\n"));
    server.signal(Signal::HUP);
    let said = server.says("configuration");
    assert!(said.contains("nothing has changed: ") && said.contains("nam"), "{said}");
    assert_eq!(names(), ["a", "c"]);
    server.end();
}

#[test]
fn a_hangup_has_the_prompts_of_the_configuration_read_again() {
    let desk = Desk::new();
    let write = |prompts: &str| {
        let text = format!("[storage]\npath = 'd'\n{prompts}");
        std::fs::write(desk.path().join("pressmark.toml"), text).unwrap();
    };
    let prompt =
        |text: &str| format!("[[prompt]]\nname = 'p'\n[[prompt.message]]\ntext = '{text}'\n");
    std::fs::write(desk.path().join("p.toml"), prompt("one")).unwrap();
    let two = prompt("one").replace("'p'", "'other'") + &prompt("one");
    std::fs::write(desk.path().join("two.toml"), two).unwrap();
    write("");
    let server = desk.serve_with(&["--log", "info"]);
    // The name of a declared prompt is not free; that of another one is.
    let exit =
        |file: &str| desk.run(&["prompt", "add", file, "--admin", &server.admin]).status.code();
    assert_eq!(exit("p.toml"), Some(0));
    assert_eq!(exit("none.toml"), Some(2));

    for (prompts, said_of_it, free) in [
        (prompt("two"), "1 prompts are declared", Some(2)),
        (prompt("three {x}"), "nothing has changed: ", Some(2)),
        (prompt("four") + &prompt("five"), "nothing has changed: ", Some(2)),
        (String::new(), "0 prompts are declared", Some(0)),
    ] {
        write(&prompts);
        server.signal(Signal::HUP);
        let said = server.says("configuration");
        assert!(said.contains(said_of_it), "{prompts}: {said}");
        assert_eq!(exit("p.toml"), free, "{prompts}");
        // The first of the file is added all the same.
        let some = if free == Some(0) { free } else { Some(1) };
        assert_eq!(exit("two.toml"), some, "{prompts}");
    }
    server.end();
}
