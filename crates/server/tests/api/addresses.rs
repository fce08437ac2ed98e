//! Addresses of systems: no two answer the same requests.

use reqwest::Method;
use server::Mounts;
use system::{Need, PipelineFile, Reply, Room, Route, System};

/// A system with routes at these addresses, and nothing else.
struct Addressed(&'static str, Vec<(Method, &'static str)>);

impl System for Addressed {
    fn name(&self) -> &'static str {
        self.0
    }

    fn pipelines(&self) -> Vec<PipelineFile> {
        Vec::new()
    }

    fn routes(&self) -> Vec<Route> {
        let route = |(method, path): &(Method, &'static str)| {
            Route::new((method.clone(), *path), (Need::AnyRole, Room::Request), "", |_| async {
                Ok(Reply::text(""))
            })
        };
        self.1.iter().map(route).collect()
    }
}

#[test]
fn systems_that_would_answer_the_same_requests_are_refused() {
    let check = |routes: [Vec<(Method, &'static str)>; 2]| {
        let [one, other] = routes;
        let systems = [Addressed("one", one), Addressed("other", other)];
        let mounts: Vec<Mounts> =
            systems.iter().map(|system| Mounts::of(system, Vec::new()).unwrap()).collect();
        server::check_addresses(&mounts).map_err(|bad| bad.to_string())
    };
    let (get, put) = (Method::GET, Method::PUT);
    let fine = [
        vec![(get.clone(), "/compat/a/{x}"), (put.clone(), "/compat/a/{x}"), (get.clone(), "/one/x")],
        vec![(get.clone(), "/compat/a/b"), (get.clone(), "/compat/b/{*rest}"), (get.clone(), "/other/x")],
    ];
    assert_eq!(check(fine), Ok(()));
    for (one, other) in
        [("/compat/a", "/compat/a"), ("/compat/{x}", "/compat/{y}"), ("/compat/{x}", "/compat/{*y}")]
    {
        let said = check([vec![(get.clone(), one)], vec![(get.clone(), other)]]).unwrap_err();
        let expected = format!(
            "the system `other` has the address `GET {other}`, and so has the system `one`, as `{one}`"
        );
        assert!(said.starts_with(&expected), "{said}");
    }
    let said = check([vec![(get, "/compat/{x")], Vec::new()]).unwrap_err();
    assert!(said.starts_with("the system `one` has the address `/compat/{x`, which is none"), "{said}");
}
