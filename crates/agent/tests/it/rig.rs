use std::sync::Arc;
use std::time::Duration;

use pilothouse_agent::launch::{Command, Environment};
use pilothouse_agent::{Agent, Finish, Options};
use pilothouse_link::{Connect, Event, Events, Handle, Host, Inbound, Transport};
use pilothouse_model::{ApiConfig, MessagesApi, Model};
use pilothouse_proto::control::HostRequest;
use pilothouse_proto::{AgentFrame, Content, HostFrame, Opt, TurnResult, User, decode};
use pilothouse_testkit::{Api, Sandbox, Turn};
use serde_json::{Value, json};

/// How long anything may take before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// An agent in a throw-away home, and the host that drives it. The host allows whatever it is asked.
pub(crate) struct Rig {
    pub(crate) api: Api,
    pub(crate) host: Handle<Host>,
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) events: Events<AgentFrame>,
    agent: Agent,
}

impl Rig {
    pub(crate) fn new(flags: &[&str], script: Vec<Turn>) -> Self {
        Self::in_home(Arc::new(Sandbox::new().unwrap()), flags, script)
    }

    pub(crate) fn in_home(sandbox: Arc<Sandbox>, flags: &[&str], script: Vec<Turn>) -> Self {
        let allow = |inbound: Inbound<Host>| inbound.responder.success(&json!({"behavior": "allow"}));
        Self::with_host(sandbox, flags, script, allow)
    }

    /// With a host that answers as it likes.
    pub(crate) fn with_host(
        sandbox: Arc<Sandbox>,
        flags: &[&str],
        script: Vec<Turn>,
        answer: impl Fn(Inbound<Host>) + Send + Sync + 'static,
    ) -> Self {
        Self::with_model(sandbox, flags, script, answer, |config| Arc::new(MessagesApi::new(config)))
    }

    /// With a model of its own, which may ask the API.
    pub(crate) fn with_model(
        sandbox: Arc<Sandbox>,
        flags: &[&str],
        script: Vec<Turn>,
        answer: impl Fn(Inbound<Host>) + Send + Sync + 'static,
        model: impl FnOnce(ApiConfig) -> Arc<dyn Model>,
    ) -> Self {
        let api = Api::script(script).unwrap();
        let mut env: Environment = sandbox.env(&api.url()).into_iter().collect();
        env.set("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", "1");
        let line =
            "--output-format stream-json --input-format stream-json --verbose --permission-prompt-tool stdio";
        let tokens = line.split(' ').chain(flags.iter().copied());
        let Ok(Command::Run(launch)) = Command::read(tokens, sandbox.project(), env.clone()) else {
            panic!("the flags are refused: {flags:?}");
        };
        let (here, there) = Transport::memory();
        let config = ApiConfig::from_env(|name| env.get(name).map(str::to_owned));
        let agent = Agent::start(*launch, there, model(config), Options::default());
        let (host, events) = Connect::<Host>::new().serve(answer).over(here);
        Self { api, host, sandbox, events, agent }
    }

    pub(crate) async fn say(&self, content: impl Into<Content>) {
        self.host.send(&HostFrame::User(Box::new(User::prompt(content)))).await.unwrap();
    }

    /// Says something under an id.
    pub(crate) async fn say_as(&self, text: &str, uuid: &str) {
        let user = User { uuid: Opt::Some(uuid.into()), ..User::prompt(text) };
        self.host.send(&HostFrame::User(Box::new(user))).await.unwrap();
    }

    /// Everything up to the next result, and the result.
    pub(crate) async fn turn(&mut self) -> (Vec<AgentFrame>, TurnResult) {
        let mut frames = Vec::new();
        let heard = async {
            loop {
                match self.events.next().await.expect("the agent goes on") {
                    Event::Frame { frame: AgentFrame::Result(result), .. } => return *result,
                    Event::Frame { frame, .. } => frames.push(frame),
                    other => panic!("{other:?}"),
                }
            }
        };
        let result = tokio::time::timeout(PATIENCE, heard).await.expect("a result in time");
        (frames, result)
    }

    /// Says something and gives the text of the result.
    pub(crate) async fn ask(&mut self, content: impl Into<Content>) -> String {
        self.say(content).await;
        let (_, result) = self.turn().await;
        result.result.as_ref().cloned().unwrap_or_default()
    }

    /// Asks the agent something, as a host writes it, and gives the payload of the answer or the error.
    pub(crate) async fn ctl(&self, request: Value) -> Result<Value, String> {
        let request: HostRequest = decode(request.to_string().as_bytes()).unwrap();
        let reply = self.host.ask("ctl", request, Some(PATIENCE)).await.map_err(|error| error.to_string())?;
        Ok(reply.payload().unwrap_or_default())
    }

    pub(crate) async fn finish(self) -> Finish {
        self.host.end_input();
        tokio::time::timeout(PATIENCE, self.agent.finished()).await.expect("an end in time")
    }

    /// The bodies of the requests that the API got, in order.
    pub(crate) fn asked(&self) -> Vec<Value> {
        self.api.calls().into_iter().map(|call| call.body).collect()
    }
}
