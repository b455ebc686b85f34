//! A real server process, and the smallest client that can talk to it.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use aduana::frontier::layout;
use aduana::pagedb::{PageDb, Snapshot};

/// Far more than anything here takes, on any machine.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Limits off: these tests are about loss, and want every page at once.
pub const SETTINGS: [&str; 9] = [
    "serve",
    "--port=0",
    "--page-db-path=db",
    "--soft-crawl-limit=inf",
    "--hard-crawl-limit=inf",
    "--seeds=seeds.txt",
    "--max-reqs=100000",
    "--lease-seconds=86400",
    "--log-level=info",
];

/// Killed when it is dropped.
pub struct Server {
    child: Child,
    address: String,
    dir: PathBuf,
}

pub fn command(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_aduana"));
    command.args(SETTINGS).current_dir(dir).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

impl Server {
    /// Starts a server and waits until it listens, that is, until it has applied what the log held.
    pub fn start(dir: &Path) -> Server {
        Server::spawn(dir, command(dir))
    }

    pub fn spawn(dir: &Path, mut command: Command) -> Server {
        let mut child = command.spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let mut seen = String::new();
        let found = log.find_map(|line| {
            let address = line.split_once("listening on http://").map(|(_, rest)| rest.trim().to_owned());
            seen += &(line + "\n");
            address
        });
        // The pipe must not fill.
        std::thread::spawn(move || log.for_each(drop));
        let Some(address) = found else { panic!("the server does not start:\n{seen}") };
        Server { child, address, dir: dir.to_owned() }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// SIGKILL, if it is not dead already.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn is_alive(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    pub fn connect(&self) -> io::Result<Connection> {
        let stream = TcpStream::connect(&self.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Connection { stream: BufReader::new(stream) })
    }

    pub fn get(&self, path: &str) -> (u16, String) {
        self.connect().unwrap().get(path).unwrap()
    }

    /// A look into the tables of the running server.
    pub fn tables(&self) -> Tables {
        Tables(PageDb::open_read_only(&self.dir.join("db").join(layout::PAGES)).unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has ended already after `kill`.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The tables of a database, opened for reading.
pub struct Tables(PageDb);

impl Tables {
    pub fn snapshot(&self) -> Snapshot {
        self.0.snapshot().unwrap()
    }
}

/// One HTTP/1.1 connection.
pub struct Connection {
    stream: BufReader<TcpStream>,
}

impl Connection {
    pub fn get(&mut self, path: &str) -> io::Result<(u16, String)> {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"))
    }

    pub fn post(&mut self, media: &str, body: &str) -> io::Result<(u16, String)> {
        self.post_to("/crawled", media, body)
    }

    pub fn post_to(&mut self, path: &str, media: &str, body: &str) -> io::Result<(u16, String)> {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {media}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        self.send(&(head + body))
    }

    fn send(&mut self, request: &str) -> io::Result<(u16, String)> {
        self.stream.get_mut().write_all(request.as_bytes())?;
        let status = self.line()?;
        let code = status.split(' ').nth(1).and_then(|code| code.parse().ok());
        let code = code.ok_or_else(|| io::Error::other(format!("no status: {status:?}")))?;
        let mut length = 0;
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().map_err(io::Error::other)?;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok((code, String::from_utf8(body).map_err(io::Error::other)?))
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }
}
