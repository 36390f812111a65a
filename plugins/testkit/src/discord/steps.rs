//! The book-keeping of a script's steps: which are due, and which were done.

use super::script::{Action, Moment, Step, Times, When};

#[derive(Debug)]
pub(crate) struct Steps {
    steps: Vec<(Step, u32)>,
}

impl Steps {
    pub(crate) fn new(steps: &[Step]) -> Self {
        Self { steps: steps.iter().map(|step| (step.clone(), 0)).collect() }
    }

    /// What is due now that the `made`th message was made.
    pub(crate) fn due_at_message(&self, made: u64) -> Vec<Action> {
        let due = self.steps.iter().filter(|(step, _)| match step.when {
            When::AfterMessages(count) => made == count,
            When::EveryMessages(count) => made.is_multiple_of(count),
            When::AfterMs(_) | When::On { .. } => false,
        });
        due.map(|(step, _)| step.action.clone()).collect()
    }

    /// What is due at this moment: the first step that has times left.
    pub(crate) fn due_at(&mut self, moment: Moment) -> Option<Action> {
        let (step, done) = self.steps.iter_mut().find(|(step, done)| match step.when {
            When::On { moment: at, times } => at == moment && times.left(*done),
            _ => false,
        })?;
        *done += 1;
        Some(step.action.clone())
    }

    /// What is due by the clock: milliseconds after the start, soonest first.
    pub(crate) fn timed(&self) -> Vec<(u64, Action)> {
        let at = |step: &Step| if let When::AfterMs(ms) = step.when { Some(ms) } else { None };
        let mut timed: Vec<(u64, Action)> =
            self.steps.iter().filter_map(|(step, _)| Some((at(step)?, step.action.clone()))).collect();
        timed.sort_by_key(|(ms, _)| *ms);
        timed
    }
}

impl Times {
    fn left(self, done: u32) -> bool {
        match self {
            Self::Count(count) => done < count,
            Self::Always => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(when: When, code: u16) -> Step {
        Step { when, action: Action::Close { code } }
    }

    fn codes(actions: &[Action]) -> Vec<u16> {
        actions
            .iter()
            .filter_map(|action| if let Action::Close { code } = action { Some(*code) } else { None })
            .collect()
    }

    #[test]
    fn messages_make_steps_due() {
        let steps = Steps::new(&[step(When::AfterMessages(4), 4001), step(When::EveryMessages(2), 4002)]);
        let due: Vec<Vec<u16>> = (1..=4).map(|made| codes(&steps.due_at_message(made))).collect();
        assert_eq!(due, [vec![], vec![4002], vec![], vec![4001, 4002]]);
    }

    #[test]
    fn moments_are_used_up_in_order() {
        let on = |times| When::On { moment: Moment::Identify, times };
        let mut steps = Steps::new(&[step(on(Times::Count(2)), 4003), step(on(Times::Always), 4014)]);
        let due: Vec<Action> = (0..4).filter_map(|_| steps.due_at(Moment::Identify)).collect();
        assert_eq!(codes(&due), [4003, 4003, 4014, 4014]);
        assert_eq!(steps.due_at(Moment::Ready), None);
    }

    #[test]
    fn timed_steps_come_in_order_of_time() {
        let steps = Steps::new(&[step(When::AfterMs(50), 4002), step(When::AfterMs(5), 4001)]);
        let times: Vec<u64> = steps.timed().into_iter().map(|(ms, _)| ms).collect();
        assert_eq!(times, [5, 50]);
    }
}
