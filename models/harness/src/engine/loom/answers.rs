//! Nondeterminism of data, which loom itself does not explore.
//!
//! loom explores the schedules of one set of answers to the end, then the next set is tried. An
//! answer belongs to the n-th question of one thread, never to the n-th question of the execution:
//! otherwise two questions that happen in either order would swap their answers, and loom would
//! rightly take the two orders for the same and skip one.

/// The answers given during one run of loom, in the order in which the questions were first met.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers {
    given: Vec<Answer>,
}

#[derive(Clone, Copy, Debug)]
struct Answer {
    thread: u8,
    nth: u32,
    options: u32,
    answer: u32,
}

impl Answers {
    /// Answers the `nth` question of `thread`; the answer to a new question is zero.
    pub(super) fn answer(&mut self, thread: u8, nth: u32, options: u32) -> u32 {
        let known = |a: &&Answer| (a.thread, a.nth, a.options) == (thread, nth, options);
        if let Some(known) = self.given.iter().find(known) {
            return known.answer;
        }
        self.given.push(Answer { thread, nth, options, answer: 0 });
        0
    }

    /// Moves on to the next set of answers; false if all have been tried.
    ///
    /// The last question gets its next answer; questions whose answers are spent are forgotten, to
    /// be met again. So every set of answers has a run in which all questions met were in the list.
    pub(super) fn advance(&mut self) -> bool {
        while let Some(last) = self.given.last_mut() {
            if last.answer + 1 < last.options {
                last.answer += 1;
                return true;
            }
            self.given.pop();
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_of_answers_is_tried_once() {
        let mut answers = Answers::default();
        let mut seen = vec![];
        loop {
            let first = answers.answer(0, 0, 2);
            // Only one branch of the program asks again.
            let second = (first == 1).then(|| answers.answer(0, 1, 3));
            seen.push((first, second));
            if !answers.advance() {
                break;
            }
        }
        assert_eq!(seen, [(0, None), (1, Some(0)), (1, Some(1)), (1, Some(2))]);
    }

    #[test]
    fn an_answer_belongs_to_the_thread_that_asked() {
        let mut answers = Answers::default();
        let ask = |answers: &mut Answers| (answers.answer(1, 0, 2), answers.answer(2, 0, 2));
        assert_eq!(ask(&mut answers), (0, 0));
        assert!(answers.advance());
        let second_first = answers.answer(2, 0, 2);
        assert_eq!((answers.answer(1, 0, 2), second_first), (0, 1));
    }
}
