//! The program as a script runs it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Output, Stdio};

/// The binary as a running server. Killed when the test is over, whatever happened.
pub(crate) struct Server {
    child: Child,
    stdout: BufReader<ChildStdout>,
    stderr: BufReader<ChildStderr>,
    pub(crate) address: String,
}

impl Server {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_on("127.0.0.1:0", arguments)
    }

    pub(crate) fn start_on(listen: &str, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_zoolab"))
            .args(["serve", "--listen", listen])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let address = line.strip_prefix("zoolab: serving on ").expect(&line).trim_end().to_owned();
        Self { child, stdout, stderr, address }
    }

    pub(crate) fn dial(&self) -> TcpStream {
        TcpStream::connect(&self.address).unwrap()
    }

    pub(crate) fn word(&self, letters: &str) -> String {
        let mut stream = self.dial();
        stream.write_all(letters.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Ends it as the machine would: without a word. Once is enough.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for it to end by itself; returns what [`signal`](Self::signal) does.
    pub(crate) fn ended(mut self) -> (Option<i32>, String, String) {
        self.outcome()
    }

    /// Sends a signal and returns the exit code, the rest of standard output, and the log.
    pub(crate) fn signal(mut self, name: &str) -> (Option<i32>, String, String) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
        self.outcome()
    }

    fn outcome(&mut self) -> (Option<i32>, String, String) {
        let code = self.child.wait().unwrap().code();
        let (mut out, mut log) = (String::new(), String::new());
        self.stdout.read_to_string(&mut out).unwrap();
        self.stderr.read_to_string(&mut log).unwrap();
        (code, out, log)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_zoolab")).args(arguments).output().unwrap()
}

/// What it complains about, having checked that it does so in one line and with exit code 2.
pub(crate) fn complaint(arguments: &[&str]) -> String {
    complained(&run(arguments))
}

fn complained(output: &Output) -> String {
    let stderr = std::str::from_utf8(&output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(output.stdout.is_empty());
    only_line(stderr).to_owned()
}

/// The one line that is all there is on standard error, without the name of the program.
pub(crate) fn only_line(stderr: &str) -> &str {
    let line = stderr.strip_suffix('\n').expect(stderr);
    assert!(!line.contains('\n'), "{stderr}");
    line.strip_prefix("zoolab: ").expect(line)
}

/// A folder of its own to be in, so that names are short and the same everywhere.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// An empty one.
    pub(crate) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli").join(name);
        if path.exists() {
            fs::remove_dir_all(&path).unwrap();
        }
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.0.join(name)).unwrap()
    }

    /// The program in this folder, with what a person would type after its name.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zoolab"));
        command.current_dir(&self.0).args(line.split(' '));
        command
    }

    /// What it prints when all goes well.
    pub(crate) fn held(&self, line: &str) -> String {
        self.ends(line, 0)
    }

    /// What it prints when a promise is broken.
    pub(crate) fn failed(&self, line: &str) -> String {
        self.ends(line, 1)
    }

    fn ends(&self, line: &str, code: i32) -> String {
        let output = self.command(line).output().unwrap();
        let (stdout, stderr) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!(output.status.code(), Some(code), "{line}: {stdout}{stderr}");
        assert_eq!(stderr, "", "{line}");
        stdout
    }

    /// See [`complaint`].
    pub(crate) fn complaint(&self, line: &str) -> String {
        complained(&self.command(line).output().unwrap())
    }
}

/// The rest of the line that begins like this.
pub(crate) fn after<'a>(text: &'a str, start: &str) -> &'a str {
    text.lines().find_map(|line| line.strip_prefix(start)).expect(text)
}
