//! A file beside the one that was asked for: opened and sent as ngx_http_gzip_static_handler does it.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::mem::{ManuallyDrop, zeroed};
use std::os::fd::FromRawFd;
use std::os::unix::fs::FileExt;
use std::ptr;

use nginx_sys::{
    NGX_EACCES, NGX_ELOOP, NGX_EMLINK, NGX_ENAMETOOLONG, NGX_ENOENT, NGX_ENOTDIR, NGX_HTTP_OK, NGX_LOG_CRIT,
    NGX_LOG_ERR, ngx_buf_t, ngx_chain_t, ngx_file_t, ngx_http_discard_request_body, ngx_http_map_uri_to_path,
    ngx_http_set_content_type, ngx_http_set_disable_symlinks, ngx_http_set_etag, ngx_int_t,
    ngx_open_cached_file, ngx_open_file_info_t, ngx_pcalloc, ngx_str_t, ngx_uint_t,
};

use super::answer::SERVER_ERROR;
use super::{Failed, OK, Request, log};

/// An open file, which the request's pool or NGINX's cache of open files closes.
pub struct Sidecar {
    request: Request,
    path: ngx_str_t,
    info: ngx_open_file_info_t,
}

impl Sidecar {
    /// Opens the file whose name has `suffix` after the name of the one that was asked for, in the way that the
    /// location wants files opened. None if there is no such file or it cannot be opened, which is logged, or if it
    /// is a directory.
    ///
    /// # Errors
    /// The request cannot be answered.
    pub fn open(request: Request, suffix: &str) -> Result<Option<Self>, Failed> {
        let core = request.core_location();
        let mut path = map(request, suffix)?;
        // SAFETY: all zero is what gzip_static begins with.
        let mut info: ngx_open_file_info_t = unsafe { zeroed() };
        info.read_ahead = core.read_ahead;
        info.directio = core.directio;
        info.valid = core.open_file_cache_valid;
        info.min_uses = core.open_file_cache_min_uses;
        info.set_errors(core.open_file_cache_errors as u32);
        info.set_events(core.open_file_cache_events as u32);
        // SAFETY: a live request and its configuration, which is only read; the path ends with a zero byte.
        let opened = unsafe {
            let core = ptr::from_ref(core).cast_mut();
            if ngx_http_set_disable_symlinks(request.as_ptr(), core, &mut path, &mut info) != OK {
                return Err(Failed);
            }
            ngx_open_cached_file((*core).open_file_cache, &mut path, &mut info, request.pool()) == OK
        };
        let sidecar = Self { request, path, info };
        match (opened, info.err) {
            (true, _) => Ok((info.is_dir() == 0).then_some(sidecar)),
            (false, 0) => Err(Failed),
            (false, _) => {
                sidecar.log_failure();
                Ok(None)
            }
        }
    }

    /// Whether it is a regular file.
    pub fn is_regular(&self) -> bool {
        self.info.is_file() != 0
    }

    /// A line in the error log about this file.
    pub fn log(&self, level: u32, reason: impl std::fmt::Display) {
        log::request(level, self.request, format_args!("\"{}\" {reason}", self.path));
    }

