//! The header lines of a request and its response: reading them, and editing the response's.

use std::ptr;

use nginx_sys::{ngx_http_weak_etag, ngx_list_part_t, ngx_list_push, ngx_list_t, ngx_str_t, ngx_table_elt_t};

use super::{Failed, Request};
use crate::hooks;

impl Request {
    /// The values of the client's headers of this name, which is in lower case.
    pub fn headers_in(self, name: &'static [u8]) -> impl Iterator<Item = &'static [u8]> {
        values(&self.get().headers_in.headers, name)
    }

    /// The values of the response's headers of this name, which is in lower case.
    pub fn headers_out(self, name: &'static [u8]) -> impl Iterator<Item = &'static [u8]> {
        values(&self.get().headers_out.headers, name)
    }

    /// Adds `Content-Encoding`, and takes away what an encoded body has not: its length, ranges, a strong ETag.
    ///
    /// # Errors
    /// No memory.
    pub fn set_content_encoding(self, token: &'static str) -> Result<(), Failed> {
        let header = self.push_header_out("Content-Encoding", token)?;
        let out = &mut self.get_mut().headers_out;
        out.content_encoding = header;
        out.content_length_n = -1;
        clear(&mut out.content_length);
        self.get_mut().set_allow_ranges(0);
        clear(&mut out.accept_ranges);
        self.weaken_etag();
        Ok(())
    }

    /// Adds a header to the response.
    ///
    /// # Errors
    /// No memory.
    pub fn add_header_out(self, name: &'static str, value: &'static str) -> Result<(), Failed> {
        self.push_header_out(name, value).map(drop)
    }

    /// As [`add_header_out`](Self::add_header_out), and gives the header's place in the list.
    pub(super) fn push_header_out(
        self,
        name: &'static str,
        value: &'static str,
    ) -> Result<*mut ngx_table_elt_t, Failed> {
        if hooks::refuses("pool") {
            return Err(Failed);
        }
        // SAFETY: the list is the request's; a new element is written in full.
        unsafe {
            let header: *mut ngx_table_elt_t = ngx_list_push(&mut self.get_mut().headers_out.headers).cast();
            if header.is_null() {
                return Err(Failed);
            }
            let mut element: ngx_table_elt_t = std::mem::zeroed();
            element.hash = 1;
            element.key = static_str(name);
            element.value = static_str(value);
            header.write(element);
            Ok(header)
        }
    }

    /// Replaces the values of the response's headers of this name, which is in lower case; `None` removes one.
    ///
    /// # Errors
    /// No memory.
    pub fn change_headers_out(
        self,
        name: &'static [u8],
        mut change: impl FnMut(&[u8]) -> Option<Vec<u8>>,
    ) -> Result<(), Failed> {
        for header in named(&self.get().headers_out.headers, name) {
            // SAFETY: the element lives in the request's list, and nobody else looks at it now.
            let header = unsafe { &mut *header };
            let value = change(header.value.as_bytes());
            match value {
                None => header.hash = 0,
                Some(value) if value == header.value.as_bytes() => {}
                // SAFETY: the pool is the request's.
                Some(value) => unsafe {
                    header.value = ngx_str_t::from_bytes(self.pool(), &value).ok_or(Failed)?;
                },
            }
        }
        Ok(())
    }

    /// The value of `ETag`.
    pub fn etag(self) -> Option<&'static [u8]> {
        // SAFETY: NULL, or the header's place in the list.
        unsafe { self.get().headers_out.etag.as_ref() }.map(|header| header.value.as_bytes())
    }

    /// Makes a strong `ETag` a weak one.
    pub fn weaken_etag(self) {
        // SAFETY: a live request.
        unsafe { ngx_http_weak_etag(self.as_ptr()) };
    }

    /// Removes the response's headers of this name, which is in lower case.
    pub fn remove_header_out(self, name: &'static [u8]) {
        for header in named(&self.get().headers_out.headers, name) {
            // SAFETY: the element lives in the request's list, and nobody else looks at it now.
            unsafe { (*header).hash = 0 };
        }
    }
}

fn clear(header: &mut *mut ngx_table_elt_t) {
    // SAFETY: NULL, or the header's place in the request's list.
    if let Some(element) = unsafe { header.as_mut() } {
        element.hash = 0;
    }
    *header = ptr::null_mut();
}

fn static_str(text: &'static str) -> ngx_str_t {
    ngx_str_t { len: text.len(), data: text.as_ptr().cast_mut() }
}

fn values(list: &'static ngx_list_t, name: &'static [u8]) -> impl Iterator<Item = &'static [u8]> {
    // SAFETY: the value lives in the request's memory.
    named(list, name).map(|header| unsafe { (*header).value.as_bytes() })
}

/// The elements of a list of headers that have this name, which is in lower case, and were not removed.
fn named(list: &ngx_list_t, name: &'static [u8]) -> impl Iterator<Item = *mut ngx_table_elt_t> + use<> {
    let mut part: *const ngx_list_part_t = &raw const list.part;
    let mut parts = std::iter::from_fn(move || {
        // SAFETY: the parts of a list are linked and end with NULL.
        let this = unsafe { part.as_ref() }?;
        part = this.next;
        Some((this.elts.cast::<ngx_table_elt_t>(), this.nelts))
    });
    let mut rest = (ptr::null_mut::<ngx_table_elt_t>(), 0);
    std::iter::from_fn(move || {
        loop {
            while rest.1 == 0 {
                rest = parts.next()?;
            }
            let header = rest.0;
            // SAFETY: a part has as many elements as it says.
            unsafe {
                rest = (header.add(1), rest.1 - 1);
                if (*header).hash != 0 && (*header).key.as_bytes().eq_ignore_ascii_case(name) {
                    return Some(header);
                }
            }
        }
    })
}
