//! Sleepers in the order in which they came. Joining the line, leaving it from any place and taking
//! the first out take constant time, and a whole line is handed over as one value.

/// No seat.
const NONE: u32 = u32::MAX;

/// A line that is empty gives its memory back if it had more seats than this.
const KEPT: usize = 64;

/// The place of a sleeper. No ticket is given twice, so a place that was left, or whose line was
/// handed over, names nobody.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    ticket: u64,
    seat: u32,
}

impl Place {
    pub(super) fn ticket(self) -> u64 {
        self.ticket
    }
}

/// A double list in a vector; free seats are a list of their own.
pub(super) struct Line<T> {
    seats: Vec<Seat<T>>,
    first: u32,
    last: u32,
    free: u32,
    len: u32,
}

struct Seat<T> {
    ticket: u64,
    /// `None` in a free seat.
    who: Option<T>,
    before: u32,
    /// In a free seat the next free one.
    behind: u32,
}

impl<T> Default for Line<T> {
    fn default() -> Self {
        Self { seats: Vec::new(), first: NONE, last: NONE, free: NONE, len: 0 }
    }
}

impl<T> Line<T> {
    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// Returns the ticket of the first; one that is never given if there is nobody.
    pub(super) fn first(&self) -> u64 {
        self.seats.get(self.first as usize).map_or(u64::MAX, |seat| seat.ticket)
    }

    /// Joins the line at its end. Tickets come in rising order.
    pub(super) fn join(&mut self, ticket: u64, who: T) -> Place {
        let seat = Seat { ticket, who: Some(who), before: self.last, behind: NONE };
        let at = if self.free == NONE {
            let at = u32::try_from(self.seats.len()).expect("fewer sleepers than numbers for them");
            self.seats.push(seat);
            at
        } else {
            let at = self.free;
            self.free = self.seats[at as usize].behind;
            self.seats[at as usize] = seat;
            at
        };
        match self.last {
            NONE => self.first = at,
            last => self.seats[last as usize].behind = at,
        }
        self.last = at;
        self.len += 1;
        Place { ticket, seat: at }
    }

    /// Returns the sleeper at a place; `None` if it is out of the line.
    pub(super) fn at(&mut self, place: Place) -> Option<&mut T> {
        let seat = self.seats.get_mut(place.seat as usize)?;
        if seat.ticket == place.ticket { seat.who.as_mut() } else { None }
    }

    /// Leaves the line; `None` if they are out of it.
    pub(super) fn leave(&mut self, place: Place) -> Option<T> {
        self.at(place)?;
        self.take(place.seat)
    }

    /// Takes the first out.
    pub(super) fn pop(&mut self) -> Option<T> {
        if self.first == NONE { None } else { self.take(self.first) }
    }

    fn take(&mut self, at: u32) -> Option<T> {
        let seat = &mut self.seats[at as usize];
        let (who, before, behind) = (seat.who.take(), seat.before, seat.behind);
        seat.behind = self.free;
        self.free = at;
        self.len -= 1;
        match before {
            NONE => self.first = behind,
            before => self.seats[before as usize].behind = behind,
        }
        match behind {
            NONE => self.last = before,
            behind => self.seats[behind as usize].before = before,
        }
        if self.len == 0 && self.seats.len() > KEPT {
            *self = Self::default();
        }
        who
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
        line.join(6, 6); // on a seat of those who left
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
    fn a_long_line_that_is_empty_gives_its_memory_back() {
        let (mut long, _) = line(1..=1_000);
        while long.pop().is_some() {}
        assert_eq!(long.seats.capacity(), 0);
        let (mut short, _) = line(1..=3);
        while short.pop().is_some() {}
        assert_eq!(short.seats.len(), 3, "a short one keeps it");
        short.join(4, 4);
        assert_eq!((short.pop(), short.seats.len()), (Some(4), 3), "and its seats are used again");
    }
}