    /// Reads from an offset as much as there is, up to the buffer's length.
    ///
    /// # Errors
    /// Those of `pread`.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        // SAFETY: the descriptor is open until the request's pool is freed; `ManuallyDrop` does not close it.
        let file = ManuallyDrop::new(unsafe { File::from_raw_fd(self.info.fd) });
        if self.info.is_directio() == 0 {
            file.read_at(buffer, offset)
        } else {
            read_direct(&file, buffer, offset)
        }
    }

    /// Sends it as the body of a response with this coding. The type is that of the name without the suffix.
    pub fn send(mut self, coding: &'static str) -> ngx_int_t {
        match self.describe(coding).and_then(|()| self.chain()) {
            Ok(mut chain) => self.request.send(&mut chain),
            Err(code) => code,
        }
    }

    /// What the response says of the file.
    fn describe(&self, coding: &'static str) -> Result<(), ngx_int_t> {
        let r = self.request.as_ptr();
        // SAFETY: a live request and its log, in the content phase; references to the request are not kept.
        unsafe {
            (*r).set_root_tested(u32::from((*r).error_page() == 0));
            match ngx_http_discard_request_body(r) {
                OK => {}
                code => return Err(code),
            }
            (*self.request.log()).action = c"sending response to client".as_ptr().cast_mut();
            (*r).headers_out.status = NGX_HTTP_OK as ngx_uint_t;
            (*r).headers_out.content_length_n = self.info.size;
            (*r).headers_out.last_modified_time = self.info.mtime;
            if ngx_http_set_etag(r) != OK || ngx_http_set_content_type(r) != OK {
                return Err(SERVER_ERROR);
            }
            let header = self.request.push_header_out("Content-Encoding", coding);
            (*r).headers_out.content_encoding = header.map_err(|Failed| SERVER_ERROR)?;
            (*r).set_allow_ranges(1);
        }
        Ok(())
    }

    /// The file as a chain of one buffer, made before the header is sent: then it is too late to fail.
    fn chain(&mut self) -> Result<ngx_chain_t, ngx_int_t> {
        let last = u32::from(self.request.is_main());
        let in_file = u32::from(self.info.size > 0);
        // SAFETY: the memory is the request's; all zero is a valid buffer and a valid file.
        unsafe {
            let pool = self.request.pool();
            let file = ngx_pcalloc(pool, size_of::<ngx_file_t>()).cast::<ngx_file_t>().as_mut();
            let buf = ngx_pcalloc(pool, size_of::<ngx_buf_t>()).cast::<ngx_buf_t>().as_mut();
            let (Some(file), Some(buf)) = (file, buf) else { return Err(SERVER_ERROR) };
            file.fd = self.info.fd;
            file.name = self.path;
            file.log = self.request.log();
            file.set_directio(self.info.is_directio());
            buf.file = file;
            buf.file_last = self.info.size;
            buf.set_in_file(in_file);
            buf.set_last_buf(last);
            buf.set_last_in_chain(1);
            buf.set_sync(u32::from(last == 0 && in_file == 0));
            Ok(ngx_chain_t { buf, next: ptr::null_mut() })
        }
    }

    fn log_failure(&self) {
        let level = match self.info.err as u32 {
            NGX_ENOENT | NGX_ENOTDIR | NGX_ENAMETOOLONG => return,
            NGX_EACCES | NGX_EMLINK | NGX_ELOOP => NGX_LOG_ERR,
            _ => NGX_LOG_CRIT,
        };
        // SAFETY: with an error NGINX names the call that failed.
        let call = unsafe { CStr::from_ptr(self.info.failed) }.to_string_lossy();
        let words = format_args!("{call} \"{}\" failed", self.path);
        log::request_errno(level, self.request, self.info.err, words);
    }
}

/// The path of the file that was asked for, with the suffix and a zero byte after it.
fn map(request: Request, suffix: &str) -> Result<ngx_str_t, Failed> {
    let mut path = ngx_str_t::empty();
    let mut root = 0;
    // SAFETY: a live request; NGINX reserves as many bytes for the suffix as it is told, and one more.
    unsafe {
        let end = ngx_http_map_uri_to_path(request.as_ptr(), &mut path, &mut root, suffix.len());
        if end.is_null() {
            return Err(Failed);
        }
        ptr::copy_nonoverlapping(suffix.as_ptr(), end, suffix.len());
        *end.add(suffix.len()) = 0;
        path.len = end.offset_from(path.data) as usize + suffix.len();
    }
    Ok(path)
}

/// Reads around the page cache, which wants memory and offsets that are aligned as the device has it.
fn read_direct(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    const ALIGNMENT: usize = 4096;
    #[repr(align(4096))]
    struct Block([u8; 2 * ALIGNMENT]);
    let mut block = Block([0; 2 * ALIGNMENT]);

    let skip = offset as usize % ALIGNMENT;
    let length = file.read_at(&mut block.0, offset - skip as u64)?;
    let found = block.0[..length].get(skip..).unwrap_or_default();
    let length = found.len().min(buffer.len());
    buffer[..length].copy_from_slice(&found[..length]);
    Ok(length)
}
