//! `GET` of many objects: which state, which of them, how many.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Value, json};

use super::cause::{Cause, Causes};
use super::field::Fields;
use super::http::{Request, Response};
use super::label::Labels;
use super::mistake::Slip;
use super::options::{self, boolean};
use super::resource::Resource;
use super::status::{Failure, Outcome};
use super::store::{Key, Objects, Stored};
use super::token::Token;
use super::{Call, Server};

/// The options of a list or a watch, checked as far as they are alike.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(crate) labels: Labels,
    pub(crate) fields: Fields,
    pub(crate) version: String,
    pub(crate) version_match: String,
    limit: usize,
    resume: String,
    pub(crate) timeout: Option<i64>,
    pub(crate) bookmarks: bool,
    pub(crate) initial_events: Option<bool>,
}

impl Query {
    pub(crate) fn parse(request: &Request, resource: &Resource, is_watch: bool) -> Outcome<Self> {
        let text = |name: &str| request.parameter(name).unwrap_or("");
        let number = |name: &str| match text(name) {
            "" => Ok(None),
            text => text.parse::<i64>().map(Some).map_err(|_| {
                Failure::bad_request(format!("strconv.ParseInt: parsing {text:?}: invalid syntax"))
            }),
        };
        let flag = |name: &str| request.parameter(name).map(boolean);
        let limit = number("limit")?.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(0);
        let query = Self {
            labels: Labels::parse(text("labelSelector")).map_err(Failure::bad_request)?,
            fields: Fields::parse(text("fieldSelector")).map_err(Failure::bad_request)?,
            version: text("resourceVersion").to_owned(),
            version_match: text("resourceVersionMatch").to_owned(),
            limit,
            resume: text("continue").to_owned(),
            timeout: number("timeoutSeconds")?,
            bookmarks: flag("allowWatchBookmarks").unwrap_or(false),
            initial_events: flag("sendInitialEvents"),
        };
        let causes = if is_watch { query.check_watch() } else { query.check_list() };
        if !causes.is_empty() {
            return Err(Failure::bad_options("ListOptions", &causes));
        }
        query.fields.check(resource).map_err(Failure::bad_request)?;
        Ok(query)
    }

    fn check_list(&self) -> Causes {
        let field = "resourceVersionMatch";
        let mut causes = Causes::default();
        if !self.version_match.is_empty() {
            if self.version.is_empty() {
                let why = "resourceVersionMatch is forbidden unless resourceVersion is provided";
                causes.push(Cause::forbidden(field, why));
            }
            if !self.resume.is_empty() {
                let why = "resourceVersionMatch is forbidden when continue is provided";
                causes.push(Cause::forbidden(field, why));
            }
            match self.version_match.as_str() {
                "Exact" if self.version == "0" => {
                    let why =
                        "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
                    causes.push(Cause::forbidden(field, why));
                }
                "Exact" | "NotOlderThan" => {}
                other => {
                    let known = ["Exact", "NotOlderThan", ""];
                    causes.push(Cause::unsupported(field, &other.into(), &known));
                }
            }
        }
        if self.initial_events.is_some() {
            let why = "sendInitialEvents is forbidden for list";
            causes.push(Cause::forbidden("sendInitialEvents", why));
        }
        causes
    }

    /// A watch from the beginning asks for initial events without saying so.
    fn check_watch(&self) -> Causes {
        let (field, wanted) = ("resourceVersionMatch", "NotOlderThan");
        let is_plain = self.initial_events.is_none() && self.version_match.is_empty();
        let is_whole = is_plain && matches!(self.version.as_str(), "" | "0");
        let version_match = if is_whole { wanted } else { &self.version_match };
        let has_initial = is_whole || self.initial_events.is_some();
        let mut causes = Causes::default();
        let is_right = version_match == wanted;
        if has_initial && !is_right {
            let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
            causes.push(Cause::forbidden(field, why));
        }
        if version_match.is_empty() {
            return causes;
        }
        if !has_initial {
            let why =
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            causes.push(Cause::forbidden(field, why));
        }
        if !is_right {
            causes.push(Cause::unsupported(field, &version_match.into(), &[wanted]));
        }
        if !self.resume.is_empty() {
            let why = "resourceVersionMatch is forbidden when continue is provided";
            causes.push(Cause::forbidden(field, why));
        }
        causes
    }

