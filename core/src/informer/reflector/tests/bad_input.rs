//! Input that a server should not send: invalid versions, other things than objects, endless pages,
//! and endless trouble.

use std::sync::Arc;
use std::time::Duration;

use crate::informer::list_watch::{
    Event, ListOptions, Page, SourceError, SourceKind, WatchOptions,
};
use crate::informer::reflector::{Config, Delivery, Got, Reflector, ReflectorError, Skipped, Want};
use crate::polling::ExponentialDelays;
use crate::runtime::{Ambient as _, Instant, Manual};
use crate::store::{Described, Metadata};

/// An object that may lack a name, with any text as its version.
#[derive(Debug)]
struct Thing(Option<&'static str>, &'static str);

type Object = Arc<Thing>;

impl Described for Thing {
    fn metadata(&self) -> Option<Metadata<'_>> {
        let name = self.0?;
        Some(Metadata { namespace: "", name, uid: "", resource_version: self.1 })
    }
}

fn a(version: &'static str) -> Event<Object> {
    Event::Modified(Arc::new(Thing(Some("a"), version)))
}

fn bookmark(version: &str) -> Event<Object> {
    Event::Bookmark { resource_version: version.to_owned(), ends_initial: false }
}

fn error(kind: SourceKind) -> SourceError {
    SourceError::new(kind, format!("{kind:?}"))
}

/// A reflector and its next step.
struct Led {
    clock: Manual,
    machine: Reflector<Object>,
    want: Want<Object>,
}

impl Led {
    fn new(config: Config) -> Self {
        let clock = Manual::seeded(1);
        let (initial, max) = (Duration::from_millis(800), Duration::from_secs(30));
        let reset = Duration::from_secs(120);
        let delays = ExponentialDelays::new(initial, max, reset, 2.0, 1.0, clock.now());
        let mut machine = Reflector::new(config, true, delays);
        let want = machine.begin(&clock);
        Self { clock, machine, want }
    }

    /// A reflector that watches after a list of version 100.
    fn watching() -> Self {
        let mut led = Self::new(Config::default().stream_lists(false));
        led.lists("100");
        led.opens("100");
        led
    }

    fn got(&mut self, got: Got<Object>) {
        self.want = self.machine.next(got, &self.clock);
    }

    /// Takes a delivery.
    fn takes(&mut self) {
        assert!(matches!(self.want, Want::Deliver(_)), "{:?}", self.want);
        self.got(Got::Delivered(Ok(())));
    }

    fn lists(&mut self, version: &str) {
        self.got(Got::Listed(Ok(Page::whole(Vec::new(), version))));
        self.takes();
    }

    fn opens(&mut self, at: &str) {
        assert_eq!(self.watched(), at);
        self.got(Got::Opened(Ok(())));
    }

    fn tells(&mut self, event: Event<Object>) {
        self.got(Got::Event(Some(event)));
    }

    /// The stream ends after a while.
    fn ends(&mut self) {
        self.clock.advance(Duration::from_secs(10));
        self.got(Got::Event(None));
    }

    fn sleeps(&mut self) -> Option<ReflectorError> {
        let Want::Sleep { until, failed } = &self.want else { panic!("{:?}", self.want) };
        let (pause, failed) = (until.since(self.clock.now()), failed.clone());
        assert!(pause >= Duration::from_millis(800), "{pause:?}");
        self.clock.advance(pause);
        self.got(Got::Slept);
        failed
    }

    fn watched(&self) -> &str {
        let Want::Watch(WatchOptions { resource_version, .. }) = &self.want else {
            panic!("{:?}", self.want)
        };
        resource_version
    }

    fn listed(&self) -> &str {
        let Want::List(ListOptions { resource_version, .. }) = &self.want else {
            panic!("{:?}", self.want)
        };
        resource_version
    }
}

