#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| compress_core_fuzz::segments::zstd(data));