    /// The same for a deletion of many, which goes through its list page by page, so that a version
    /// is an exact one.
    pub(crate) fn in_pages(mut self) -> Self {
        if self.limit == 0 {
            self.limit = usize::MAX;
        }
        self
    }

    pub(crate) fn matches(&self, object: &Value) -> bool {
        self.labels.matches(object) && self.fields.matches(object)
    }
}

/// The state that a list shows, and the position at which it starts.
struct Page {
    /// None: the newest.
    revision: Option<u64>,
    /// The first key, relative to the namespace.
    start: String,
    limit: usize,
}

impl Server {
    pub(super) fn list(&mut self, call: &Call<'_>) -> Outcome<Response> {
        let query = Query::parse(call.request, call.resource(), false)?;
        self.choose(call, &query).map(|(response, _)| response)
    }

    /// The list that a request asks for, as a response and as what it holds.
    pub(super) fn choose(
        &mut self,
        call: &Call<'_>,
        query: &Query,
    ) -> Outcome<(Response, Vec<(Key, Stored)>)> {
        let resource = call.resource();
        // A list of one name is a look at one key, which has no pages.
        let is_key = !resource.is_namespaced || !call.target.namespace.is_empty();
        let is_key = is_key && query.resume.is_empty() && query.fields.is_one_name();
        let page = self.page(query, if is_key { 0 } else { query.limit })?;
        let objects = match page.revision {
            None => self.store.objects(&resource.table()),
            Some(revision) => self.store.objects_at(&resource.table(), revision),
        };
        let revision = page.revision.unwrap_or(self.store.revision);
        let prefix = match call.target.namespace.as_str() {
            "" => String::new(),
            namespace => format!("{namespace}/"),
        };
        let mut failed = Ok(());
        let mut show = |it: &Stored| match self.shown(resource, it, true) {
            Ok(shown) => Some(shown.into_owned()),
            Err(why) => {
                if failed.is_ok() {
                    failed = Err(why);
                }
                None
            }
        };
        let show: Option<&mut Show<'_>> = match resource.converter() {
            Some(_) => Some(&mut show),
            None => None,
        };
        let chosen = select(&objects, &prefix, (&page, query), show);
        failed?;
        let mut metadata = json!({"resourceVersion": revision.to_string()});
        if resource.is_custom {
            metadata["continue"] = "".into();
        }
        if let Some(rest) = chosen.rest
            && let Some((last, _)) = chosen.items.last()
        {
            let start = format!("{}\0", &last.0[prefix.len()..]);
            metadata["continue"] = Token { revision: Some(revision), start }.write().into();
            if query.labels.is_empty() && query.fields.is_empty() {
                metadata["remainingItemCount"] = rest.into();
            }
        }
        let items: Value = chosen.items.iter().map(|(_, it)| item(resource, &it.object)).collect();
        let list = json!({
            "apiVersion": resource.api_version(), "kind": resource.list_kind,
            "metadata": metadata, "items": items,
        });
        Ok((Response::of(200, Arc::new(list)), chosen.items))
    }

    fn page(&self, query: &Query, limit: usize) -> Outcome<Page> {
        let version = query.version.as_str();
        if !query.resume.is_empty() {
            return self.next_page(query);
        }
        let mut page = Page { revision: None, start: String::new(), limit };
        if version.is_empty() {
            return Ok(page);
        }
        let number = options::version(version).ok_or_else(|| {
            Failure::bad_request(format!(
                "invalid resource version: resourceVersion: Invalid value: {version:?}: strconv.ParseUint: parsing {version:?}: invalid syntax"
            ))
        })?;
        if number > self.store.revision {
            return Err(Failure::too_large(number, self.store.revision));
        }
        let is_exact = match query.version_match.as_str() {
            "Exact" => true,
            "NotOlderThan" => false,
            _ => limit > 0 && number > 0,
        };
        if number == 0 {
            page.limit = 0;
        }
        if is_exact {
            if number < self.store.compacted && !self.slips(Slip::CompactedIsReadable) {
                let message = "The resourceVersion for the provided list is too old.";
                return Err(Failure::new(410, "Expired", message));
            }
            page.revision = Some(number);
        }
        Ok(page)
    }

    fn next_page(&self, query: &Query) -> Outcome<Page> {
        let token = Token::read(&query.resume).map_err(Failure::bad_request)?;
        if !matches!(query.version.as_str(), "" | "0") {
            return Err(Failure::bad_request(
                "specifying resource version is not allowed when using continue",
            ));
        }
        if let Some(revision) = token.revision {
            if revision > self.store.revision {
                return Err(Failure::too_large(revision, self.store.revision));
            }
            if revision < self.store.compacted {
                return Err(expired(token));
            }
        }
        let limit = if query.version == "0" { 0 } else { query.limit };
        let revision = token.revision.filter(|_| !self.slips(Slip::PagesAreOfNow));
        Ok(Page { revision, start: token.start, limit })
    }
}