#[test]
fn what_has_no_version_moves_none() {
    let mut led = Led::watching();
    led.tells(a(""));
    led.takes();
    assert_eq!(led.machine.last_resource_version(), "100");
    led.tells(bookmark(""));
    assert!(matches!(led.machine.take_skipped(), Some(Skipped::Foreign(_))));
    led.ends();
    led.opens("100");
    led.tells(Event::Error(error(SourceKind::Expired)));
    led.sleeps();
    assert_eq!(led.listed(), "100");
    led.lists("");
    led.opens("100");
}

#[test]
fn a_version_that_the_server_does_not_understand_is_left() {
    let mut led = Led::watching();
    led.tells(a("abc"));
    led.takes();
    led.ends();
    assert_eq!(led.watched(), "abc");
    led.got(Got::Opened(Err(error(SourceKind::Invalid))));
    assert!(matches!(led.sleeps(), Some(ReflectorError::Watch(_))));
    assert_eq!(led.listed(), "abc");
    led.got(Got::Listed(Err(error(SourceKind::Invalid))));
    assert_eq!(led.listed(), "", "whatever is the newest");
    led.got(Got::Listed(Err(error(SourceKind::Invalid))));
    assert!(matches!(led.sleeps(), Some(ReflectorError::List(_))), "at once is once");
    assert_eq!(led.listed(), "");
    led.lists("120");
    led.opens("120");
}

#[test]
fn a_page_that_is_followed_by_itself_is_a_failed_list() {
    let mut led = Led::new(Config::default().stream_lists(false));
    let page = || Page::whole(vec![Arc::new(Thing(Some("a"), "1"))], "1").followed_by("more");
    led.got(Got::Listed(Ok(page())));
    let Want::List(second) = &led.want else { panic!("{:?}", led.want) };
    assert_eq!(second.continue_token, "more");
    led.got(Got::Listed(Ok(page())));
    assert!(matches!(led.sleeps(), Some(ReflectorError::List(_))));
    assert_eq!(led.listed(), "0", "it begins anew");
}

#[test]
fn what_is_more_than_the_client_reads_is_listed_by_pages_which_is_said_once() {
    let mut led = Led::watching();
    led.tells(Event::Error(error(SourceKind::Expired)));
    led.sleeps();
    assert_eq!(led.listed(), "100");
    let mut limits = Vec::new();
    for _ in 0..7 {
        led.got(Got::Listed(Err(error(SourceKind::Oversized))));
        assert!(matches!(led.sleeps(), Some(ReflectorError::List(_))), "it is said");
        let Want::List(options) = &led.want else { panic!("{:?}", led.want) };
        assert_eq!(options.resource_version, "", "a cache would send the whole list");
        limits.push(options.limit);
    }
    assert_eq!(limits, [500, 125, 31, 7, 1, 1, 1]);
    // The pages expire: all in one page would be too large again.
    led.got(Got::Listed(Ok(Page::whole(Vec::new(), "200").followed_by("more"))));
    led.got(Got::Listed(Err(error(SourceKind::Expired))));
    let Want::List(options) = &led.want else { panic!("{:?}", led.want) };
    assert_eq!((options.limit, options.continue_token.as_str()), (1, ""));
    led.lists("200");
    led.opens("200");
    // Later lists come by pages at once, without another report.
    led.tells(Event::Error(error(SourceKind::Other)));
    assert!(led.sleeps().is_none());
    let Want::List(options) = &led.want else { panic!("{:?}", led.want) };
    assert_eq!((options.limit, options.resource_version.as_str()), (1, ""));
}

