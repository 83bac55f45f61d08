//! The meaning of statuses: the tables of the reference, row by row.

use super::scripted::{Act, Bed, Chunk};
use crate::request::{Reason, RequestError, Status, Verb};

const PLAIN: (&str, &str) = ("Content-Type", "text/plain");

fn refused(
    verb: Verb,
    status: u16,
    headers: Vec<(&'static str, &'static str)>,
    body: &str,
) -> Status {
    let body = vec![Chunk::Bytes(body.as_bytes().to_vec())];
    let bed = Bed::new([Act::Answers(status, headers, body)]);
    let request = bed.request(verb).name("web").max_retries(0);
    match bed.run(bed.client.send(&request, &bed.token)) {
        Err(RequestError::Status(status)) => *status,
        other => panic!("{other:?}"),
    }
}

/// Every row: code, reason, and whether the message is the server's own text.
const CODES: [(u16, Reason, bool); 16] = [
    (400, Reason::BadRequest, false),
    (401, Reason::Unauthorized, false),
    (403, Reason::Forbidden, true),
    (404, Reason::NotFound, false),
    (405, Reason::MethodNotAllowed, false),
    (406, Reason::NotAcceptable, true),
    (409, Reason::Conflict, false),
    (415, Reason::UnsupportedMediaType, true),
    (422, Reason::Invalid, false),
    (429, Reason::TooManyRequests, false),
    (500, Reason::InternalError, true),
    (502, Reason::InternalError, true),
    (503, Reason::ServiceUnavailable, false),
    (504, Reason::Timeout, false),
    (302, Reason::Unknown, false),
    (418, Reason::Unknown, false),
];

#[test]
fn an_answer_that_is_not_the_apis_own_means_what_its_code_does() {
    for (code, reason, tells) in CODES {
        let status = refused(Verb::Get, code, vec![PLAIN, ("Retry-After", "7")], " so it is \n");
        assert_eq!((status.code, &status.reason), (code, &reason));
        assert_eq!(status.message.contains("so it is"), tells, "{code}: {status}");
        assert!(status.message.ends_with(" (get pods web)"), "{status}");
        assert_eq!(status.status, "Failure");
        let details = &status.details;
        assert_eq!((details.name.as_str(), details.kind.as_str()), ("web", "pods"));
        assert_eq!(details.retry_after_seconds, 7);
        let [cause] = &details.causes[..] else { panic!("{details:?}") };
        assert_eq!(cause.reason, "UnexpectedServerResponse");
        assert_eq!(cause.message, "so it is");
        if reason == Reason::Unknown {
            assert!(status.message.contains(&code.to_string()), "{status}");
        }
    }
    let status = refused(Verb::Post, 409, vec![PLAIN], "");
    assert_eq!(status.reason, Reason::AlreadyExists, "of what is created");
}

#[test]
fn words_that_are_no_text_are_not_told_and_long_ones_in_part() {
    let of = |kind| refused(Verb::Get, 403, vec![("Content-Type", kind)], "\u{1}binary");
    assert!(of("application/octet-stream").message.starts_with("unknown"));
    assert!(of("text/html; charset=utf-8").message.starts_with("\u{1}binary"));
    let none = refused(Verb::Get, 403, vec![], "said");
    assert!(none.message.starts_with("said"), "without a type it is text: {none}");
    let long = refused(Verb::Get, 500, vec![PLAIN], &"x".repeat(5000));
    assert_eq!(long.details.causes[0].message.len(), 2048);
}

#[test]
fn the_apis_own_words_take_the_place_of_all_that_if_they_tell_of_a_failure() {
    let words = |status: &str| {
        format!(
            "{{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"{status}\",\"code\":404,\
             \"reason\":\"Expired\",\"message\":\"its own\",\"details\":{{\"retryAfterSeconds\":3}}}}"
        )
    };
    let own = refused(Verb::Get, 410, vec![PLAIN], &words("Failure"));
    assert_eq!((own.code, own.message.as_str(), &own.reason), (404, "its own", &Reason::Expired));
    assert_eq!(own.suggests_delay(), Some(3));
    let other = refused(Verb::Get, 410, vec![PLAIN], &words("Success"));
    assert_eq!((other.code, &other.reason), (410, &Reason::Gone));
}

#[test]
fn a_reason_is_looked_at_before_the_code() {
    let mut status = Status { code: 404, ..Status::default() };
    assert!(status.is(&Reason::NotFound), "nothing else is known");
    status.reason = Reason::Conflict;
    assert!(status.is(&Reason::Conflict) && !status.is(&Reason::NotFound));
    status.reason = Reason::Other("Odd".to_owned());
    assert!(status.is(&Reason::NotFound) && status.is(&Reason::Other("Odd".to_owned())));
    assert!(!status.is(&Reason::Other("Even".to_owned())));
    assert_eq!(status.suggests_delay(), None);
    status.reason = Reason::ServerTimeout;
    assert_eq!(status.suggests_delay(), Some(0), "it asks to be asked again, at once");
}

#[test]
fn every_reason_has_a_name_that_leads_back_to_it() {
    let names = [
        "Unauthorized",
        "Forbidden",
        "NotFound",
        "AlreadyExists",
        "Conflict",
        "Gone",
        "Invalid",
        "Expired",
        "ServerTimeout",
        "StoreReadError",
        "Timeout",
        "TooManyRequests",
        "BadRequest",
        "MethodNotAllowed",
        "NotAcceptable",
        "RequestEntityTooLarge",
        "UnsupportedMediaType",
        "InternalError",
        "ServiceUnavailable",
    ];
    for name in names {
        let reason = Reason::from(name.to_owned());
        assert!(!matches!(reason, Reason::Unknown | Reason::Other(_)), "{name}");
        assert_eq!(reason.as_str(), name);
    }
    assert_eq!(Reason::from(String::new()), Reason::Unknown);
    assert_eq!(Reason::from("New".to_owned()), Reason::Other("New".to_owned()));
}
