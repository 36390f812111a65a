//! Faults of REST requests that wait for their request.

use super::call::Call;
use crate::discord::script::{Mishap, RestFault, Stage, Times};

/// In the order in which they were asked for.
#[derive(Debug, Default)]
pub(crate) struct Pending(Vec<Waiting>);

#[derive(Debug)]
struct Waiting {
    fault: RestFault,
    passed: u32,
    done: u32,
}

impl Pending {
    pub(crate) fn new(faults: &[RestFault]) -> Self {
        Self(faults.iter().cloned().map(Waiting::new).collect())
    }

    pub(crate) fn add(&mut self, fault: RestFault) {
        self.0.push(Waiting::new(fault));
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// What happens to this request at this stage: the first fault that is about it and has let enough pass.
    pub(crate) fn take(&mut self, call: &Call, stage: Stage) -> Option<Mishap> {
        let (_, path) = call.versioned();
        let method = call.method.as_str();
        let about = |fault: &RestFault| fault.mishap.stage() == stage && fault.pattern().matches(method, path);
        let mut due = None;
        for (index, waiting) in self.0.iter_mut().enumerate().filter(|(_, waiting)| about(&waiting.fault)) {
            if waiting.passed < waiting.fault.skip {
                waiting.passed += 1;
                continue;
            }
            waiting.done = waiting.done.saturating_add(1);
            due = Some((index, waiting.fault.mishap.clone(), waiting.used_up()));
            break;
        }
        let (index, mishap, used_up) = due?;
        if used_up {
            self.0.remove(index);
        }
        Some(mishap)
    }
}

impl Waiting {
    fn new(fault: RestFault) -> Self {
        Self { fault, passed: 0, done: 0 }
    }

    fn used_up(&self) -> bool {
        match self.fault.count {
            Times::Count(count) => self.done >= count,
            Times::Always => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(method: &str, path: &str) -> Call {
        let request = http::Request::builder().method(method).uri(format!("/api/v10{path}")).body(()).unwrap();
        Call::new(&request.into_parts().0)
    }

    #[test]
    fn a_fault_waits_for_its_request_and_ends_with_its_count() {
        let fault = RestFault::new(Mishap::Cut {}).on("POST", "/channels/*/messages").after(1).times(2);
        let mut pending = Pending::new(&[fault]);
        let mut taken = |method: &str| pending.take(&call(method, "/channels/1/messages"), Stage::Afterwards).is_some();
        let found = [taken("POST"), taken("GET"), taken("POST"), taken("POST"), taken("POST")];
        assert_eq!(found, [false, false, true, true, false]);
        assert!(pending.0.is_empty());
    }

    #[test]
    fn the_first_of_several_is_done_and_one_that_lets_pass_does_not_block() {
        let mut pending = Pending::new(&[RestFault::new(Mishap::Cut {}).after(1)]);
        pending.add(RestFault::new(Mishap::CloseAfter {}));
        let mut name = || pending.take(&call("GET", "/users/@me"), Stage::Afterwards).map(|mishap| mishap.name());
        assert_eq!([name(), name(), name()], [Some("close-after"), Some("cut"), None]);
    }

    #[test]
    fn stages_are_kept_apart() {
        let mut pending = Pending::new(&[
            RestFault::new(Mishap::CloseBefore {}).always(),
            RestFault::new(Mishap::status(503, false)).always(),
            RestFault::new(Mishap::status(502, true)).always(),
        ]);
        let call = call("GET", "/users/@me");
        for stage in [Stage::Head, Stage::Instead, Stage::Afterwards] {
            assert_eq!(pending.take(&call, stage).unwrap().stage(), stage);
        }
        pending.clear();
        assert_eq!(pending.take(&call, Stage::Head), None);
    }
}