/// The failure tells how to go on, at the price of consistency.
fn expired(token: Token) -> Box<Failure> {
    let message = "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";
    let mut failure = Failure::new(410, "Expired", message);
    failure.resume = Some(Token { revision: None, ..token }.write());
    failure
}

struct Chosen {
    items: Vec<(Key, Stored)>,
    /// How many keys follow, matching or not; none if the list is complete.
    rest: Option<usize>,
}

/// Shows an object in the version of the list; none if that is not known.
type Show<'a> = dyn FnMut(&Stored) -> Option<Stored> + 'a;

fn select(
    objects: &Objects,
    prefix: &str,
    (page, query): (&Page, &Query),
    show: Option<&mut Show<'_>>,
) -> Chosen {
    let first = format!("{prefix}{}", page.start);
    let entries = match first.strip_suffix('\0') {
        Some(last) => objects.after(&Key(last.into())),
        // Nothing lies between a key and the same with the smallest character after it.
        None if objects.get(&Key(first.as_str().into())).is_some() => {
            return select_from(
                objects.iter().filter(|(key, _)| *key.0 >= *first),
                prefix,
                (page, query),
                show,
            );
        }
        None => objects.after(&Key(first.as_str().into())),
    };
    select_from(entries, prefix, (page, query), show)
}

fn select_from<'a>(
    entries: impl Iterator<Item = (&'a Key, &'a Stored)>,
    prefix: &str,
    (page, query): (&Page, &Query),
    mut show: Option<&mut Show<'_>>,
) -> Chosen {
    let mut entries = entries.take_while(|(key, _)| key.0.starts_with(prefix));
    let (mut items, mut known, mut unknown) = (Vec::new(), 0, 0);
    let takes_all = query.labels.is_empty() && query.fields.is_empty();
    for (key, stored) in entries.by_ref() {
        let shown = match &mut show {
            Some(show) => show(stored).map(Cow::Owned),
            None => Some(Cow::Borrowed(stored)),
        };
        match shown {
            None => unknown += 1,
            Some(shown) => {
                known += 1;
                if query.matches(&shown.object) {
                    items.push((key.clone(), shown.into_owned()));
                }
            }
        }
        if page.limit == 0 || items.len() + unknown < page.limit {
            continue;
        }
        if unknown == 0 {
            let rest = entries.count();
            return Chosen { items, rest: (rest > 0).then_some(rest) };
        }
        // The unknown ones may match: then no more are needed. If they need not, as many are asked about as
        // are known, so that few rounds are enough.
        if takes_all || unknown >= known || items.len() >= page.limit {
            break;
        }
    }
    Chosen { items, rest: None }
}

/// Items of built-in lists do not say what they are.
fn item(resource: &Resource, object: &Value) -> Value {
    let mut object = object.clone();
    if let (false, Some(fields)) = (resource.is_custom, object.as_object_mut()) {
        fields.remove("apiVersion");
        fields.remove("kind");
    }
    object
}
