//! A headless Chromium, driven over the DevTools protocol.
//!
//! The two talk through pipes (Chromium's `--remote-debugging-pipe`): messages are JSON, each ended
//! by a zero byte. There is no port to find and no library to keep in step with the browser.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};
use std::{env, fs, thread};
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_secs(60);
const FLAGS: [&str; 13] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-color-profile=srgb",
    "--remote-debugging-pipe",
];
/// Browsers are large: one at a time.
static TURN: Mutex<()> = Mutex::new(());

/// A browser with one page.
pub(crate) struct Chromium {
    child: Child,
    requests: Option<ChildStdin>,
    messages: Receiver<Value>,
    session: Option<String>,
    last_id: u64,
    /// What the page reported since it was opened, in order.
    pub(crate) events: Vec<Value>,
    profile: TempDir,
    _turn: MutexGuard<'static, ()>,
}

/// The browser's executable.
///
/// # Panics
/// If there is none, as reports are not tested without.
fn executable() -> PathBuf {
    let wanted = env::var_os("WARPLINE_CHROMIUM").map(PathBuf::from);
    let names = wanted.clone().map_or_else(
        || ["chromium", "chromium-browser", "google-chrome"].map(PathBuf::from).to_vec(),
        |name| vec![name],
    );
    let places = env::var_os("PATH").unwrap_or_default();
    let found = names.iter().find_map(|name| {
        env::split_paths(&places).map(|place| place.join(name)).find(|path| path.is_file())
    });
    let asked = wanted
        .map_or(String::new(), |path| format!(" (WARPLINE_CHROMIUM asks for {})", path.display()));
    found.unwrap_or_else(|| {
        panic!(
            "no Chromium to look at reports with{asked}: run `make setup`, \
                                    or name one in WARPLINE_CHROMIUM"
        )
    })
}

impl Chromium {
    /// Starts a browser with a fresh profile and an empty page of the given width.
    pub(crate) fn start(width: u32) -> Self {
        let turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let profile = TempDir::new().expect("a directory for the browser's profile");
        let log = fs::File::create(profile.path().join("log")).expect("a log for the browser");
        let mut child = Command::new("sh")
            // The browser reads requests from descriptor 3 and answers on 4.
            .args(["-c", r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null"#])
            .arg(executable())
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.path().join("profile").display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("a shell to start the browser with");
        let requests = child.stdin.take();
        let answers = child.stdout.take().expect("a pipe");
        let (sender, messages) = channel();
        thread::spawn(move || {
            let parts = BufReader::new(answers).split(0);
            for message in
                parts.map_while(Result::ok).filter_map(|part| serde_json::from_slice(&part).ok())
            {
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let mut browser = Self {
            child,
            requests,
            messages,
            session: None,
            last_id: 0,
            events: Vec::new(),
            profile,
            _turn: turn,
        };
        let target =
            browser.call("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        let session = browser.call("Target.attachToTarget", json!({"targetId": target, "flatten": true}))["sessionId"].clone();
        browser.session = session.as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser.resize(width);
        browser
    }

    /// Asks for something and waits for the answer.
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.last_id += 1;
        let mut request = json!({"id": self.last_id, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            request["sessionId"] = json!(session);
        }
        let sent = self
            .requests
            .as_mut()
            .expect("open until dropped")
            .write_all(format!("{request}\0").as_bytes());
        if let Err(error) = sent {
            self.lost(method, &error.to_string());
        }
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.messages.recv_timeout(left) {
                Ok(mut answer) if answer["id"] == self.last_id => {
                    assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                    return answer["result"].take();
                }
                Ok(event) => self.events.push(event),
                Err(error) => self.lost(method, &error.to_string()),
            }
        }
    }

    fn lost(&self, method: &str, error: &str) -> ! {
        let log = fs::read_to_string(self.profile.path().join("log")).unwrap_or_default();
        panic!("the browser does not answer to {method} ({error}); it says:\n{log}");
    }

    /// The value of an expression in the page; promises are waited for.
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let parameters =
            json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut answer = self.call("Runtime.evaluate", parameters);
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {}",
            answer["exceptionDetails"]
        );
        answer["result"]["value"].take()
    }

    /// Opens a file and waits until its scripts have done their work.
    pub(crate) fn open(&mut self, file: &Path) {
        self.events.clear();
        self.call("Page.navigate", json!({"url": format!("file://{}", file.display())}));
        self.wait_for("location.protocol === 'file:' && document.readyState === 'complete'");
    }

    /// Waits until an expression is true.
    pub(crate) fn wait_for(&mut self, expression: &str) {
        let deadline = Instant::now() + PATIENCE;
        while self.eval(expression) != json!(true) {
            assert!(
                Instant::now() < deadline,
                "never came true: {expression}; the page reports: {:#?}",
                self.complaints()
            );
            thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn resize(&mut self, width: u32) {
        let metrics =
            json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600});
        self.call("Emulation.setDeviceMetricsOverride", metrics);
    }

    /// `light` or `dark`.
    pub(crate) fn prefer(&mut self, scheme: &str) {
        self.call(
            "Emulation.setEmulatedMedia",
            json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]}),
        );
    }

    /// Presses and releases a key, such as `Enter`.
    pub(crate) fn press(&mut self, key: &str, code: u32, text: &str) {
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            self.call(
                "Input.dispatchKeyEvent",
                json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text}),
            );
        }
    }

    /// Errors and warnings of the page since it was opened, and whatever it wrote to the console.
    pub(crate) fn complaints(&self) -> Vec<&Value> {
        let loud = [
            "Runtime.exceptionThrown",
            "Runtime.consoleAPICalled",
            "Log.entryAdded",
            "Page.javascriptDialogOpening",
        ];
        self.events
            .iter()
            .filter(|event| loud.contains(&event["method"].as_str().unwrap_or_default()))
            .collect()
    }

    /// The addresses that the page asked for since it was opened.
    pub(crate) fn addresses(&self) -> Vec<&str> {
        let requests =
            self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        requests.filter_map(|event| event["params"]["request"]["url"].as_str()).collect()
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // A browser ends when its requests end.
        self.requests.take();
        let deadline = Instant::now() + Duration::from_secs(5);
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
