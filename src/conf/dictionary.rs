//! `zstd_dict_file`: a file is read once for a configuration, and digested once for each level that needs it.

use std::cell::RefCell;
use std::ffi::{c_char, c_void};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use compress_core::codec::Dictionary;
use nginx_sys::{ngx_command_t, ngx_conf_t};
use ngx::core::{NGX_CONF_ERROR, NGX_CONF_OK};

use super::{LocConf, MainConf};
use crate::ngx::Failed;
use crate::ngx::conf::{Kept, arguments, error, error_of_system, full_name, main_conf_of, refused, warn};

/// The dictionaries of a configuration.
pub type Dictionaries = Kept<RefCell<Vec<DictFile>>>;

/// A dictionary that a directive names.
pub struct DictFile {
    path: PathBuf,
    bytes: Vec<u8>,
    digests: Vec<(i32, Kept<Dictionary>)>,
}

/// What a level of the configuration says.
#[derive(Clone, Copy)]
pub enum DictConf {
    /// `off`.
    Off,
    /// The file with this place in [`Dictionaries`].
    File(usize),
}

/// The path of a dictionary, or `off`.
pub unsafe extern "C" fn set_dict_file(
    cf: *mut ngx_conf_t,
    _: *mut ngx_command_t,
    conf: *mut c_void,
) -> *mut c_char {
    // SAFETY: NGINX calls with the location's configuration, in the `http` block.
    unsafe {
        let conf = &mut *conf.cast::<LocConf>();
        if conf.dict_file.is_some() {
            return refused(super::directives::DUPLICATE);
        }
        let name = &mut arguments(cf)[1];
        if name.as_bytes() == b"off" {
            conf.dict_file = Some(DictConf::Off);
            return NGX_CONF_OK;
        }
        let Ok(path) = full_name(cf, name) else { return NGX_CONF_ERROR };
        match find(cf, path) {
            Ok(index) => conf.dict_file = Some(DictConf::File(index)),
            Err(Failed) => return NGX_CONF_ERROR,
        }
    }
    NGX_CONF_OK
}

/// The place of a file, which is read if it was not.
///
/// # Safety
/// `cf` is that of a directive in the `http` block.
unsafe fn find(cf: *mut ngx_conf_t, path: PathBuf) -> Result<usize, Failed> {
    // SAFETY: the caller vouches for `cf`.
    let dictionaries = unsafe { dictionaries(cf) }?;
    let mut files = dictionaries.get().borrow_mut();
    if let Some(index) = files.iter().position(|file| file.path == path) {
        return Ok(index);
    }
    // SAFETY: as above.
    let bytes = unsafe { read(cf, &path) }?;
    // Whether it is malformed depends on no level, and here NGINX can name the line.
    // SAFETY: as above.
    unsafe { new(cf, &path, &bytes, 1) }?;
    if files.is_empty() {
        let words =
            "\"zstd_dict_file\" directive: only clients that hold the dictionary can decode the responses";
        // SAFETY: as above.
        unsafe { warn(cf, words) };
    }
    files.push(DictFile { path, bytes, digests: Vec::new() });
    Ok(files.len() - 1)
}

/// # Safety
/// As [`find`].
unsafe fn dictionaries(cf: *mut ngx_conf_t) -> Result<Dictionaries, Failed> {
    // SAFETY: the caller vouches for `cf`.
    unsafe {
        let main = main_conf_of::<MainConf>(cf);
        let dictionaries = match main.dictionaries {
            Some(dictionaries) => dictionaries,
            None => Kept::new(cf, RefCell::default())?,
        };
        main.dictionaries = Some(dictionaries);
        Ok(dictionaries)
    }
}

/// # Safety
/// As [`find`].
unsafe fn read(cf: *mut ngx_conf_t, path: &Path) -> Result<Vec<u8>, Failed> {
    let mut bytes = Vec::new();
    let done = File::open(path)
        .map_err(|error| ("open", error))
        .and_then(|mut file| file.read_to_end(&mut bytes).map_err(|error| ("read", error)));
    done.map(|_| bytes).map_err(|(call, error)| {
        // SAFETY: the caller vouches for `cf`.
        unsafe { error_of_system(cf, &error, format_args!("{call}() \"{}\" failed", path.display())) };
        Failed
    })
}

/// # Safety
/// As [`find`].
unsafe fn new(cf: *mut ngx_conf_t, path: &Path, bytes: &[u8], level: i32) -> Result<Dictionary, Failed> {
    Dictionary::new(bytes, level).map_err(|words| {
        let path = path.display();
        // SAFETY: the caller vouches for `cf`.
        unsafe { error(cf, format_args!("\"zstd_dict_file\" directive: dictionary \"{path}\" {words}")) };
        Failed
    })
}

/// The dictionary of a location, digested for its level.
///
/// # Safety
/// `cf` is the configuration whose locations are being merged.
pub unsafe fn digest(
    cf: *mut ngx_conf_t,
    conf: Option<DictConf>,
    level: i32,
) -> Result<Option<Kept<Dictionary>>, Failed> {
    let Some(DictConf::File(index)) = conf else { return Ok(None) };
    // SAFETY: the caller vouches for `cf`.
    let dictionaries = unsafe { dictionaries(cf) }?;
    let mut files = dictionaries.get().borrow_mut();
    let DictFile { path, bytes, digests } = files.get_mut(index).ok_or(Failed)?;
    if let Some((_, digest)) = digests.iter().find(|(of, _)| *of == level) {
        return Ok(Some(*digest));
    }
    // SAFETY: as above.
    let dictionary = unsafe { new(cf, path, bytes, level) }?;
    // SAFETY: as above; the locations that get it are of the same configuration.
    let digest = unsafe { Kept::new(cf, dictionary) }?;
    digests.push((level, digest));
    Ok(Some(digest))
}

/// Frees what is of no use once all locations are merged.
pub fn forget_files(main: &MainConf) {
    if let Some(dictionaries) = main.dictionaries {
        dictionaries.get().take();
    }
}
