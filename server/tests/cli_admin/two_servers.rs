//! Several servers on one machine.

use crate::Desk;

/// At most one of them has the usual address.
#[test]
fn each_server_has_a_plane_that_its_data_directory_names() {
    let desk = Desk::new();
    let servers = ["a", "b"].map(|data| (data, desk.serve_at(&["--data", data])));
    for (data, server) in &servers {
        let add = ["space", "add", data, &format!("{data}://{{x}}"), "--data", data];
        let added = desk.run(&[&add[..], &["--admin", "auto"]].concat());
        assert_eq!(added.status.code(), Some(0), "{data}: {added:?}");
        let listed = desk.run(&["space", "list", "--admin", &server.admin]);
        let listed = String::from_utf8(listed.stdout).unwrap();
        assert_eq!(listed, format!("{data}\t{data}://{{x}}\t0\n"));
    }
    for (_, server) in servers {
        server.end();
    }
}
