//! Sleepers in their order of arrival. Joining the line and taking the first one take amortised
//! constant time, and a whole line is handed over as one value. Tickets are in rising order, so any
//! sleeper is found by its ticket.

use std::collections::VecDeque;

/// For how many sleepers a line keeps memory after they have left.
const KEPT: usize = 64;

/// Up to this many empty seats are left alone, however few are taken.
const EMPTY: usize = 8;

/// The place of a sleeper. A ticket is never used twice, so a place that was left, or whose line
/// was handed over, refers to nobody.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place(u64);

impl Place {
    pub(super) fn ticket(self) -> u64 {
        self.0
    }
}

/// Seats in the order of their tickets.
pub(super) struct Line<T> {
    /// The first seat is taken, if there is one.
    seats: VecDeque<Seat<T>>,
    len: u32,
}

struct Seat<T> {
    ticket: u64,
    /// `None` if the sleeper has left.
    who: Option<T>,
}

impl<T> Default for Line<T> {
    fn default() -> Self {
        Self { seats: VecDeque::new(), len: 0 }
    }
}

impl<T> Line<T> {
    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// Returns the capacity, as a number of sleepers.
    #[cfg(any(test, feature = "harness"))]
    pub(super) fn seats(&self) -> usize {
        self.seats.capacity()
    }

    /// Returns the ticket of the first sleeper, or a number above all tickets if there is none.
    pub(super) fn first(&self) -> u64 {
        self.seats.front().map_or(u64::MAX, |seat| seat.ticket)
    }

    /// Joins the line at its end. Tickets come in rising order.
    pub(super) fn join(&mut self, ticket: u64, who: T) -> Place {
        self.seats.push_back(Seat { ticket, who: Some(who) });
        self.len += 1;
        Place(ticket)
    }

    /// Returns the sleeper at a place; `None` if it has left the line.
    pub(super) fn at(&mut self, place: Place) -> Option<&mut T> {
        self.seat(place)?.as_mut()
    }

    fn seat(&mut self, place: Place) -> Option<&mut Option<T>> {
        let at = self.seats.binary_search_by_key(&place.0, |seat| seat.ticket).ok()?;
        Some(&mut self.seats[at].who)
    }

    /// Leaves the line; `None` if the sleeper has already left.
    pub(super) fn leave(&mut self, place: Place) -> Option<T> {
        let who = self.seat(place)?.take()?;
        self.close_up();
        Some(who)
    }

    /// Takes the first out.
    pub(super) fn pop(&mut self) -> Option<T> {
        let first = self.seats.pop_front()?;
        self.close_up();
        first.who
    }

    /// Counts a sleeper that has left, removes seats that are no longer needed, and gives back
    /// memory.
    fn close_up(&mut self) {
        self.len -= 1;
        while self.seats.front().is_some_and(|seat| seat.who.is_none()) {
            self.seats.pop_front();
        }
        let taken = self.len as usize;
        if self.seats.len() > 2 * taken + EMPTY {
            self.seats.retain(|seat| seat.who.is_some());
        }
        if self.seats.capacity() > KEPT && self.seats.capacity() / 4 > self.seats.len() {
            self.seats.shrink_to(KEPT.max(2 * taken));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(tickets: impl IntoIterator<Item = u64>) -> (Line<u64>, Vec<Place>) {
        let mut line = Line::default();
        let places = tickets.into_iter().map(|ticket| line.join(ticket, ticket)).collect();
        (line, places)
    }

    #[test]
    fn the_first_to_come_is_first_when_others_leave_meanwhile() {
        let (mut line, places) = line(1..=5);
        for gone in [2, 0, 4] {
            assert_eq!(line.leave(places[gone]), Some(gone as u64 + 1));
            assert_eq!(line.leave(places[gone]), None, "only once");
        }
        assert_eq!((line.len(), line.first()), (2, 2));
        line.join(6, 6); // on the seats of those who left
        assert_eq!(line.at(places[4]), None, "a seat has another owner now");
        let order: Vec<_> = std::iter::from_fn(|| line.pop()).collect();
        assert_eq!(order, [2, 4, 6]);
        assert_eq!((line.len(), line.first()), (0, u64::MAX));
    }

    #[test]
    fn a_place_in_a_line_that_was_handed_over_names_nobody() {
        let (mut line, places) = line(1..=2);
        let mut taken = std::mem::take(&mut line);
        assert_eq!(line.leave(places[0]), None);
        line.join(3, 3);
        assert_eq!(line.at(places[0]), None);
        assert_eq!((taken.pop(), taken.pop(), taken.pop()), (Some(1), Some(2), None));
    }

    #[test]
    fn what_many_took_is_given_back_when_few_are_left() {
        for leave_first in [true, false] {
            let (mut long, mut places) = line(1..=1_000);
            assert!(long.seats() >= 1_000);
            let stays = places.remove(500);
            if leave_first {
                places.reverse();
            }
            for place in places {
                assert_eq!(long.leave(place), Some(place.ticket()));
                assert!(long.seats.len() <= 2 * long.len() as usize + EMPTY);
            }
            assert_eq!((long.len(), long.first(), long.seats()), (1, 501, KEPT));
            assert_eq!(long.at(stays), Some(&mut 501));
            assert_eq!((long.leave(stays), long.len()), (Some(501), 0));
        }
    }

    #[test]
    fn a_short_line_keeps_its_seats() {
        let (mut short, _) = line(1..=3);
        let seats = short.seats();
        while short.pop().is_some() {}
        assert_eq!(short.seats(), seats);
        short.join(4, 4);
        assert_eq!((short.pop(), short.seats()), (Some(4), seats), "and they are used again");
    }
}
