//! `zoolab serve`: what it prints, how it ends, what it says when it cannot.

use std::io::{Read, Write};
use std::net::TcpListener;

use crate::program::{Server, complaint, run};

const CONNECT: &[u8; 49] = b"\0\0\0\x2d\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x75\x30\0\0\0\0\0\0\0\0\
    \0\0\0\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

#[test]
fn signals_end_it_well_while_clients_are_connected() {
    for (signal, threads) in [("-TERM", "1"), ("-INT", "1"), ("-TERM", "2")] {
        let server = Server::start(&["--threads", threads]);
        let mut client = server.dial();
        client.write_all(CONNECT).unwrap();
        let mut response = [0; 41];
        client.read_exact(&mut response).unwrap();
        // This one never says anything. It is let in before the one who asks after it.
        let mut silent = server.dial();
        assert!(server.word("srvr").contains("Mode: standalone"));
        let ends = std::thread::spawn(move || {
            let mut rest = Vec::new();
            client.read_to_end(&mut rest).unwrap();
            silent.read_to_end(&mut rest).unwrap();
            rest
        });
        let (code, out, log) = server.signal(signal);
        assert_eq!(code, Some(0), "{log}");
        assert_eq!(out, "", "one line is all there is on standard output");
        assert!(log.contains("stopped"), "{log}");
        assert_eq!(ends.join().unwrap(), b"");
    }
}

#[test]
fn it_says_at_its_start_that_nothing_is_kept() {
    let (_, _, log) = Server::start(&[]).signal("-TERM");
    assert!(log.contains("in memory"), "{log}");
    let help = String::from_utf8(run(&["serve", "--help"]).stdout).unwrap();
    assert!(help.contains("keeps everything in memory"), "{help}");
}

#[test]
fn hostile_bytes_are_in_the_log_with_what_was_expected() {
    let server = Server::start(&["--max-frame", "1000"]);
    let mut client = server.dial();
    client.write_all(&1001_i32.to_be_bytes()).unwrap();
    assert_eq!(client.read(&mut [0]).unwrap(), 0);
    let (code, _, log) = server.signal("-TERM");
    assert_eq!(code, Some(0));
    let line = log.lines().find(|line| line.contains("WARN")).expect(&log);
    assert!(line.contains("a frame of 1001 bytes where 0 to 1000 are allowed"), "{line}");
    assert!(line.contains("address=127.0.0.1:"), "{line}");
}

#[test]
fn secrets_stay_out_of_the_log() {
    let secret = "super:xQJmxLMiHGwaqBvst5y6rkB6HQs=";
    let server = Server::start(&["--super-digest", secret, "--log", "trace"]);
    assert!(server.word("srvr").contains("Mode: standalone"));
    let (_, _, log) = server.signal("-TERM");
    assert!(log.contains("super_user=true"), "{log}");
    assert!(!log.contains("xQJmxLMiHGwaqBvst5y6rkB6HQs"), "{log}");
}

#[test]
fn four_letter_words_can_be_allowed() {
    let server = Server::start(&["--four-letter-words", "ruok,conf", "--tick", "100"]);
    assert_eq!(server.word("ruok"), "imok");
    assert!(server.word("conf").contains("\nmaxSessionTimeout=2000\n"));
    assert!(server.word("mntr").ends_with("not in the whitelist.\n"));
}

#[test]
fn what_cannot_run_says_why_in_one_line() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let said = complaint(&["serve", "--listen", &address]);
    assert!(
        said.starts_with(&format!("cannot listen on {address}: Address already in use")),
        "{said}"
    );

    for (arguments, expected) in [
        (&["--listen", "2181"][..], "invalid value '2181' for '--listen <ADDR:PORT>'"),
        (&["--tick", "0"], "the tick must be positive"),
        (&["--tick", "-1"], "unexpected argument '-1' found"),
        (&["--min-session-timeout", "9999999"], "the least session timeout, 9999999 ms"),
        (&["--max-frame", "0"], "invalid value '0' for '--max-frame <BYTES>'"),
        (&["--four-letter-words", "whoa"], "invalid value 'whoa' for '--four-letter-words"),
        (&["--super-digest", "nobody"], "invalid value 'nobody' for '--super-digest"),
        (&["--server-id", "256"], "invalid value '256' for '--server-id <ID>'"),
        (&["--server-id", "255", "--extended-types"], "--extended-types needs a --server-id"),
        (&["--threads", "0"], "invalid value '0' for '--threads <COUNT>'"),
        (&["--log", "a=b=c"], "--log \"a=b=c\""),
    ] {
        let said = complaint(&[&["serve"], arguments].concat());
        assert!(said.starts_with(expected), "{arguments:?}: {said}");
    }
    assert_eq!(complaint(&["dance"]), "unrecognized subcommand 'dance'");
}
