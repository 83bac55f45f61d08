//! Reads, lists and watches of a program.

use serde_json::Value;

use super::{Maker, NAMESPACE, Sort};
use crate::apiserver::Request;

const LABELS: [&str; 14] = [
    "app=x",
    "app",
    "!app",
    "app!=x",
    "app in (x,y)",
    "app notin (x)",
    "app=x,app=y",
    "other=1",
    "app=",
    "",
    "app in ()",
    "app>1",
    "app=bad value!",
    "app=x,",
];
const FIELDS: [&str; 10] = [
    "metadata.name=o0",
    "metadata.name!=o0",
    "metadata.name=o0,metadata.name=o1",
    "",
    "metadata.namespace=other",
    "metadata.namespace!=other",
    "spec.x=1",
    "metadata.name==o1",
    "metadata.name",
    "metadata.name=o0,metadata.namespace!=other",
];

impl Maker {
    fn fetch(&mut self, path: &str, query: Vec<(&str, String)>, sort: Sort) {
        let mut request = Request::new("GET", path);
        request.query = query.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let request = self.accepting(request, sort);
        self.send(&request);
        let token = self.recorder.last_token();
        self.tokens.extend(token.map(|token| (sort, token)));
    }

    pub(super) fn get(&mut self, sort: Sort) {
        let mut path = format!("{}/{}", sort.path(), self.name());
        if self.once_in(8) {
            path.push_str(self.pick(&["/status", "/bogus", "/status/x"]));
        }
        let mut query = Vec::new();
        if self.once_in(3) {
            query.push(("resourceVersion", self.version()));
        }
        self.fetch(&path, query, sort);
    }

    fn selectors(&mut self, query: &mut Vec<(&str, String)>) {
        if self.once_in(3) {
            query.push(("labelSelector", self.pick(&LABELS).to_owned()));
        }
        if self.once_in(5) {
            query.push(("fieldSelector", self.pick(&FIELDS).to_owned()));
        }
    }

    pub(super) fn list(&mut self, sort: Sort) {
        let mut query = Vec::new();
        let mut sort = sort;
        if !self.tokens.is_empty() && self.once_in(2) {
            let place = self.below(self.tokens.len());
            let (of, token) = self.tokens[place].clone();
            sort = of;
            query.push(("continue", token));
        } else if self.once_in(30) {
            query.push(("continue", self.pick(&["abc", "", "e30", "%%"]).to_owned()));
        }
        self.selectors(&mut query);
        if self.once_in(2) {
            query.push(("limit", self.pick(&["1", "2", "1", "100", "0", "-1", "abc"]).to_owned()));
        }
        if self.once_in(3) {
            query.push(("resourceVersion", self.version()));
        }
        if self.once_in(6) {
            let matches = ["Exact", "NotOlderThan", "Bad", ""];
            query.push(("resourceVersionMatch", self.pick(&matches).to_owned()));
        }
        if self.once_in(30) {
            let (key, value) = match self.below(3) {
                0 => ("timeoutSeconds", self.pick(&["0", "5", "abc"])),
                1 => ("sendInitialEvents", self.pick(&["true", "false"])),
                _ => ("allowWatchBookmarks", "true"),
            };
            query.push((key, value.to_owned()));
        }
        if query.iter().any(|(key, value)| *key == "resourceVersion" && value.len() == 12) {
            // Whether the real one says when to ask again for a page depends on what its cache holds.
            query.retain(|(key, _)| *key != "limit");
        }
        let path =
            if self.once_in(25) { sort.path().replace(NAMESPACE, "nowhere") } else { sort.path() };
        self.fetch(&path, query, sort);
    }

    pub(super) fn watch(&mut self, sort: Sort) {
        if self.watches.len() >= 3 {
            return;
        }
        let mut query = vec![("watch", "true".to_owned())];
        self.selectors(&mut query);
        if self.once_in(2) {
            query.push(("resourceVersion", self.version()));
        }
        if self.once_in(4) {
            query.push(("allowWatchBookmarks", "true".to_owned()));
        }
        if self.once_in(5) {
            query.push(("sendInitialEvents", self.pick(&["true", "true", "false"]).to_owned()));
        }
        if self.once_in(4) {
            let matches = ["NotOlderThan", "NotOlderThan", "Exact", ""];
            query.push(("resourceVersionMatch", self.pick(&matches).to_owned()));
        }
        let version = query.iter().find(|(key, _)| *key == "resourceVersion");
        let is_future = version.is_some_and(|(_, version)| version.len() == 12);
        let initial =
            query.iter().any(|(key, value)| *key == "sendInitialEvents" && value == "true");
        if is_future && initial {
            return; // The real one takes as long as a program to say that it cannot.
        }
        if self.once_in(20) {
            let (key, value) = match self.below(3) {
                0 => ("limit", "1"),
                1 => ("continue", "abc"),
                _ => ("timeoutSeconds", "abc"),
            };
            query.push((key, value.to_owned()));
        }
        let is_seen = self.held.iter().any(Value::is_object);
        let path = match self.below(12) {
            0 => sort.path().replace("/v1/", "/v1/watch/"),
            1 if is_seen => {
                format!("{}/{}", sort.path().replace("/v1/", "/v1/watch/"), self.name())
            }
            2 => format!("{}/{}", sort.path(), self.name()),
            _ => sort.path(),
        };
        self.fetch(&path, query, sort);
    }
}
