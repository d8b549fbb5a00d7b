use std::sync::OnceLock;
use std::time::Duration;

use super::occasion::Occasion;

/// More than this is nobody's answer.
const LARGEST_ANSWER: usize = 1 << 20;

/// Posts the occasion as JSON to a URL and gives the body of the answer.
///
/// # Errors
/// Why there is no answer, in a few words.
pub(crate) async fn post(
    url: &str,
    headers: &[(String, String)],
    occasion: &Occasion,
    timeout: Duration,
) -> Result<String, String> {
    let body = serde_json::to_vec(&occasion.input).map_err(|error| error.to_string())?;
    let mut request = client()?.post(url).header("content-type", "application/json").body(body);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let answer = async {
        let mut response = request.send().await.map_err(|error| error.to_string())?;
        if !response.status().is_success() {
            return Err(format!("the server answered {}", response.status()));
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| error.to_string())? {
            if body.len() + chunk.len() > LARGEST_ANSWER {
                return Err("the answer is too long".to_owned());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(String::from_utf8_lossy(&body).into_owned())
    };
    match tokio::time::timeout(timeout, answer).await {
        Ok(answer) => answer,
        Err(_) => Err("it took too long".to_owned()),
    }
}

/// One client for all hooks of the process, made when the first one is told. It follows no redirects: what a hook sends
/// is meant for the server that the settings name.
fn client() -> Result<&'static reqwest::Client, String> {
    static CLIENT: OnceLock<Result<reqwest::Client, String>> = OnceLock::new();
    let made = CLIENT.get_or_init(|| {
        // Someone else may have chosen a provider before; either will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
        builder.build().map_err(|error| error.to_string())
    });
    made.as_ref().map_err(Clone::clone)
}
