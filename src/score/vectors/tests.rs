use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::types::codec::example::assert_documented;

const KIND: u32 = 1;

fn written(numbers: &[f64]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("scores");
    let vector = Vector::write(&path, KIND, 7, numbers.len() as u64, numbers.iter().copied()).unwrap();
    assert_eq!((&*vector, vector.kind(), vector.generation()), (numbers, KIND, 7));
    (dir, path)
}

fn problem(path: &Path) -> String {
    match Vector::<f64>::open(path, KIND).err().unwrap() {
        VectorError::Unusable { problem, .. } => problem.to_owned(),
        other => panic!("{other}"),
    }
}

#[test]
fn the_document_has_the_bytes() {
    let (_dir, path) = written(&[0.25, 0.75]);
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(bytes.len(), HEADER_BYTES + 16);
    assert_documented("vector header", &bytes[..HEADER_BYTES]);
    assert_documented("vector numbers", &bytes[HEADER_BYTES..]);
}

#[test]
fn vectors_come_back_and_are_replaced_whole() {
    let (dir, path) = written(&[]);
    let old = Vector::<f64>::open(&path, KIND).unwrap();
    let many: Vec<f64> = (0..100_000).map(f64::from).collect();
    let new = Vector::write(&path, KIND, 8, 100_000, many.iter().copied()).unwrap();
    assert_eq!((old.len(), &*new, new.generation()), (0, &many[..], 8));
    let narrow = dir.path().join("narrow");
    let narrow = Vector::write(&narrow, KIND, 1, 2, [0.5f32, 0.25]).unwrap();
    assert_eq!(*narrow, [0.5, 0.25]);
    assert_eq!(*Vector::in_memory(KIND, 1, vec![0.5f32]), [0.5]);
    let names: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn what_is_no_whole_vector_is_refused() {
    let (_dir, path) = written(&[0.5; 100]);
    let good = std::fs::read(&path).unwrap();
    let with = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        problem(&path)
    };
    assert_eq!(with(&[]), "it is too short");
    assert_eq!(with(&[0; 900]), "it does not begin as one");
    assert_eq!(with(&good[..good.len() - 1]), "its length is not what its header says");
    assert_eq!(with(&[&good[..], &[0; 8]].concat()), "its length is not what its header says");
    let changed = |at: usize, to: u8| {
        let mut bytes = good.clone();
        bytes[at] = to;
        bytes
    };
    assert_eq!(with(&changed(8, 2)), "another version has written it");
    assert_eq!(with(&changed(24, 9)), "its header is damaged");
    assert_eq!(with(&changed(63, 9)), "its header is damaged");
    assert_eq!(with(&changed(500, 9)), "its checksum is wrong");
    std::fs::write(&path, &good).unwrap();
    assert!(Vector::<f64>::open(&path, KIND).is_ok());
    assert!(Vector::<f64>::open(&path, 2).is_err_and(|e| e.to_string().contains("another scorer")));
    assert!(Vector::<f32>::open(&path, KIND).is_err_and(|e| e.to_string().contains("another size")));
    assert!(matches!(Vector::<f64>::open(&path.with_extension("none"), KIND), Err(VectorError::Io { .. })));
}

#[test]
fn numbers_that_are_no_scores_are_not_written() {
    let (_dir, path) = written(&[1.0]);
    for bad in [f64::NAN, f64::INFINITY] {
        assert!(Vector::write(&path, KIND, 8, 1, [bad]).is_err());
    }
    assert!(Vector::write(&path, KIND, 8, 2, [1.0]).is_err());
    assert_eq!(Vector::<f64>::open(&path, KIND).unwrap().generation(), 7, "the old one is still there");
}

proptest! {
    #[test]
    fn a_changed_bit_is_noticed(numbers in vec(0.0f64..1.0, 0..20), at: prop::sample::Index, bit in 0u8..8) {
        let (_dir, path) = written(&numbers);
        let mut bytes = std::fs::read(&path).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        std::fs::write(&path, bytes).unwrap();
        prop_assert!(Vector::<f64>::open(&path, KIND).is_err());
    }

    #[test]
    fn arbitrary_files_are_refused(bytes in vec(any::<u8>(), 0..200)) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("scores");
        std::fs::write(&path, bytes).unwrap();
        prop_assert!(Vector::<f64>::open(&path, KIND).is_err());
    }
}
