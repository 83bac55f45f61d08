//! The address of a request takes one piece of memory: its own text. Nothing else is allocated on the
//! way.
//!
//! While one is put together, the limit of this process's memory is what it has, and the text. So no other
//! thread may run, and the test has no harness of the standard library, which has one.

use std::hint::black_box;
use std::sync::Arc;

use cap::Cap;
use libtest_mimic::{Arguments, Trial, run};
use seatrial_core::request::{Base, Request, Verb};

#[global_allocator]
static MEMORY: Cap<std::alloc::System> = Cap::new(std::alloc::System, usize::MAX);

/// Puts an address together while there is memory for that many bytes; else the process ends.
fn with_room_for(bytes: usize, request: &Request) -> String {
    MEMORY.set_limit(MEMORY.allocated() + bytes).expect("it is above what is in use");
    let url = request.url();
    MEMORY.set_limit(usize::MAX).expect("it is above what is in use");
    url.expect("it has no mistake")
}

fn main() {
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    let name = "an_address_takes_its_own_text_and_nothing_else";
    let test = Trial::test(name, || {
        an_address_takes_its_own_text_and_nothing_else();
        Ok(())
    });
    run(&arguments, vec![test]).exit();
}

fn an_address_takes_its_own_text_and_nothing_else() {
    let server = Arc::new(Base::parse("https://cluster:6443").expect("an address"));
    let plain = || Request::new(&server, Verb::Get, "/apis/apps/v1").namespace("default");
    let requests = [
        plain().resource("deployments"),
        plain().resource("deployments").name("web").sub_resource(&["status"]),
        plain().resource("deployments").param("watch", "true").param("limit", "500"),
    ];
    for request in requests {
        let before = request.url().expect("it has no mistake");
        // What grew on the way would have room for twice as much.
        let room = before.capacity();
        MEMORY.set_limit(MEMORY.allocated() + room - 1).expect("it is above what is in use");
        let is_short = String::new().try_reserve_exact(room).is_err();
        MEMORY.set_limit(usize::MAX).expect("it is above what is in use");
        assert!(is_short, "the limit counts every byte");
        assert!(room <= before.len() + 16, "{room} bytes for the {} of {before}", before.len());
        for _ in 0..1000 {
            assert_eq!(black_box(with_room_for(room, &request)), before);
        }
        println!("{:3} bytes, {room:3} allocated | {before}", before.len());
    }
}
