//! A certificate for tests.

use std::process::Command;
use std::sync::OnceLock;

/// A certificate and its key, as PEM text.
#[derive(Debug)]
pub struct Identity {
    /// Self-signed, for `localhost` and 127.0.0.1.
    pub certificate: Vec<u8>,
    /// The private key.
    pub key: Vec<u8>,
}

/// The certificate of all tests of this process, made by the `openssl` program.
pub fn identity() -> &'static Identity {
    static IDENTITY: OnceLock<Identity> = OnceLock::new();
    IDENTITY.get_or_init(|| {
        let dir = tempfile::tempdir().expect("making a temporary directory");
        let output = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"])
            .args(["-days", "30", "-subj", "/CN=localhost", "-keyout", "tls.key", "-out", "tls.crt"])
            .args(["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"])
            // Some clients take no other as a server's.
            .args(["-addext", "basicConstraints=critical,CA:FALSE"])
            .current_dir(dir.path())
            .output()
            .expect("running openssl");
        assert!(output.status.success(), "openssl req: {}", String::from_utf8_lossy(&output.stderr));
        let read = |name| std::fs::read(dir.path().join(name)).expect("reading what openssl wrote");
        Identity { certificate: read("tls.crt"), key: read("tls.key") }
    })
}
