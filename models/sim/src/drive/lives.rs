//! The processes of a run: they begin, they are ended, and they begin anew.

use std::io;
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::Duration;

use super::face;
use super::pod;
use super::process::{CERTIFICATES, Process, filled, last_line};
use super::run::Runner;
use crate::simulation::trace::What;

/// How long a new process takes to begin.
pub(super) const RESTART: Duration = Duration::from_millis(200);
/// How often a process may end by itself in a run.
const ENDS: u32 = 5;

/// One process of a run, while it lives and between its lives.
#[derive(Debug, Default)]
pub(super) struct Life {
    pub(super) process: Option<Process>,
    /// The former one, which is being ended.
    ending: Option<JoinHandle<()>>,
    /// When the next one begins.
    begins: Duration,
    /// When this one has begun.
    pub(super) begun: Duration,
    /// How often it has ended by itself.
    ends: u32,
}

impl Runner<'_> {
    fn name(&self, index: usize, text: &str) -> String {
        match self.lives.len() {
            1 => text.to_owned(),
            _ => format!("{} {text}", self.setting.programs[index].0),
        }
    }

    pub(super) fn note(&self, index: usize, text: &str) {
        let mut world = self.lock();
        world.outside.current = index;
        world.outside.note(What::Life { text: text.to_owned() });
    }

    /// Ends the processes that are to die, and those that have ended by themselves. Why that is the end of
    /// the run, if it is.
    pub(super) fn bury(&mut self, now: Duration) -> Option<String> {
        for index in 0..self.lives.len() {
            let is_dying = self.lock().callers[index].is_dying;
            let Some(process) = self.lives[index].process.as_mut() else { continue };
            if is_dying {
                self.end(index, now, RESTART);
                self.note(index, "dies");
            } else if let Some(status) = process.ended() {
                self.end(index, now, RESTART * (1 << self.lives[index].ends.min(4)));
                self.lives[index].ends += 1;
                let text = match status.as_str() {
                    "" => "ends by itself".to_owned(),
                    status => format!("ends by itself with {status}"),
                };
                self.note(index, &text);
                let text = self.name(index, &text);
                let says = last_line(&self.output(index));
                if !status.is_empty() && self.exits.is_empty() {
                    self.exits.push(format!("it {text}; the last line of its output: {says}"));
                }
                if self.lives[index].ends >= ENDS {
                    return Some(format!("{text}, {ENDS} times: {says}"));
                }
            }
        }
        let is_endless = self.lock().outside.is_endless();
        is_endless.then(|| "sends requests without end: a hot loop".to_owned())
    }

    /// Ends a process; the next one begins later.
    pub(super) fn end(&mut self, index: usize, now: Duration, later: Duration) {
        if let Some(process) = self.lives[index].process.take() {
            self.measure(&process);
            self.lives[index].ending = Some(process.end());
        }
        let mut world = self.lock();
        world.bury(index);
        world.outside.last_change = now;
        self.lives[index].begins = now + later;
        self.active = self.active.max(now);
    }

    pub(super) fn measure(&mut self, process: &Process) {
        let used = process.used();
        self.used.memory = self.used.memory.max(used.memory);
        self.used.time += used.time;
    }

    fn output(&self, index: usize) -> PathBuf {
        self.folder.join(format!("{}.log", self.setting.programs[index].0))
    }

    /// Begins the processes whose time has come.
    pub(super) fn begin(&mut self, now: Duration, address: std::net::SocketAddr) -> io::Result<()> {
        for index in 0..self.lives.len() {
            let life = &mut self.lives[index];
            let is_ending = life.ending.as_ref().is_some_and(|it| !it.is_finished());
            if life.process.is_some() || is_ending || life.begins > now {
                continue;
            }
            let (name, command) = &self.setting.programs[index];
            let token = self.setting.token();
            let kubeconfig = self.folder.join(format!("{name}.kubeconfig"));
            face::kubeconfig(&kubeconfig, address, &self.setting.tls, &token)?;
            let (folder, certificates) = (&self.folder, &self.setting.certificates);
            let places =
                [("{kubeconfig}", &kubeconfig), ("{dir}", folder), (CERTIFICATES, certificates)];
            let mut command = filled(command, &places, &mut self.ports)?;
            let program = command[0].clone();
            let failed = |error| io::Error::other(format!("{program} cannot be started: {error}"));
            if let Some(namespace) = &self.setting.pod {
                pod::found(&program).map_err(failed)?;
                let at = self.folder.join(format!("{name}.pod"));
                command = pod::inside(command, &at, (&self.setting.tls, &token, namespace))?;
            }
            let mut world = self.lock();
            let caller = &mut world.callers[index];
            (caller.token, caller.requests) = (token.clone(), 0);
            caller.watched.clear();
            drop(world);
            self.note(index, "begins");
            let pod = self.setting.pod.is_some().then_some(address);
            let process = Process::start(&command, (&kubeconfig, pod), &self.output(index), token);
            self.lives[index].process = Some(process.map_err(failed)?);
            self.lives[index].begun = now;
        }
        Ok(())
    }

    /// Ends all processes: nothing is left of a run that is over.
    pub(super) fn finish(&mut self) {
        let processes: Vec<_> = self.lives.iter_mut().filter_map(|it| it.process.take()).collect();
        processes.iter().for_each(|it| self.measure(it));
        let ending: Vec<_> = processes.into_iter().map(Process::end).collect();
        let former = self.lives.iter_mut().filter_map(|it| it.ending.take());
        former.chain(ending).for_each(|it| drop(it.join()));
    }
}
