//! Downloads, several at a time: until something else is done, or so many.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::Client;

/// What is downloaded.
#[derive(Clone, Copy, Debug)]
pub struct Downloads<'a> {
    /// Where from.
    pub port: u16,
    /// What.
    pub path: &'a str,
    /// The only coding that is accepted, and has to come.
    pub coding: &'a str,
    /// How many at a time, each on a connection of its own.
    pub at_once: usize,
}

/// What a number of downloads took.
#[derive(Clone, Copy, Debug)]
pub struct Finished {
    /// From the first request to the last byte.
    pub time: Duration,
    /// Of all bodies, as they were sent.
    pub bytes: u64,
}

impl Downloads<'_> {
    /// Downloads again and again while `work` runs, which begins after `warm_up`, and until `stop` has ended the
    /// server. Gives what `work` does, and how many downloads ended meanwhile.
    ///
    /// # Errors
    /// A download failed before the server was to end.
    pub fn beside<T>(
        &self,
        warm_up: Duration,
        work: impl FnOnce() -> T,
        stop: impl FnOnce(),
    ) -> io::Result<(T, u64)> {
        let (stopping, finished) = (&AtomicBool::new(false), &AtomicU64::new(0));
        thread::scope(|scope| {
            let spawn = |_| scope.spawn(|| self.repeat(stopping, finished));
            let threads: Vec<_> = (0..self.at_once).map(spawn).collect();
            thread::sleep(warm_up);
            let before = finished.load(Ordering::Relaxed);
            let done = work();
            let downloads = finished.load(Ordering::Relaxed) - before;

            // Those that are under way end with the server.
            stopping.store(true, Ordering::Relaxed);
            stop();
            for thread in threads {
                thread.join().expect("a client does not panic")?;
            }
            Ok((done, downloads))
        })
    }

    /// Downloads again and again; counts those that were finished.
    fn repeat(&self, stopping: &AtomicBool, finished: &AtomicU64) -> io::Result<()> {
        let mut client = Client::connect(self.port)?;
        while !stopping.load(Ordering::Relaxed) {
            match client.get(self.path, self.coding) {
                Ok(_) => finished.fetch_add(1, Ordering::Relaxed),
                Err(_) if stopping.load(Ordering::Relaxed) => break,
                Err(error) => return Err(error),
            };
        }
        Ok(())
    }
}

/// Downloads `count` times in all.
///
/// # Errors
/// A download failed.
pub fn fetch(downloads: &Downloads<'_>, count: u64) -> io::Result<Finished> {
    let clients =
        (0..downloads.at_once).map(|_| Client::connect(downloads.port)).collect::<io::Result<Vec<_>>>()?;
    let begun = &AtomicU64::new(0);
    let begin = Instant::now();
    let bytes = thread::scope(|scope| {
        let take_turns = |mut client: Client| {
            let mut bytes = 0;
            while begun.fetch_add(1, Ordering::Relaxed) < count {
                bytes += client.get(downloads.path, downloads.coding)?;
            }
            io::Result::Ok(bytes)
        };
        let threads: Vec<_> =
            clients.into_iter().map(|client| scope.spawn(move || take_turns(client))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("a client does not panic"))
            .sum::<io::Result<u64>>()
    })?;
    Ok(Finished { time: begin.elapsed(), bytes })
}
