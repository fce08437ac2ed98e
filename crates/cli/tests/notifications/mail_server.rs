//! A real SMTP server, in Python.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tokio::sync::watch;

use crate::common::python::python_with;

const AIOSMTPD: &str = "aiosmtpd==1.4.6";

#[derive(Debug)]
pub(crate) struct MailServer {
    child: Child,
    pub(crate) port: u64,
    mails: watch::Sender<Vec<Value>>,
}

impl MailServer {
    pub(crate) fn start(args: &[&str]) -> MailServer {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/notifications/smtpd.py");
        let mut command = Command::new(python_with(&[AIOSMTPD]));
        command.arg("-W").arg("ignore").arg(script).args(args).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the mail server runs");
        let mut lines =
            BufReader::new(child.stdout.take().expect("stdout is piped")).lines().map_while(Result::ok);
        let port = lines.next().and_then(|line| line.parse().ok()).expect("it says where it listens");
        let mails: watch::Sender<Vec<Value>> = watch::Sender::default();
        let heard = mails.clone();
        std::thread::spawn(move || {
            for line in lines {
                let mail = serde_json::from_str(&line).expect("it says each mail as JSON");
                heard.send_modify(|mails| mails.push(mail));
            }
        });
        MailServer { child, port, mails }
    }

    pub(crate) fn mails(&self) -> Vec<Value> {
        self.mails.borrow().clone()
    }

    /// Waits for so many mails.
    pub(crate) async fn until(&self, count: usize) -> Vec<Value> {
        let mut mails = self.mails.subscribe();
        let come = mails.wait_for(|mails| mails.len() >= count);
        let come = tokio::time::timeout(crate::notifications::deliveries::PATIENCE, come).await;
        come.expect("the mails come in time").expect("somebody listens").clone()
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
