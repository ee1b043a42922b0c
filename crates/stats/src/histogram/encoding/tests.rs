use hdrhistogram::serialization::Deserializer;
use proptest::prelude::*;

use super::*;

fn decode(text: &str) -> Result<Counts, HistogramError> {
    let mut counts = empty();
    let ends = add(&mut counts, text)?;
    let of_counts = (counts.min().min(HIGHEST_NS), counts.max().min(HIGHEST_NS));
    assert_eq!(ends, (!counts.is_empty()).then_some(of_counts));
    Ok(counts)
}

/// What the library reads.
fn by_library(bytes: &[u8]) -> Counts {
    Deserializer::new().deserialize(&mut &*bytes).unwrap()
}

fn header(length: u32, digits: u32, highest: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in [COOKIE, length, 0, digits] {
        bytes.extend(word.to_be_bytes());
    }
    bytes.extend(LOWEST_NS.to_be_bytes());
    bytes.extend(highest.to_be_bytes());
    bytes.extend(1f64.to_be_bytes());
    bytes
}

fn with_counts(counts: &[u8]) -> Vec<u8> {
    let mut bytes = header(counts.len() as u32, 3, HIGHEST_NS);
    bytes.extend(counts);
    bytes
}

fn read(bytes: &[u8]) -> Result<Counts, HistogramError> {
    decode(&STANDARD.encode(bytes))
}

#[test]
fn the_size_of_the_array_is_the_librarys() {
    assert_eq!(empty().distinct_values() as u64, SLOTS);
}

#[test]
fn the_fullest_histogram_fits_the_limit() {
    let mut counts = empty();
    for value in counts.clone().iter_all().map(|v| v.value_iterated_to()) {
        counts.record_n(value, MAX_SAMPLES / SLOTS).unwrap();
    }
    for text in [encode(&counts), compressed(&counts)] {
        assert!(text.len() <= MAX_TEXT, "{} characters", text.len());
        assert_eq!(decode(&text).as_ref(), Ok(&counts));
    }
}

#[test]
fn a_header_that_asks_for_memory_is_refused() {
    let range = |digits, highest| Err(HistogramError::Range { digits, lowest: LOWEST_NS, highest });
    assert_eq!(read(&header(0, 5, u64::MAX)), range(5, u64::MAX));
    assert_eq!(read(&header(0, 3, HIGHEST_NS + 1)), range(3, HIGHEST_NS + 1));
    assert_eq!(
        read(&header(u32::MAX, 3, HIGHEST_NS)),
        Err(HistogramError::Length { expected: u32::MAX, found: 0 })
    );
    assert_eq!(
        decode(&"A".repeat(MAX_TEXT + 4)),
        Err(HistogramError::TooLong { characters: MAX_TEXT + 4 })
    );
}

#[test]
fn counts_that_make_no_sense_are_refused() {
    // A run of i64::MIN zeros: its negation overflows.
    let run = read(&with_counts(&[0xff; 9]));
    assert_eq!(run, Err(HistogramError::Counts("they go beyond 1 hour")));
    // Two counts of nearly 2^63.
    let mut huge = [0xff; 18];
    (huge[0], huge[9]) = (0xfe, 0xfe);
    let huge = read(&with_counts(&huge));
    assert_eq!(huge, Err(HistogramError::Counts("their sum is beyond 2^48")));
    // 2^62 + 1: only the ninth byte's highest bit tells it from a count of 1.
    let ninth = read(&with_counts(&[0x82, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80]));
    assert_eq!(ninth, Err(HistogramError::Counts("their sum is beyond 2^48")));
    let cut = read(&with_counts(&[2, 0x80]));
    assert_eq!(cut, Err(HistogramError::Counts("the last number is cut off")));
    let long = read(&with_counts(&vec![2; SLOTS as usize + 1]));
    assert_eq!(long, Err(HistogramError::Counts("they go beyond 1 hour")));
    assert_eq!(read(&with_counts(&vec![2; SLOTS as usize])).unwrap().len(), SLOTS);
}

#[test]
fn other_texts_are_refused_by_name() {
    assert!(matches!(decode("not base64!"), Err(HistogramError::Base64(_))));
    assert_eq!(decode(""), Err(HistogramError::NotV2));
    let mut bytes = with_counts(&[2]);
    bytes[11] = 1;
    assert_eq!(read(&bytes), Err(HistogramError::Scaled));
    bytes[3] = 0x15;
    assert_eq!(read(&bytes), Err(HistogramError::NotV2));
    let shortened = with_counts(&[2, 2, 2]);
    assert_eq!(
        read(&shortened[..shortened.len() - 1]),
        Err(HistogramError::Length { expected: 3, found: 2 })
    );
}