#[test]
fn what_is_not_given_is_said_with_its_cause() {
    let mut led = Led::watching();
    led.tells(Event::Foreign("a table".to_owned()));
    assert_eq!(
        led.machine.take_skipped().unwrap().to_string(),
        "a stream told what is none of the objects: a table"
    );
    for event in [Event::Added, Event::Modified, Event::Deleted] {
        led.tells(event(Arc::new(Thing(None, "7"))));
        assert!(matches!(led.machine.take_skipped(), Some(Skipped::NoMetadata)));
    }
    led.tells(a("105"));
    assert!(led.machine.take_skipped().is_none());
    led.got(Got::Delivered(Err(Arc::new(error(SourceKind::Other)))));
    let said = led.machine.take_skipped().unwrap();
    let cause = std::error::Error::source(&said).unwrap().to_string();
    let Skipped::Refused { key, resource_version, .. } = said else { panic!("{said:?}") };
    assert_eq!((&*key, &*resource_version, &*cause), ("a", "105", "Other"));
    assert_eq!(led.machine.last_resource_version(), "105", "it counts all the same");
    led.tells(a("106"));
    led.takes();
    assert!(led.machine.take_skipped().is_none());
}

#[test]
fn what_is_gone_before_the_end_of_the_first_objects_is_not_one_of_them() {
    let mut led = Led::new(Config::default());
    led.opens("");
    let thing = |name, version| Arc::new(Thing(Some(name), version));
    led.tells(Event::Added(thing("a", "1")));
    led.tells(Event::Added(thing("b", "2")));
    led.tells(Event::Deleted(thing("a", "3")));
    led.tells(Event::Modified(thing("b", "4")));
    led.tells(Event::Bookmark { resource_version: "4".to_owned(), ends_initial: true });
    let Want::Deliver(Delivery::Replace(objects, version)) = &led.want else {
        panic!("{:?}", led.want)
    };
    let [Thing(name, state)] = objects.iter().map(|it| &**it).collect::<Vec<_>>()[..] else {
        panic!("{objects:?}")
    };
    assert_eq!((*name, *state, &**version), (Some("b"), "4", "4"));
}

#[test]
fn what_a_stream_of_all_objects_tells_in_vain_is_said_as_well() {
    let mut led = Led::new(Config::default());
    led.opens("");
    led.tells(Event::Foreign("a table".to_owned()));
    assert!(led.machine.take_skipped().is_some());
    led.tells(Event::Added(Arc::new(Thing(None, "7"))));
    assert!(matches!(led.machine.take_skipped(), Some(Skipped::NoMetadata)));
    led.tells(Event::Bookmark { resource_version: String::new(), ends_initial: true });
    assert!(led.machine.take_skipped().is_none());
    led.takes();
    assert_eq!(led.machine.last_resource_version(), "");
}

#[test]
fn one_short_stream_is_followed_at_once_and_a_second_is_not() {
    let mut led = Led::watching();
    for version in ["101", "102"] {
        led.tells(a(version));
        led.takes();
        if version == "101" {
            led.got(Got::Event(None));
            led.opens("101");
        }
    }
    led.got(Got::Event(None));
    assert!(led.sleeps().is_none());
    led.opens("102");
    led.ends(); // a stream of some length: all is well again
    led.opens("102");
    led.tells(a("103"));
    led.takes();
    led.got(Got::Event(None));
    led.opens("103");
}

/// Endless trouble.
#[derive(Clone, Copy, Debug)]
enum Endless {
    /// Streams end after one event.
    OneEvent,
    /// Streams end after one bookmark.
    OneBookmark,
    /// Streams end at once.
    Ends,
    /// Streams break by an error.
    Breaks(SourceKind),
    /// Streams cannot be opened.
    Closed(SourceKind),
    /// No request succeeds.
    Nothing(SourceKind),
    /// Every page names itself as the next page.
    SamePage,
    /// Versions of objects are not numbers, and streams end.
    Garbage,
}

