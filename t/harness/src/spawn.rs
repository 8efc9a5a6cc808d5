//! Starts programs so that none outlives the tests, even if those are killed.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, OnceLock};
use std::thread;

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

type Started = io::Result<Child>;
type Job = (Command, Sender<Started>);

/// Starts `command` in a process group of its own, and has the kernel end it when this process ends.
pub(crate) fn spawn(mut command: Command) -> Started {
    command.process_group(0);
    let parent = Some(getpid());
    let tie_to_parent = move || {
        set_parent_process_death_signal(Some(Signal::TERM))?;
        // The parent may have ended before that call.
        if getppid() == parent { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    };
    // SAFETY: the closure runs between fork and exec; it makes two system calls and allocates nothing.
    unsafe {
        command.pre_exec(tie_to_parent);
    }
    let (reply, started) = channel();
    let jobs = spawner().lock().expect("no spawn panics");
    jobs.send((command, reply)).expect("the spawner runs as long as the process");
    drop(jobs);
    started.recv().expect("the spawner answers")
}

// The signal comes when the *thread* that forked ends, and a test's thread may end before its NGINX does.
fn spawner() -> &'static Mutex<Sender<Job>> {
    static SPAWNER: OnceLock<Mutex<Sender<Job>>> = OnceLock::new();
    SPAWNER.get_or_init(|| {
        let (sender, jobs) = channel::<Job>();
        thread::spawn(move || {
            for (mut command, reply) in jobs {
                let _ = reply.send(command.spawn());
            }
        });
        Mutex::new(sender)
    })
}