/// The compressed form of these bytes.
fn packed(plain: &[u8]) -> Vec<u8> {
    let mut zlib = flate2::read::ZlibEncoder::new(plain, flate2::Compression::best());
    let mut packed = Vec::new();
    zlib.read_to_end(&mut packed).unwrap();
    let length = packed.len() as u32;
    [&COMPRESSED_COOKIE.to_be_bytes()[..], &length.to_be_bytes(), &packed].concat()
}

#[test]
fn both_forms_are_read_and_the_compressed_one_is_smaller() {
    let mut counts = empty();
    (1..2000).for_each(|n| counts.record(n * 977).unwrap());
    let (plain, text) = (encode(&counts), compressed(&counts));
    assert_eq!((decode(&plain).as_ref(), decode(&text).as_ref()), (Ok(&counts), Ok(&counts)));
    // The cookie, as other tools know it.
    assert!(text.starts_with("HISTF"), "{text}");
    assert!(text.len() < plain.len(), "{} {}", text.len(), plain.len());
    assert_eq!((shorter(&counts), shorter(&empty())), (text.clone(), encode(&empty())));
    let inflated = inflated(&STANDARD.decode(&text).unwrap()).unwrap().into_owned();
    assert_eq!(STANDARD.encode(inflated), plain);
}

#[test]
fn what_is_compressed_is_inflated_within_bounds() {
    let why = |bytes: &[u8]| match read(bytes) {
        Err(HistogramError::Compressed(why)) => why,
        other => panic!("{other:?}"),
    };
    assert!(why(&packed(&vec![0; 64 << 20])).contains("it has more than"));
    assert_eq!(read(&packed(b"short")), Err(HistogramError::NotV2));
    assert_eq!(
        read(&packed(&header(0, 5, u64::MAX))),
        Err(HistogramError::Range { digits: 5, lowest: LOWEST_NS, highest: u64::MAX })
    );
    let good = packed(&with_counts(&[2]));
    let found = good.len() - 9;
    let expected = found as u32 + 1;
    assert_eq!(read(&good[..good.len() - 1]), Err(HistogramError::Length { expected, found }));
    let mut damaged = good.clone();
    damaged[10] ^= 0xff;
    assert!(!why(&damaged).is_empty());
    let mut longer = good.clone();
    longer.push(0);
    longer[7] += 1;
    assert_eq!(why(&longer), "something follows it");
}

#[test]
fn errors_say_what_was_expected() {
    let error = read(&header(0, 5, 7)).unwrap_err().to_string();
    assert_eq!(
        error,
        "histogram has 5 digits from 1 to 7, expected 3 digits from 1 to 3600000000000"
    );
}

proptest! {
    #[test]
    fn no_text_panics(text in ".{0,200}") {
        prop_assert!(decode(&text).is_err());
    }

    #[test]
    fn no_counts_panic(counts in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(histogram) = read(&with_counts(&counts)) {
            prop_assert!(histogram.len() <= MAX_SAMPLES);
            prop_assert!(histogram.value_at_quantile(1.0) <= histogram.max());
            prop_assert_eq!(&histogram, &by_library(&with_counts(&counts)));
            prop_assert_eq!(decode(&encode(&histogram)), Ok(histogram.clone()));
            prop_assert_eq!(decode(&compressed(&histogram)), Ok(histogram));
        }
    }

    #[test]
    fn no_damage_panics(
        values in prop::collection::vec(0..=HIGHEST_NS, 0..20),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut counts = empty();
        values.iter().for_each(|v| counts.saturating_record(*v));
        prop_assert_eq!(by_library(&STANDARD.decode(encode(&counts)).unwrap()), counts.clone());
        for text in [encode(&counts), compressed(&counts)] {
            prop_assert_eq!(decode(&text), Ok(counts.clone()));
            let mut bytes = STANDARD.decode(text).unwrap();
            let whole = bytes.len();
            prop_assert!(read(&bytes[..cut.index(whole)]).is_err());
            for (at, byte) in &damage {
                bytes[at.index(whole)] = *byte;
            }
            if let Ok(histogram) = read(&bytes) {
                prop_assert!(histogram.len() <= MAX_SAMPLES);
            }
        }
    }
}
