//! WebFetch over https: a page behind a certificate that the owner of the machine trusts, and one behind one that is not.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pilothouse_testkit::Sandbox;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::scripted;

const SCRIPT: &str = r#"
[[turn]]
when = { side = "web_fetch" }
say = "{{user}}"

[[turn]]
when = { user_matches = 'fetch (?<url>\S+)' }
calls = [{ tool = "WebFetch", input = { url = "{{url}}", prompt = "what does it say?" } }]

[[turn]]
say = "{{tool.result}}"
"#;

const PAGE: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 42\r\nConnection: close\r\n\r\n\
                    <html><body><h1>Harbour</h1></body></html>";

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../bridge/tests/fixtures")).join(name)
}

/// Serves one page for ever, and gives the port.
async fn serve() -> u16 {
    let certificate = CertificateDer::from_pem_file(fixture("localhost.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(fixture("localhost.key.pem")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // A client that does not trust the certificate goes away in the middle of the handshake.
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut asked = [0; 2048];
            let _ = stream.read(&mut asked).await;
            let _ = stream.write_all(PAGE.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
    });
    port
}

#[tokio::test]
async fn a_page_behind_a_trusted_certificate_is_read_and_no_other() {
    let port = serve().await;
    // (whether the certificate is trusted, what the model is told)
    for (trusted, told) in [(true, "# Harbour"), (false, "certificate")] {
        let sandbox = Sandbox::new().unwrap();
        let mut options = scripted(&sandbox, SCRIPT).allow_tools(["WebFetch"]);
        if trusted {
            options = options.env("SSL_CERT_FILE", fixture("localhost.pem").to_string_lossy());
        }
        let session = options.connect().await.unwrap();
        let turn = session.send(format!("fetch https://localhost:{port}/").as_str()).await.unwrap();
        let result =
            tokio::time::timeout(Duration::from_secs(60), turn.into_future()).await.unwrap().unwrap();
        assert!(result.text().contains(told), "{told}: {}", result.text());
        session.close().await;
    }
}
