//! A gate, for an upstream to wait at.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};

use crate::TIMEOUT;

/// What a handler waits at until the test lets it go on.
#[derive(Debug)]
pub struct Gate(Mutex<Receiver<()>>);

/// Opens a [`Gate`].
#[derive(Clone, Debug)]
pub struct GateKey(Sender<()>);

/// A gate and its key.
pub fn gate() -> (GateKey, Gate) {
    let (sender, receiver) = channel();
    (GateKey(sender), Gate(Mutex::new(receiver)))
}

impl Gate {
    /// Waits until the key was turned once more than this was passed. A dropped key leaves the gate open.
    ///
    /// # Panics
    ///
    /// If that takes longer than the time limit of all tests.
    pub fn wait(&self) {
        let receiver = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(RecvTimeoutError::Timeout) = receiver.recv_timeout(TIMEOUT) {
            panic!("nobody opened the gate within {TIMEOUT:?}");
        }
    }
}

impl GateKey {
    /// Lets one [`Gate::wait`] pass.
    pub fn open(&self) {
        // Nobody may be waiting any more.
        let _ = self.0.send(());
    }
}