impl Endless {
    fn answer(self, want: &Want<Object>, told: u32) -> Got<Object> {
        match (want, self) {
            (Want::List(_), Self::Nothing(kind)) => Got::Listed(Err(error(kind))),
            (Want::List(it), Self::Garbage) if it.resource_version == "abc" => {
                Got::Listed(Err(error(SourceKind::Invalid)))
            }
            (Want::List(_), Self::SamePage) => {
                Got::Listed(Ok(Page::whole(Vec::new(), "1").followed_by("more")))
            }
            (Want::List(_), _) => Got::Listed(Ok(Page::whole(Vec::new(), "100"))),
            (Want::Watch(_), Self::Closed(kind) | Self::Nothing(kind)) => {
                Got::Opened(Err(error(kind)))
            }
            (Want::Watch(it), Self::Garbage) if it.resource_version == "abc" => {
                Got::Opened(Err(error(SourceKind::Invalid)))
            }
            (Want::Watch(_), _) => Got::Opened(Ok(())),
            (_, Self::Breaks(kind)) => Got::Event(Some(Event::Error(error(kind)))),
            (_, Self::OneEvent) if told == 0 => Got::Event(Some(a("101"))),
            (_, Self::Garbage) if told == 0 => Got::Event(Some(a("abc"))),
            (_, Self::OneBookmark) if told == 0 => Got::Event(Some(bookmark("100"))),
            _ => Got::Event(None),
        }
    }

    /// Counts the requests in an hour to a server that answers without delay.
    fn requests(self, config: Config) -> usize {
        let (mut led, mut requests, mut told) = (Led::new(config), 0, 0);
        while led.clock.now() < Instant::ZERO + Duration::from_secs(3600) && requests < 10_000 {
            match &led.want {
                Want::Sleep { .. } => drop(led.sleeps()),
                Want::Deliver(
                    Delivery::Replace(..) | Delivery::Update(_) | Delivery::Bookmark(_),
                ) => {
                    led.takes();
                }
                want => {
                    let asks = matches!(want, Want::List(_) | Want::Watch(_));
                    requests += usize::from(asks);
                    let got = self.answer(want, told);
                    told = if asks { 0 } else { told + 1 };
                    led.got(got);
                }
            }
        }
        requests
    }
}

/// In the end a pause takes 45 seconds. At most four requests follow each pause: a stream of all
/// objects, the same for the newest version, a list, and a watch.
#[test]
fn trouble_without_end_is_met_by_few_requests() {
    use SourceKind::{
        Eof, Expired, Internal, Invalid, Other, Oversized, Refused, TooLarge, TooManyRequests,
    };
    let kinds =
        [Eof, Expired, Internal, Invalid, Other, Oversized, Refused, TooLarge, TooManyRequests];
    let of_kinds = kinds
        .into_iter()
        .flat_map(|kind| [Endless::Breaks(kind), Endless::Closed(kind), Endless::Nothing(kind)]);
    let others = [
        Endless::OneEvent,
        Endless::OneBookmark,
        Endless::Ends,
        Endless::SamePage,
        Endless::Garbage,
    ];
    for trouble in others.into_iter().chain(of_kinds) {
        for streams in [false, true] {
            for patience in [0, 30, 3600] {
                let config = Config::default().stream_lists(streams);
                let config = config.retry_internal(Duration::from_secs(patience));
                let requests = trouble.requests(config);
                let said = format!("{trouble:?}, {streams}, {patience}: {requests} requests");
                assert!((60..500).contains(&requests), "{said}");
            }
        }
    }
}

#[test]
fn a_server_that_asks_for_a_day_is_asked_again_after_ten_minutes() {
    let (day, less) = (Duration::from_secs(24 * 60 * 60), Duration::from_secs(599));
    for (asked, pause) in [(day, Duration::from_secs(600)), (less, less)] {
        let mut led = Led::new(Config::default().stream_lists(false));
        let busy = error(SourceKind::TooManyRequests).after(asked);
        led.got(Got::Listed(Err(busy)));
        let Want::Sleep { until, .. } = led.want else { panic!("{:?}", led.want) };
        assert_eq!(until.since(led.clock.now()), pause);
    }
}
