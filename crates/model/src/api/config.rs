use std::fmt;
use std::time::Duration;

const DEFAULT_BASE_URL: &str = "https://api.anthropic.com";
const DEFAULT_RETRIES: u32 = 10;
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);

/// How the API is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiConfig {
    /// Where it is, without `/v1/messages`.
    pub base_url: String,
    /// What the caller shows; without it nothing is sent at all.
    pub credentials: Option<Credentials>,
    /// Headers added to each request.
    pub headers: Vec<(String, String)>,
    /// Beta features added to those of each request.
    pub betas: Vec<String>,
    /// How often a failed request is tried again.
    pub max_retries: u32,
    /// How long the first byte of an answer may take.
    pub first_byte_timeout: Duration,
    /// How long the stream may be silent after that; the API sends pings.
    pub idle_timeout: Duration,
    /// Whether to mark what the API should cache.
    pub prompt_caching: bool,
    /// What the program calls itself.
    pub user_agent: String,
}

/// What the caller shows to the API.
#[derive(Clone, PartialEq, Eq)]
pub enum Credentials {
    /// A key.
    ApiKey(String),
    /// A token.
    AuthToken(String),
    /// The token of a login.
    OauthToken(String),
}

impl ApiConfig {
    /// Reads the variables that the real CLI reads; the function looks one up.
    ///
    /// ```
    /// use pilothouse_model::{ApiConfig, Credentials};
    ///
    /// let config = ApiConfig::from_env(|name| (name == "ANTHROPIC_API_KEY").then(|| "sk-1".to_owned()));
    /// assert_eq!(config.credentials, Some(Credentials::ApiKey("sk-1".to_owned())));
    /// assert_eq!(config.max_retries, 10);
    /// ```
    pub fn from_env(variable: impl Fn(&str) -> Option<String>) -> Self {
        let given = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let millis =
            |name: &str| given(name).and_then(|value| value.trim().parse().ok()).map(Duration::from_millis);
        let timeout = millis("API_TIMEOUT_MS").unwrap_or(DEFAULT_TIMEOUT);
        Self {
            base_url: given("ANTHROPIC_BASE_URL").map_or_else(
                || DEFAULT_BASE_URL.to_owned(),
                |url| url.trim().trim_end_matches('/').to_owned(),
            ),
            credentials: given("ANTHROPIC_AUTH_TOKEN")
                .map(Credentials::AuthToken)
                .or_else(|| given("ANTHROPIC_API_KEY").map(Credentials::ApiKey))
                .or_else(|| given("CLAUDE_CODE_OAUTH_TOKEN").map(Credentials::OauthToken)),
            headers: given("ANTHROPIC_CUSTOM_HEADERS").map(|lines| headers(&lines)).unwrap_or_default(),
            betas: given("ANTHROPIC_BETAS").map(|list| betas(&list)).unwrap_or_default(),
            max_retries: given("CLAUDE_CODE_MAX_RETRIES")
                .and_then(|value| value.trim().parse().ok())
                .unwrap_or(DEFAULT_RETRIES),
            first_byte_timeout: millis("CLAUDE_STREAM_FIRST_BYTE_TIMEOUT_MS").unwrap_or(timeout),
            idle_timeout: timeout,
            prompt_caching: given("DISABLE_PROMPT_CACHING")
                .is_none_or(|value| matches!(value.as_str(), "0" | "false")),
            user_agent: concat!("pilothouse-agent/", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }

    /// Whether this is some other place than the API's own.
    pub(crate) fn gateway(&self) -> Option<&str> {
        if self.base_url == DEFAULT_BASE_URL {
            return None;
        }
        let after_scheme = self.base_url.split_once("://").map_or(self.base_url.as_str(), |(_, rest)| rest);
        let host = after_scheme.split('/').next().unwrap_or_default();
        Some(host.rsplit_once('@').map_or(host, |(_, host)| host))
    }
}

fn headers(lines: &str) -> Vec<(String, String)> {
    let pair = |line: &str| {
        line.split_once(':').map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
    };
    lines.lines().filter_map(pair).filter(|(name, _)| !name.is_empty()).collect()
}

fn betas(list: &str) -> Vec<String> {
    list.split(',').map(str::trim).filter(|beta| !beta.is_empty()).map(str::to_owned).collect()
}

/// Secrets do not belong into logs.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ApiKey(_) => "ApiKey(…)",
            Self::AuthToken(_) => "AuthToken(…)",
            Self::OauthToken(_) => "OauthToken(…)",
        })
    }
}
