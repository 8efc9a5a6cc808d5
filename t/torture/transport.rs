//! Connections of clients, with and without TLS.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, LazyLock};

use harness::tls;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// A connection of either kind.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {
    /// The socket below.
    fn socket(&self) -> &TcpStream;
}

impl Stream for TcpStream {
    fn socket(&self) -> &TcpStream {
        self
    }
}

impl Stream for tokio_rustls::client::TlsStream<TcpStream> {
    fn socket(&self) -> &TcpStream {
        self.get_ref().0
    }
}

/// Connects. A small buffer for what comes makes a slow reader felt.
pub async fn connect(
    port: u16,
    small_buffer: bool,
    alpn: Option<&'static [u8]>,
) -> io::Result<Box<dyn Stream>> {
    let socket = TcpSocket::new_v4()?;
    if small_buffer {
        socket.set_recv_buffer_size(16 << 10)?;
    }
    let stream = socket.connect(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await?;
    stream.set_nodelay(true)?;
    let Some(protocol) = alpn else { return Ok(Box::new(stream)) };
    let connector = TlsConnector::from(configuration(protocol));
    let name = ServerName::try_from("localhost").expect("a name");
    Ok(Box::new(connector.connect(name, stream).await?))
}

/// Makes the end of the connection a reset.
pub fn reset_at_end(stream: &dyn Stream) {
    // If it fails the connection ends in an orderly way, which is one of the ways to leave.
    let _ = stream.socket().set_zero_linger();
}

fn configuration(protocol: &'static [u8]) -> Arc<ClientConfig> {
    static ROOTS: LazyLock<RootCertStore> = LazyLock::new(|| {
        let mut roots = RootCertStore::empty();
        let certificate =
            CertificateDer::from_pem_slice(&tls::identity().certificate).expect("a certificate");
        roots.add(certificate).expect("a certificate that signs itself");
        roots
    });
    static CONFIGURATION: LazyLock<ClientConfig> =
        LazyLock::new(|| ClientConfig::builder().with_root_certificates(ROOTS.clone()).with_no_client_auth());
    let mut configuration = CONFIGURATION.clone();
    configuration.alpn_protocols = vec![protocol.to_vec()];
    Arc::new(configuration)
}
