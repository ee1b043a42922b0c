//! The examples of RFC 7541, appendix C, and properties.

use proptest::prelude::*;

use super::*;

type Fields = Vec<(String, String)>;

fn bytes(hex: &str) -> Vec<u8> {
    let hex: String = hex.split_whitespace().collect();
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn read(decoder: &mut HpackDecoder, block: &[u8]) -> Result<Fields, HpackError> {
    let mut fields = Vec::new();
    decoder.read(block, |name, value| {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        fields.push((text(name), text(value)));
    })?;
    Ok(fields)
}

fn fields(all: &[(&str, &str)]) -> Fields {
    all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn requests_of_the_standard() {
    let first = [
        (":method", "GET"),
        (":scheme", "http"),
        (":path", "/"),
        (":authority", "www.example.com"),
    ];
    let second = [&first[..], &[("cache-control", "no-cache")]].concat();
    let third = [
        (":method", "GET"),
        (":scheme", "https"),
        (":path", "/index.html"),
        (":authority", "www.example.com"),
        ("custom-key", "custom-value"),
    ];
    let plain = [
        "828684410f7777772e6578616d706c652e636f6d",
        "828684be58086e6f2d6361636865",
        "828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565",
    ];
    let encoded = [
        "828684418cf1e3c2e5f23a6ba0ab90f4ff",
        "828684be5886a8eb10649cbf",
        "828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf",
    ];
    for blocks in [plain, encoded] {
        let mut decoder = HpackDecoder::new(4096);
        let read: Vec<Fields> =
            blocks.iter().map(|hex| read(&mut decoder, &bytes(hex)).unwrap()).collect();
        assert_eq!(read, [fields(&first), fields(&second), fields(&third)]);
        assert_eq!(decoder.bytes, 164);
    }
}

/// C.6: a table of 256 bytes, from which entries are evicted.
#[test]
fn answers_of_the_standard() {
    let mut decoder = HpackDecoder::new(4096);
    decoder.limit = 256;
    let first = "488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad17\
                 1863c78f0b97c8e9ae82ae43d3";
    let date = ("date", "Mon, 21 Oct 2013 20:13:21 GMT");
    let location = ("location", "https://www.example.com");
    let expected = fields(&[(":status", "302"), ("cache-control", "private"), date, location]);
    assert_eq!(read(&mut decoder, &bytes(first)), Ok(expected));
    assert_eq!(decoder.bytes, 222);
    let expected = fields(&[(":status", "307"), ("cache-control", "private"), date, location]);
    assert_eq!(read(&mut decoder, &bytes("4883640effc1c0bf")), Ok(expected));
    assert_eq!((decoder.bytes, decoder.table.len()), (222, 4), "one took the place of another");
}

#[test]
fn what_is_wrong_is_named() {
    let said = |hex: &str| read(&mut HpackDecoder::new(100), &bytes(hex)).unwrap_err();
    assert_eq!(said("80"), HpackError::Index(0));
    assert_eq!(said("be"), HpackError::Index(62));
    assert_eq!(said("41"), HpackError::CutOff);
    assert_eq!(said("4105"), HpackError::CutOff);
    assert_eq!(said("ffffffffffff01"), HpackError::Number);
    assert_eq!(said("4181fe"), HpackError::Code);
    assert_eq!(said("3fe21f"), HpackError::Table, "a table of 4097 bytes");
    assert_eq!(said("8220"), HpackError::Table, "in the middle");
    assert_eq!(said("828282"), HpackError::TooLong(100));
}

#[test]
fn constant_fields_take_a_byte_each_from_the_second_message_on() {
    let all = fields(&[
        (":method", "GET"),
        (":scheme", "http"),
        (":path", "/?size=1KiB"),
        (":authority", "server:7474"),
        ("user-agent", "hopbench/0.1.0"),
        ("x-own", "value"),
    ]);
    let kept = ConstantFields::new(&all, true);
    assert_eq!(kept.next.len(), all.len());
    let mut decoder = HpackDecoder::new(4096);
    assert_eq!(read(&mut decoder, &kept.first).as_ref(), Ok(&all));
    for _ in 0..3 {
        assert_eq!(read(&mut decoder, &kept.next).as_ref(), Ok(&all));
    }
    let plain = ConstantFields::new(&all, false);
    assert_eq!(plain.first, plain.next);
    let mut decoder = HpackDecoder::new(4096);
    assert_eq!(read(&mut decoder, &plain.first).as_ref(), Ok(&all));
    assert!(decoder.table.is_empty());
}

proptest! {
    #[test]
    fn what_was_written_is_read(
        all in proptest::collection::vec(("[a-z:-]{1,12}", "[ -~]{0,40}"), 0..12),
        is_kept: bool,
    ) {
        let constant = ConstantFields::new(&all, is_kept);
        let mut decoder = HpackDecoder::new(1 << 16);
        for block in [&constant.first, &constant.next, &constant.next] {
            let read = read(&mut decoder, block);
            prop_assert_eq!(read.as_ref(), Ok(&all));
        }
    }

    #[test]
    fn nothing_makes_it_panic(
        blocks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..60), 1..5),
    ) {
        let mut decoder = HpackDecoder::new(2048);
        for block in blocks {
            if read(&mut decoder, &block).is_err() {
                break;
            }
            prop_assert!(decoder.bytes <= decoder.limit);
        }
    }
}
