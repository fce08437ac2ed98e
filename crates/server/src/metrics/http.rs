//! Requests, by the route they matched: what callers make up gets no name of its own.

use std::time::Duration;

use axum::http::{Method, StatusCode};
use engine::metrics::{Counter, Histogram};

use super::sheet::{Kind, Sheet, Value, labels};
use crate::table::TABLE;

const SECONDS: &[f64] =
    &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0];
const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];
const OTHER: &str = "other";

#[derive(Debug)]
pub(crate) struct Http {
    /// One for each line of the table, and one for requests that match none.
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

impl Default for Http {
    fn default() -> Self {
        let route = |_| Route { classes: Default::default(), seconds: Histogram::new(SECONDS) };
        Http {
            routes: (0..=TABLE.len()).map(route).collect(),
            limited_by_token: Counter::default(),
            limited_by_address: Counter::default(),
            limited_by_share: Counter::default(),
        }
    }
}

/// The line of the table that a request matched; past the last: none.
pub(crate) fn line(method: &Method, path: Option<&str>) -> usize {
    // What answers GET answers HEAD.
    let method = if method == Method::HEAD { &Method::GET } else { method };
    let matched = TABLE.iter().position(|route| Some(route.path) == path && route.method == method);
    matched.unwrap_or(TABLE.len())
}

impl Http {
    pub(crate) fn answered(&self, line: usize, status: StatusCode, took: Duration) {
        let route = &self.routes[line];
        let class = usize::from(status.as_u16() / 100).clamp(1, 5) - 1;
        route.classes[class].add(1);
        route.seconds.observe(took.as_secs_f64());
    }

    pub(super) fn tell(&self, sheet: &mut Sheet) {
        let names = TABLE.iter().map(|route| (route.method.as_str(), route.path)).chain([(OTHER, OTHER)]);
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
