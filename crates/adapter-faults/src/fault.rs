use annbench_core::AdapterError;
use std::io::Write;

/// A way to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// None: an exact scan.
    None,
    /// `abort()`, as a C++ terminate would.
    Abort,
    /// A write through a null pointer.
    Segfault,
    /// A Rust panic.
    Panic,
    /// `exit(0)`: success by exit code, no answer.
    ExitZero,
    /// Sleeps for ever.
    Hang,
    /// Allocates and touches memory without end.
    EatMemory,
    /// An error, reported as one.
    LibraryError,
    /// A refusal, for what only the vectors show.
    Refusal,
    /// Bytes on the control pipe that are no frame, then the right answer.
    GarbageFrame,
    /// The first half of a frame on the control pipe, then the end.
    HalfFrame,
    /// A megabyte on what was standard output.
    StdoutMegabyte,
    /// The nearest id, k times.
    DuplicateIds,
    /// Ids that no base row has.
    IdsOutOfRange,
    /// Negative ids other than -1.
    NegativeIds,
    /// One id instead of k.
    TooFew,
    /// Three ids more than k.
    TooMany,
    /// An error that says that an allocation failed, as a C++ adapter would report it.
    AllocationError,
    /// None, after two seconds; then an abort while the index is saved.
    AbortInSave,
    /// None, after two seconds: worth saving.
    SlowBuild,
    /// A process left behind that holds the pipes and its own session.
    Grandchild,
    /// A whole reply on the control pipe, but to no request of now, then the right answer.
    StaleReply,
    /// The right answer; when the searcher is gone, one more reply.
    ExtraReply,
    /// A process left behind by a parent that has ended, which allocates without end.
    OrphanEatsMemory,
}

const ALL: [(&str, Fault); 24] = [
    ("none", Fault::None),
    ("abort", Fault::Abort),
    ("segfault", Fault::Segfault),
    ("panic", Fault::Panic),
    ("exit_zero", Fault::ExitZero),
    ("hang", Fault::Hang),
    ("eat_memory", Fault::EatMemory),
    ("library_error", Fault::LibraryError),
    ("refusal", Fault::Refusal),
    ("garbage_frame", Fault::GarbageFrame),
    ("half_frame", Fault::HalfFrame),
    ("stdout_megabyte", Fault::StdoutMegabyte),
    ("duplicate_ids", Fault::DuplicateIds),
    ("ids_out_of_range", Fault::IdsOutOfRange),
    ("negative_ids", Fault::NegativeIds),
    ("too_few", Fault::TooFew),
    ("too_many", Fault::TooMany),
    ("allocation_error", Fault::AllocationError),
    ("abort_in_save", Fault::AbortInSave),
    ("slow_build", Fault::SlowBuild),
    ("grandchild", Fault::Grandchild),
    ("stale_reply", Fault::StaleReply),
    ("extra_reply", Fault::ExtraReply),
    ("orphan_eats_memory", Fault::OrphanEatsMemory),
];

impl Fault {
    /// The words that `fault` takes in a sweep.
    pub const NAMES: [&str; ALL.len()] = {
        let mut names = [""; ALL.len()];
        let mut i = 0;
        while i < ALL.len() {
            names[i] = ALL[i].0;
            i += 1;
        }
        names
    };

    /// The fault of that name.
    pub fn parse(name: &str) -> Result<Self, String> {
        ALL.iter()
            .find(|(known, _)| *known == name)
            .map(|&(_, fault)| fault)
            .ok_or_else(|| {
                format!(
                    "parameter `fault`: expected one of {}, found {name}",
                    Self::NAMES.join(", ")
                )
            })
    }

