//! The queue's table of consequences, and what isn't in it. Cases over several bindings with their passes are in
//! `tests/cases`.

use super::*;

fn at(seconds: u64) -> Moment {
    Duration::from_secs(seconds)
}

fn key(text: &str) -> Key {
    text.into()
}

fn popped(queue: &mut Queue) -> Vec<String> {
    std::iter::from_fn(|| queue.pop()).map(|entry| entry.key.to_string()).collect()
}

fn handled(queue: &mut Queue, name: &str, priority: i32, time: u64, retry: Retry) {
    queue.push(&key(name), priority, at(time));
    let entry = queue.pop().unwrap();
    queue.finish(&entry.key, retry, at(time));
}

#[test]
fn pauses_double() {
    let pauses: Vec<u64> = (0..8).map(|attempts| backoff(attempts).as_secs()).collect();
    assert_eq!(pauses, [0, 1, 2, 4, 8, 10, 10, 10]);
}

#[test]
fn priority_then_age() {
    let mut queue = Queue::new();
    queue.push(&key("old"), 0, at(1));
    queue.push(&key("young"), 0, at(2));
    queue.push(&key("high"), 5, at(3));
    queue.push(&key("young"), 9, at(4));
    assert_eq!(popped(&mut queue), ["high", "old", "young"]);
}

#[test]
fn a_flush_sorts_by_priority() {
    let mut queue = Queue::new();
    for (name, priority, time) in [("low", 1, 0), ("high", 10, 1), ("later", 99, 60)] {
        handled(&mut queue, name, priority, time, Retry::Backoff);
    }
    assert_eq!(queue.next_tick(), Some(at(1)));
    assert_eq!(queue.tick(at(30)), 2);
    assert_eq!(popped(&mut queue), ["high", "low"]);
    assert_eq!(queue.lengths().backoff, 1);
}

#[test]
fn equal_ends_of_pauses_go_by_priority_and_age() {
    let mut queue = Queue::new();
    for (name, priority) in [("b", 0), ("a", 0), ("high", 1)] {
        handled(&mut queue, name, priority, 0, Retry::Backoff);
    }
    assert_eq!(queue.tick(Duration::from_millis(999)), 0, "they wait for the flush");
    assert_eq!(queue.tick(at(1)), 3);
    assert_eq!(popped(&mut queue), ["high", "a", "b"]);
}

#[test]
fn waits_for_room() {
    let mut queue = Queue::new();
    for (name, priority, time) in [("medium", 5, 0), ("high", 9, 0), ("low", 1, 0), ("fresh", 9, 300)] {
        handled(&mut queue, name, priority, time, Retry::Unschedulable);
    }
    assert_eq!(queue.next_tick(), Some(at(330)), "the first flush after five minutes");
    assert_eq!(queue.tick(at(300)), 0, "five minutes, not more");
    assert_eq!(queue.tick(at(330)), 3);
    assert_eq!(popped(&mut queue), ["high", "medium", "low"]);
    assert_eq!(queue.wake(&[key("fresh"), key("fresh"), key("low")], at(331)), 1);
    let entry = queue.pop().unwrap();
    assert_eq!((&*entry.key, entry.attempts), ("fresh", 2));
}

#[test]
fn an_event_starts_anew() {
    for retry in [Retry::Backoff, Retry::Unschedulable] {
        let mut queue = Queue::new();
        handled(&mut queue, "a", 0, 0, retry);
        queue.push(&key("a"), 3, at(1));
        let entry = queue.pop().unwrap();
        assert_eq!((entry.attempts, entry.priority, entry.first_attempt), (1, 3, at(1)));
        queue.finish("a", Retry::No, at(1));
        assert_eq!((queue.place("a"), queue.next_tick()), (None, None));
    }
}

#[test]
fn a_push_during_processing_runs_again_at_once() {
    let mut queue = Queue::new();
    queue.push(&key("a"), 0, at(0));
    assert_eq!(queue.pop().unwrap().attempts, 1);
    queue.push(&key("a"), 7, at(1));
    assert!(queue.pop().is_none());
    queue.finish("a", Retry::Backoff, at(2));
    let again = queue.pop().unwrap();
    assert_eq!((again.attempts, again.priority), (2, 0));
    queue.finish("a", Retry::Backoff, at(3));
    queue.push(&key("a"), 0, at(4));
    assert_eq!(queue.pop().unwrap().attempts, 1);
    assert_eq!(queue.lengths(), Lengths::default());
}

#[test]
fn without_priorities() {
    let mut queue = Queue::without_priorities();
    queue.push(&key("first"), 0, at(0));
    queue.push(&key("second"), 9, at(1));
    assert_eq!(popped(&mut queue), ["first", "second"]);
    queue.finish("first", Retry::Unschedulable, at(2));
    queue.finish("second", Retry::No, at(2));
    assert_eq!(queue.next_tick(), Some(at(2) + Duration::from_millis(5)));
    assert_eq!(queue.tick(at(3)), 1);
    assert_eq!(queue.pop().unwrap().attempts, 2);
    queue.finish("first", Retry::Backoff, at(3));
    assert_eq!(queue.next_tick(), Some(at(3) + Duration::from_millis(10)));
}

#[test]
fn what_is_gone_is_nowhere() {
    let mut queue = Queue::new();
    handled(&mut queue, "backoff", 0, 0, Retry::Backoff);
    handled(&mut queue, "room", 0, 0, Retry::Unschedulable);
    queue.push(&key("active"), 0, at(0));
    for name in ["backoff", "room", "active"] {
        queue.forget(name);
        assert_eq!(queue.place(name), None);
    }
    assert_eq!((queue.lengths(), queue.pop(), queue.next_tick()), (Lengths::default(), None, None));
}
