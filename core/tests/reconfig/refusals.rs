//! What clients are answered who wish for other members: ZooKeeper's checks, in its order.

use zoolab_core::request::Body;
use zoolab_core::{Code, Request};

use super::FOUR;
use super::net::Net;

fn wish(joining: &str, leaving: &str, members: Option<&str>, config_id: i64) -> Request {
    let text = |text: &str| (!text.is_empty()).then(|| text.into());
    let (joining, leaving) = (text(joining), text(leaving));
    Request::Reconfig { joining, leaving, members: members.map(Into::into), config_id }
}

fn ask(net: &mut Net, request: Request) -> Result<Body, Code> {
    net.ask(3, 7, request)
}

/// Three servers, and a client of the leader that may do everything.
fn with_client() -> Net {
    let mut net = Net::three();
    net.connect(3, 7);
    net.mighty(3, 7);
    net
}

#[test]
fn each_has_its_code_and_its_place() {
    let mut net = Net::three();
    net.connect(3, 7);
    // Who asks comes last of all.
    let version = net.version(3).0;
    assert_eq!(ask(&mut net, wish("x", "", None, version + 1)), Err(Code::BadVersion));
    assert_eq!(ask(&mut net, wish("x", "", None, version)), Err(Code::BadArguments));
    assert_eq!(ask(&mut net, wish("", "x", None, -1)), Err(Code::MarshallingError));
    assert_eq!(ask(&mut net, wish("", "1,2", None, -1)), Err(Code::BadArguments));
    let strangers = "server.5=a:1:2;9,server.6=b:1:2;9,server.7=c:1:2;9";
    assert_eq!(ask(&mut net, wish("", "", Some(strangers), -1)), Err(Code::NewConfigNoQuorum));
    assert_eq!(ask(&mut net, wish("", "1", None, -1)), Err(Code::NoAuth));
    net.mighty(3, 7);
    assert!(ask(&mut net, wish("", "1", None, version)).is_ok());
}

#[test]
fn one_change_at_a_time() {
    let mut net = with_client();
    net.start(4);
    net.settle();
    for id in [1, 2, 4] {
        net.slow_disk(id, true);
    }
    net.own(3, FOUR, "");
    net.ask_later(3, 7, wish("x", "", None, 77));
    net.arrive();
    for id in [1, 2, 4] {
        net.slow_disk(id, false);
    }
    net.arrive();
    assert_eq!(net.answer(3), Err(Code::ReconfigInProgress));
}

#[test]
fn whoever_has_no_vote_because_it_observes_does_not_carry_a_change() {
    let mut net = with_client();
    net.start(4);
    net.settle();
    assert!(ask(&mut net, wish("server.4=zk4:2888:3888:observer;2181", "", None, -1)).is_ok());
    net.settle();
    net.crash(1);
    net.tick();
    // Of 3, 4, 5 only 3 would be there.
    let request = wish("server.4=zk4:2888:3888;2181,server.5=e:1:2;9", "1,2", None, -1);
    assert_eq!(ask(&mut net, request), Err(Code::NewConfigNoQuorum));
}

#[test]
fn a_change_is_answered_with_the_configuration() {
    let mut net = with_client();
    net.start(4);
    net.settle();
    let Ok(Body::Data { data, stat }) = ask(&mut net, wish(FOUR, "", None, -1)) else {
        panic!("it was refused");
    };
    let text = String::from_utf8(data.unwrap().to_vec()).unwrap();
    assert_eq!(text, net.shown(3).0);
    assert_eq!((stat.mzxid, stat.version), (net.version(3), -1));
    // By a list, and through a follower.
    net.connect(1, 8);
    net.mighty(1, 8);
    let list = "server.2=zk2:2888:3888;2181,server.3=zk3:2888:3888;2181,\
                server.1=zk1:2888:3888;2181";
    let Ok(Body::Data { data, .. }) = net.ask(1, 8, wish("", "", Some(list), stat.mzxid.0)) else {
        panic!("it was refused");
    };
    let text = String::from_utf8(data.unwrap().to_vec()).unwrap();
    assert_eq!(text.lines().count(), 4, "{text}");
}

#[test]
fn without_the_setting_there_is_none() {
    let mut net = Net::without_reconfig();
    net.connect(3, 7);
    assert_eq!(ask(&mut net, wish("x", "", None, 5)), Err(Code::ReconfigDisabled));
    assert_eq!(net.shown(3).0, "");
    net.start(4);
    net.settle();
    assert_ne!(net.doing()[3], "following", "and strangers are sent away");
}
