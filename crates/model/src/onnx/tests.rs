use super::protobuf::Message;
use crate::{Predictor, Task};
use pairdp_data::{Column, Encoding, Kind, Label, Schema};

#[test]
fn numbers_and_bytes_are_written_as_protocol_buffers_have_them() {
    let inner = Message::default().bytes(2, "testing");
    let message = Message::default().number(1, 150).message(3, &inner);
    let expected = [0x08, 0x96, 0x01, 0x1a, 0x09, 0x12, 0x07, b't', b'e', b's', b't', b'i', b'n', b'g'];
    assert_eq!(message.into_bytes(), expected);
}

/// Runtimes are compared in Python; here, that columns and outputs are named.
#[test]
fn graphs_name_their_columns_and_outputs() {
    let columns = vec![
        Column::new("age", Kind::Range([0.0, 100.0])),
        Column { other: true, ..Column::new("sex", Kind::Categories(vec!["f".into(), "m".into()])) },
    ];
    let schema = Schema::new(Label::binary("y", "ill", "well"), columns).unwrap();
    for (task, output) in
        [(Task::Ranking, "score"), (Task::Classification, "class"), (Task::Metric, "embedding")]
    {
        let encoding = Encoding::of(&schema);
        let d = encoding.dimension();
        let parameters = vec![0.5; if task == Task::Metric { d * d } else { d }];
        let label = Some(schema.label().clone());
        let bytes = Predictor {
            task,
            encoding,
            label,
            feature_bound: 1.0,
            constant: 0.0,
            parameters,
            representation: None,
            probabilities: None,
            random_features: None,
            score: pairdp_pairwise::Score::Linear,
        }
        .to_onnx();
        let text = String::from_utf8_lossy(&bytes);
        for word in ["[\"age\"]", "[\"sex\"]", "Concat", output] {
            assert!(text.contains(word), "no {word} for {}", task.name());
        }
    }
}
