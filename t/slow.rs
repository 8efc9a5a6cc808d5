//! Many clients that read slowly all the time: memory is bounded, the worker does not spin, others are served.

use std::time::{Duration, Instant};

use harness::{Connection, TIMEOUT, corpus, get, locate, raise_descriptor_limit, wait_until};

use crate::support::{has_threads, pooled};

const CLIENTS: usize = 512;
const MIB: u64 = 1 << 20;

/// Each reads a piece of 4 KiB at most, one in four each second: about 1 KB/s.
#[test]
fn readers_at_one_kilobyte_per_second() {
    if !has_threads() || locate::is_sanitized() {
        return;
    }
    raise_descriptor_limit();
    let (large, small) = (corpus::text(20 << 20), corpus::text(300_000));
    for coding in ["br", "zstd"] {
        let nginx = pooled()
            .connections(2 * CLIENTS as u32)
            .http("brotli_comp_level 1; brotli_parallel_segment_size 256k; zstd_parallel_segment_size 256k;")
            .http("server { listen 127.0.0.1:%%PORT2%% sndbuf=16k; root %%PREFIX%%/html; }")
            .file("large.txt", large.clone())
            .file("small.txt", small.clone())
            .start();
        let pid = nginx.worker_pid();
        let base = nginx.worker().vm_rss();
        let mut readers: Vec<_> = (0..CLIENTS)
            .map(|_| {
                let mut reader = Connection::connect_with_buffer(nginx.port_of("PORT2"), 4096).unwrap();
                reader.send_request("GET", "/large.txt", &[("Accept-Encoding", coding)]).unwrap();
                reader
            })
            .collect();
        for reader in &mut readers {
            assert_eq!(reader.read_head("GET").unwrap().coding(), coding);
        }
        for round in 0..8 {
            let end = Instant::now() + Duration::from_secs(1);
            for reader in readers.iter_mut().skip(round % 4).step_by(4) {
                assert!(reader.read_piece().unwrap().is_some());
            }
            assert!(get(&nginx, "/small.txt").accept(coding).send().decoded().unwrap() == small);
            std::thread::sleep(end.saturating_duration_since(Instant::now()));
        }
        // What threads and clients need, as in `memory.rs`.
        let bound = base + 32 * MIB + CLIENTS as u64 * (300 << 10);
        println!("{coding}: {} MiB of {} MiB", nginx.vm_hwm() / MIB, bound / MIB);
        assert!(nginx.vm_hwm() <= bound, "{coding}: {} bytes, more than {bound}", nginx.vm_hwm());
        // Nobody reads now: once what they took is made up for, there is nothing to do. A worker that spins never rests.
        wait_until(TIMEOUT, || {
            let before = nginx.cpu_time();
            std::thread::sleep(Duration::from_millis(500));
            nginx.cpu_time() - before <= Duration::from_millis(20)
        });
        assert_eq!(nginx.worker_pid(), pid);
    }
}
