//! Bytes that no client should send close their connection, and nothing else.

use zoolab_server::Options;

use crate::Running;
use crate::client::{Client, connect_request, create, frame, get_data, ping, set_data};

#[tokio::test]
async fn hostile_beginnings_close_their_connection_and_nothing_else() {
    let server = Running::start(Options::default()).await;
    let mut witness = Client::connect(server.address).await;
    let endless = [&i32::MAX.to_be_bytes()[..], &[0xFF; 5000]].concat();
    for bytes in [
        &b"GET / HTTP/1.1\r\nHost: zookeeper\r\n\r\n"[..],
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"SRVR",
        &[0xFF; 100],
        &[0xFF, 0xF4, 0xFF, 0xFD],
        &(-1_i32).to_be_bytes(),
        &i32::MIN.to_be_bytes(),
        &0x0010_0000_i32.to_be_bytes(),
        &endless,
        // Frames that are whole, and no ConnectRequest.
        &frame(b""),
        &frame(b"1"),
        &frame(&ping()),
        &frame(&connect_request(1000)[..43]),
        // A password longer than the frame.
        &frame(&[&[0; 24][..], &1000_i32.to_be_bytes(), &[0; 17]].concat()),
    ] {
        let mut client = Client::dial(server.address).await;
        client.send(bytes).await;
        assert_eq!(client.frame().await, None, "after {:?}", &bytes[..bytes.len().min(40)]);
        assert!(witness.is_served().await);
    }
    server.end();
}

#[tokio::test]
async fn hostile_frames_of_a_session_close_its_connection_and_nothing_else() {
    let server = Running::start(Options::default()).await;
    let mut witness = Client::connect(server.address).await;
    for bytes in [
        (-2_i32).to_be_bytes().to_vec(),
        0x0010_0000_i32.to_be_bytes().to_vec(),
        // Too short for a header.
        frame(b""),
        frame(b"1234567"),
        // An auth packet that is none.
        frame(&[-4_i32, 100, 0, 1000].map(i32::to_be_bytes).concat()),
    ] {
        let mut client = Client::connect(server.address).await;
        assert!(client.is_served().await);
        client.send(&bytes).await;
        assert_eq!(client.frame().await, None, "after {bytes:?}");
        assert!(witness.is_served().await);
    }
    server.end();
}

#[tokio::test]
async fn a_body_that_cannot_be_read_is_answered() {
    const MARSHALLING_ERROR: i32 = -5;
    let server = Running::start(Options::default()).await;
    let mut client = Client::connect(server.address).await;
    let torn = create(1, "/a", b"")[..10].to_vec();
    client.ask(1, torn, MARSHALLING_ERROR).await;
    assert!(client.is_served().await);
    server.end();
}

#[tokio::test]
async fn what_came_before_a_hostile_frame_is_served() {
    let server = Running::start(Options::default()).await;
    let mut client = Client::connect(server.address).await;
    let bytes = [
        frame(&create(1, "/a", b"")),
        frame(&get_data(2, "/a", false)),
        (-1_i32).to_be_bytes().to_vec(),
    ];
    client.send(&bytes.concat()).await;
    assert_eq!(client.reply().await, Some((1, 0)));
    assert_eq!(client.reply().await, Some((2, 0)));
    assert_eq!(client.frame().await, None);
    server.end();
}

#[tokio::test]
async fn the_longest_frame_is_taken_and_one_byte_more_is_not() {
    for max in [200, 4092, 4096, 70_000, 0xF_FFFF] {
        let options = Options { frame_max: max, ..Options::default() };
        let server = Running::start(options).await;
        let mut client = Client::connect(server.address).await;
        client.ask(1, create(1, "/a", b""), 0).await;
        let around = set_data(2, "/a", b"").len();
        client.ask(2, set_data(2, "/a", &vec![7; max - around]), 0).await;

        // It can be read back, although the reply is longer than what the server itself takes.
        client.send(&frame(&get_data(3, "/a", false))).await;
        let reply = client.frame().await.unwrap();
        assert_eq!(reply.len(), 16 + 4 + (max - around) + 68);

        let mut other = Client::connect(server.address).await;
        client.send(&frame(&set_data(4, "/a", &vec![7; max - around + 1]))).await;
        assert_eq!(client.frame().await, None);
        assert!(other.is_served().await);
        server.end();
    }
}

/// Deterministic noise: bytes of a linear congruential generator.
fn noise(seed: u64) -> impl Iterator<Item = u8> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (state >> 56) as u8
    })
}

#[tokio::test]
async fn noise_in_whole_frames_is_survived() {
    let server = Running::start(Options::default()).await;
    let mut witness = Client::connect(server.address).await;
    for seed in 0..300_u64 {
        let mut noise = noise(seed);
        let mut client = Client::connect(server.address).await;
        // A header that is right, so that the decoder gets to see the rest.
        let opcode = i32::try_from(seed % 110).unwrap();
        let length = usize::from(noise.next().unwrap());
        let body = noise.take(length).map(|byte| if seed % 2 == 0 { byte % 4 } else { byte });
        let payload: Vec<u8> =
            [7_i32, opcode].map(i32::to_be_bytes).concat().into_iter().chain(body).collect();
        client.send(&frame(&payload)).await;
        client.send(&frame(&ping())).await;
        // Whatever it is told, it is told something, or is closed.
        let _ = client.frame().await;
        assert!(witness.is_served().await, "seed {seed}");
    }
    server.end();
}
