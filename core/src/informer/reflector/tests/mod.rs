//! Reflectors against a server that misbehaves, and rule by rule.

mod bad_input;
mod world;

use std::time::Duration;

use self::world::World;
use super::Config;
use crate::informer::Match;

fn config(seed: u64) -> Config {
    Config::default()
        .stream_lists(seed.is_multiple_of(2))
        .page_size([0, 1, 2][(seed / 2 % 3) as usize])
        .resync(Duration::from_secs([0, 7][(seed / 6 % 2) as usize]))
        .retry_internal(Duration::from_secs([0, 30][(seed / 12 % 2) as usize]))
}

#[test]
fn whatever_the_server_does_the_consumer_comes_to_its_state() {
    for seed in 0..20_000 {
        let mut world = World::new(seed, config(seed), 8, 8);
        world.run();
        let newest = world.server.at(u64::MAX);
        assert_eq!(world.seen.view, newest, "seed {seed}");
    }
}

/// There is a delay between two failing requests, except for the single repetitions that the rules
/// name (`cache:INV-25`).
#[test]
fn no_trouble_makes_a_hot_loop() {
    for seed in 0..5_000 {
        let trouble = 60;
        let mut world = World::new(seed, config(seed), trouble, 0);
        world.run();
        let requests = world.seen.lists.len() + world.seen.watches.len();
        let seconds = world.clock_seconds();
        let most = 20 + 4 * trouble as usize;
        assert!(requests < most, "seed {seed}: {requests} requests in {seconds} s");
    }
}

#[test]
fn a_list_at_first_may_be_any_and_later_none_that_is_older() {
    for seed in 0..2_000 {
        let mut world = World::new(seed, config(seed).stream_lists(false), 5, 5);
        world.run();
        let mut lists = world.seen.lists.iter().filter(|(_, it)| it.continue_token.is_empty());
        assert_eq!(lists.next().unwrap().1.resource_version, "0");
        for (_, watch) in &world.seen.watches {
            assert!(watch.allow_bookmarks && !watch.send_initial_events);
            let seconds = watch.timeout.as_secs();
            assert!((300..600).contains(&seconds), "{seconds}");
            assert_ne!(watch.resource_version, "");
        }
    }
}

#[test]
fn pages_after_the_first_name_no_version() {
    for seed in 0..2_000 {
        let mut world = World::new(seed, config(seed).stream_lists(false).page_size(1), 5, 5);
        world.run();
        for (_, list) in &world.seen.lists {
            assert!(list.continue_token.is_empty() || list.resource_version.is_empty());
            assert!(list.limit <= 1, "{list:?}");
        }
    }
}

#[test]
fn a_stream_of_all_objects_names_how_its_version_is_meant() {
    let mut world = World::new(2, Config::default(), 0, 0);
    world.run();
    let (_, first) = &world.seen.watches[0];
    assert!(first.send_initial_events && first.allow_bookmarks);
    assert_eq!(first.resource_version_match, Some(Match::NotOlderThan));
}
