//! Files that NGINX opened and jobs read.

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{FromRawFd, RawFd};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use compress_core::parts::ReadAt;
use nginx_sys::EIO;

use crate::hooks;

/// A descriptor that NGINX owns.
struct OpenFile(ManuallyDrop<File>);

/// The file of a buffer, for jobs.
///
/// # Safety
/// The descriptor stays open while parts of it are around: NGINX closes it with the request's pool, which lives as
/// long as jobs of the request do.
pub unsafe fn open_file(fd: RawFd) -> Arc<dyn ReadAt> {
    // SAFETY: `ManuallyDrop` leaves the closing to NGINX, which owns the descriptor; the caller vouches for its life.
    Arc::new(OpenFile(ManuallyDrop::new(unsafe { File::from_raw_fd(fd) })))
}

impl ReadAt for OpenFile {
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        if hooks::refuses("read") {
            return Err(io::Error::from_raw_os_error(EIO as i32));
        }
        self.0.read_exact_at(buffer, offset)
    }
}
