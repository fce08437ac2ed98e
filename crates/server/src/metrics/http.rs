//! Requests, by the route they matched: what callers make up gets no name of its own.

use std::time::Duration;

use axum::http::{Method, StatusCode};
use engine::metrics::{Counter, Histogram};

use super::scrape::{Kind, Sheet, Value, labels};
use crate::table::TABLE;

const SECONDS: &[f64] =
    &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0];
const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];
const OTHER: &str = "other";

#[derive(Debug)]
pub(crate) struct Http {
    /// The lines of the table, then the routes of systems.
    names: Vec<(Method, &'static str)>,
    /// One for each name, and one for requests that match none.
    routes: Vec<Route>,
    pub(crate) limited_by_token: Counter,
    pub(crate) limited_by_address: Counter,
    pub(crate) limited_by_share: Counter,
}

#[derive(Debug)]
struct Route {
    classes: [Counter; 5],
    seconds: Histogram,
}

impl Http {
    /// Counts the requests of the table and of these routes besides.
    pub(crate) fn new(mounted: impl IntoIterator<Item = (Method, &'static str)>) -> Http {
        let mut names: Vec<_> = TABLE.iter().map(|route| (route.method.clone(), route.path)).collect();
        // Listeners of systems may have paths that others have; they are one line.
        for name in mounted {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let route = |_| Route { classes: Default::default(), seconds: Histogram::new(SECONDS) };
        Http {
            routes: (0..=names.len()).map(route).collect(),
            names,
            limited_by_token: Counter::default(),
            limited_by_address: Counter::default(),
            limited_by_share: Counter::default(),
        }
    }
}

impl Http {
    /// Returns the place of the route that a request matched; past the last: none.
    pub(crate) fn line(&self, method: &Method, path: Option<&str>) -> usize {
        // What answers GET answers HEAD.
        let method = if method == Method::HEAD { &Method::GET } else { method };
        let matched = self.names.iter().position(|(known, at)| Some(*at) == path && known == method);
        matched.unwrap_or(self.names.len())
    }

    pub(crate) fn answered(&self, line: usize, status: StatusCode, took: Duration) {
        let route = &self.routes[line];
        let class = usize::from(status.as_u16() / 100).clamp(1, 5) - 1;
        route.classes[class].add(1);
        route.seconds.observe(took.as_secs_f64());
    }

    pub(super) fn tell(&self, sheet: &mut Sheet) {
        let names = self.names.iter().map(|(method, path)| (method.as_str(), *path)).chain([(OTHER, OTHER)]);
        let asked: Vec<_> = names
            .zip(&self.routes)
            .map(|(name, route)| (name, route, route.seconds.read()))
            .filter(|(_, _, reading)| reading.count() > 0)
            .collect();
        let requests =
            sheet.counter("milepost_http_requests", "Requests answered, by the class of their status");
        for ((method, path), route, _) in &asked {
            for (class, counter) in
                CLASSES.iter().zip(&route.classes).filter(|(_, counter)| counter.get() > 0)
            {
                requests.count(labels!(method = *method, route = *path, status = *class), counter.get());
            }
        }
        let help = "From a request's head to the head of its answer; long polls wait";
        let seconds = sheet.seconds("milepost_http_request", help, Kind::Histogram);
        for ((method, path), _, reading) in asked {
            seconds.add(labels!(method = method, route = path), Value::Histogram(reading));
        }
        sheet
            .counter("milepost_http_rate_limited", "Requests refused because their caller made too many")
            .count(labels!(by = "token"), self.limited_by_token.get())
            .count(labels!(by = "address"), self.limited_by_address.get())
            .count(labels!(by = "share"), self.limited_by_share.get());
    }
}