    /// Fails, where failing is something other than a wrong answer.
    pub fn strike(self) -> Result<(), AdapterError> {
        match self {
            Fault::Abort => std::process::abort(),
            Fault::Segfault => segfault(),
            Fault::Panic => panic!("this panic was asked for"),
            // The C function, as a library would call it.
            // SAFETY: ending the process is the point.
            Fault::ExitZero => unsafe { libc::exit(0) },
            Fault::Hang => loop {
                std::thread::sleep(std::time::Duration::from_secs(3600));
            },
            Fault::EatMemory => eat_memory(),
            Fault::Refusal => {
                return Err(AdapterError::Rejected("not these vectors".to_owned()));
            }
            Fault::LibraryError => {
                return Err(AdapterError::Failed("this error was asked for".to_owned()));
            }
            Fault::GarbageFrame => write_to_control(b"\xff\xff\xff\xffthis is no frame"),
            Fault::HalfFrame => {
                write_to_control(&[200, 0, 0, 0, b'{', b'"', b'r']);
                std::process::exit(3);
            }
            Fault::StdoutMegabyte => {
                let line = [b'x'; 1024];
                for _ in 0..1024 {
                    std::io::stdout()
                        .write_all(&line)
                        .map_err(|error| AdapterError::Failed(error.to_string()))?;
                }
            }
            Fault::AllocationError => {
                return Err(AdapterError::Failed(
                    "out of memory: std::bad_alloc".to_owned(),
                ));
            }
            Fault::SlowBuild | Fault::AbortInSave => {
                std::thread::sleep(std::time::Duration::from_millis(2100))
            }
            Fault::Grandchild => leave_behind("exec sleep 600")?,
            Fault::StaleReply => {
                write_frame_to_control(br#"{"number":0,"message":{"reply":"saved","bytes":0}}"#)
            }
            Fault::OrphanEatsMemory => {
                leave_behind("tail /dev/zero >/dev/null & exit 0")?;
                std::thread::sleep(std::time::Duration::from_secs(3600));
            }
            Fault::None
            | Fault::DuplicateIds
            | Fault::IdsOutOfRange
            | Fault::NegativeIds
            | Fault::TooFew
            | Fault::TooMany
            | Fault::ExtraReply => {}
        }
        Ok(())
    }
}

/// A whole reply that nobody has asked for.
pub fn reply_unasked() {
    write_frame_to_control(br#"{"number":0,"message":{"reply":"saved","bytes":0}}"#);
}

fn segfault() {
    // SAFETY: none; the fault is the point. The address is never mapped.
    unsafe { std::ptr::without_provenance_mut::<u8>(8).write_volatile(1) };
}

fn eat_memory() -> ! {
    let mut eaten: Vec<Vec<u8>> = Vec::new();
    loop {
        eaten.push(vec![1; 4 << 20]);
        std::hint::black_box(&eaten);
    }
}

/// Finds the reply pipe among the descriptors, as only a malicious library would.
fn write_to_control(bytes: &[u8]) {
    for fd in 3..64 {
        // SAFETY: asking for the flags of a descriptor has no memory effects.
        let flags = unsafe { libc::fcntl(fd, libc::F_GETFL) };
        if flags >= 0 && flags & libc::O_ACCMODE == libc::O_WRONLY {
            // SAFETY: the slice is valid for its length.
            unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
            return;
        }
    }
}

fn write_frame_to_control(message: &[u8]) {
    let length = (message.len() as u32).to_le_bytes();
    write_to_control(&[&length[..], message].concat());
}

/// Runs `script` in a session of its own. Once per process: every later query finds it done.
fn leave_behind(script: &str) -> Result<(), AdapterError> {
    use std::os::unix::process::CommandExt;
    static LEFT: std::sync::OnceLock<Result<(), String>> = std::sync::OnceLock::new();
    LEFT.get_or_init(|| {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", script]);
        // SAFETY: setsid is async-signal-safe; it takes the child out of the worker's group.
        unsafe {
            command.pre_exec(|| {
                libc::setsid();
                Ok(())
            });
        }
        command
            .spawn()
            .map(drop)
            .map_err(|error| format!("sh: {error}"))
    })
    .clone()
    .map_err(AdapterError::Failed)
}
