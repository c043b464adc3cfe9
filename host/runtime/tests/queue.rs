//! Queue semantics under a paused clock.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::{Instant, sleep};
use windlass_runtime::queue::{INITIAL, run};
use windlass_runtime::{Action, Queue};

const MS: Duration = Duration::from_millis(1);

#[tokio::test(start_paused = true)]
async fn a_key_waits_once_and_comes_back_if_added_in_work() {
    let queue = Queue::new("test");
    queue.add("a");
    queue.add("a");
    queue.add("b");
    assert_eq!(queue.len(), 2);
    assert_eq!(queue.get().await, Some("a"));
    queue.add("a");
    queue.add("a");
    assert_eq!(queue.len(), 1, "a is in work");
    queue.done(&"a");
    assert_eq!(queue.get().await, Some("b"));
    assert_eq!(queue.get().await, Some("a"));
    queue.done(&"a");
    queue.done(&"b");
    assert!(queue.is_empty());
}

#[tokio::test(start_paused = true)]
async fn priorities() {
    let queue = Queue::new("test");
    queue.add_with_priority("list", INITIAL);
    queue.add_with_priority("listed-and-changed", INITIAL);
    queue.add("change");
    queue.add("listed-and-changed");
    queue.add_with_priority("urgent", 10);
    let mut order = Vec::new();
    for _ in 0..4 {
        order.push(queue.get().await.unwrap());
    }
    assert_eq!(order, ["urgent", "listed-and-changed", "change", "list"]);
}

#[tokio::test(start_paused = true)]
async fn delays_keep_the_earlier_end_and_yield_to_adds() {
    let queue = Queue::new("test");
    let start = Instant::now();
    queue.add_after("a", 50 * MS);
    queue.add_after("a", 20 * MS);
    queue.add_after("a", 70 * MS);
    assert_eq!(queue.get().await, Some("a"));
    assert_eq!(start.elapsed(), 20 * MS);
    queue.done(&"a");

    queue.add_after("b", 1000 * MS);
    queue.add("b");
    assert_eq!(queue.get().await, Some("b"));
    queue.done(&"b");
    let waiting = queue.clone();
    assert!(
        tokio::time::timeout(2000 * MS, waiting.get()).await.is_err(),
        "the pause was cancelled by the add"
    );
}

#[tokio::test(start_paused = true)]
async fn backoff_doubles_up_to_a_limit() {
    let queue = Queue::with_backoff("test", 5 * MS, 30 * MS);
    for expected in [5, 10, 20, 30, 30] {
        let start = Instant::now();
        queue.add_rate_limited("a");
        assert_eq!(queue.get().await, Some("a"));
        assert_eq!(start.elapsed(), expected * MS);
        queue.done(&"a");
    }
    assert_eq!(queue.failures(&"a"), 5);
    queue.forget(&"a");
    assert_eq!(queue.failures(&"a"), 0);
}

#[tokio::test(start_paused = true)]
async fn workers_retry_errors_and_panics_and_end_with_the_queue() {
    let queue: Queue<&str> = Queue::new("test");
    let runs = Arc::new(Mutex::new(Vec::new()));
    let busy = Arc::new(AtomicUsize::new(0));
    let task = tokio::spawn({
        let (queue, runs, busy) = (queue.clone(), runs.clone(), busy.clone());
        run(queue.clone(), 3, move |key| {
            let (runs, busy, queue) = (runs.clone(), busy.clone(), queue.clone());
            async move {
                runs.lock().unwrap().push(key);
                let count = runs.lock().unwrap().iter().filter(|k| **k == key).count();
                assert!(busy.fetch_add(1, Ordering::SeqCst) < 3);
                sleep(MS).await;
                busy.fetch_sub(1, Ordering::SeqCst);
                match (key, count) {
                    ("fails", 1..3) => Err("no".to_owned()),
                    ("panics", 1) => panic!("on purpose"),
                    ("later", 1) => Ok(Action::After(60 * MS, "test")),
                    _ => {
                        assert_eq!(queue.failures(&"later"), 0);
                        Ok(Action::Done)
                    }
                }
            }
        })
    });
    for key in ["fine", "fails", "panics", "later"] {
        queue.add(key);
    }
    sleep(100 * MS).await;
    let count = |key| runs.lock().unwrap().iter().filter(|k| **k == key).count();
    assert_eq!((count("fine"), count("fails"), count("panics"), count("later")), (1, 3, 2, 2));
    queue.shut_down();
    task.await.unwrap();
    queue.add("fine");
    assert_eq!(queue.get().await, None);
}

#[tokio::test]
async fn many_adders_and_workers() {
    let queue: Queue<u32> = Queue::new("test");
    let seen = Arc::new(AtomicUsize::new(0));
    let task = tokio::spawn({
        let (queue, seen) = (queue.clone(), seen.clone());
        run(queue, 8, move |_| {
            let seen = seen.clone();
            async move {
                seen.fetch_add(1, Ordering::SeqCst);
                Ok::<_, String>(Action::Done)
            }
        })
    });
    for i in 0..1000 {
        queue.add(i);
        if i % 100 == 0 {
            tokio::task::yield_now().await;
        }
    }
    while seen.load(Ordering::SeqCst) < 1000 {
        sleep(MS).await;
    }
    queue.shut_down();
    task.await.unwrap();
    assert_eq!(seen.load(Ordering::SeqCst), 1000);
}
