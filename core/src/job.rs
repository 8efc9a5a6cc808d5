//! The encoding of one piece of a body, on its way to a thread and back.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::codec::{Coding, EncodeError, Encoder, End, Segment, Settings};
use crate::parts::Parts;
use crate::workspace::Workspace;

/// The number of a job within its stream.
pub type JobId = u64;

/// A piece of a body to encode. It owns all that it touches.
pub struct Job {
    pub(crate) id: JobId,
    pub(crate) settings: Settings,
    pub(crate) segment: Segment,
    pub(crate) history: Parts,
    pub(crate) input: Parts,
    /// The encoder of an open segment that goes on with this job.
    pub(crate) encoder: Option<Box<dyn Encoder>>,
    /// Whether the segment stays open, so that the encoder has to come back.
    pub(crate) keep: bool,
    pub(crate) cancel: Cancel,
}

/// What a job gave.
pub struct Encoded {
    pub(crate) data: Vec<u8>,
    pub(crate) encoder: Option<Box<dyn Encoder>>,
}

/// Why a job gave nothing.
#[derive(Debug)]
pub enum JobError {
    /// The response or the process ended.
    Cancelled,
    /// A file could not be read, or became shorter.
    Read(io::Error),
    /// The encoder failed.
    Encode(EncodeError),
    /// The job panicked, with these words.
    Panicked(String),
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => f.write_str("cancelled"),
            Self::Read(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                f.write_str("the file became shorter while it was read")
            }
            Self::Read(error) => write!(f, "reading failed: {error}"),
            Self::Encode(error) => write!(f, "encoder failed: {error}"),
            Self::Panicked(words) => f.write_str(words),
        }
    }
}

impl std::error::Error for JobError {}

/// Tells jobs that nobody waits for them any more.
#[derive(Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Queued jobs will not begin, running ones stop at their next slice.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Job {
    /// Its number, for [`Stream::complete`](crate::stream::Stream::complete).
    pub fn id(&self) -> JobId {
        self.id
    }

    /// The coding.
    pub fn coding(&self) -> Coding {
        self.settings.coding
    }

    /// Bytes that it encodes.
    pub fn len(&self) -> u64 {
        self.input.len()
    }

    /// Whether it encodes nothing; there are no such jobs.
    pub fn is_empty(&self) -> bool {
        self.input.is_empty()
    }

    /// Encodes, in whatever thread the workspace belongs to.
    ///
    /// # Errors
    /// See [`JobError`].
    pub fn run(self, workspace: &mut Workspace) -> Result<Encoded, JobError> {
        if self.cancel.is_cancelled() || workspace.is_stopping() {
            return Err(JobError::Cancelled);
        }
        let mut buffer = std::mem::take(&mut workspace.buffer);
        let used = usize::try_from(self.history.len() + self.input.len()).unwrap_or(0);
        let result = self.encode(&mut buffer, workspace);
        workspace.keep(buffer, used);
        result
    }

    fn encode(mut self, buffer: &mut Vec<u8>, workspace: &mut Workspace) -> Result<Encoded, JobError> {
        let history = self.history.read_into(buffer, 0).map_err(JobError::Read)?;
        let end = self.input.read_into(buffer, history).map_err(JobError::Read)?;
        let buffer = &buffer[..end];
        let coding = self.settings.coding;
        let opened = self.encoder.is_some();
        let mut encoder = self.encoder.take().unwrap_or_else(|| workspace.take(coding));
        let mut data = Vec::new();
        let cancelled = || self.cancel.is_cancelled() || workspace.is_stopping();
        let encoded = if opened {
            encoder.write(&buffer[history..], self.segment.end, &mut data, &cancelled)
        } else if self.keep {
            encoder
                .open(&self.settings, &self.segment, &buffer[..history])
                .and_then(|()| encoder.write(&buffer[history..], self.segment.end, &mut data, &cancelled))
        } else {
            encoder.encode(&self.settings, &self.segment, buffer, history, &mut data, &cancelled)
        };
        match encoded {
            Ok(()) if self.keep => Ok(Encoded { data, encoder: Some(encoder) }),
            Ok(()) => {
                workspace.put(coding, encoder);
                Ok(Encoded { data, encoder: None })
            }
            Err(EncodeError::Cancelled) => {
                workspace.put(coding, encoder);
                Err(JobError::Cancelled)
            }
            Err(error) => Err(JobError::Encode(error)),
        }
    }
}

/// How the last job of a body ends, and every other one.
pub(crate) const fn end(last: bool) -> End {
    if last { End::Finish } else { End::Flush }
}
