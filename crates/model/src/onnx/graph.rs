//! Nodes, constants, inputs and outputs of an ONNX model, as `onnx.proto` numbers them.

use super::protobuf::Message;

const IR_VERSION: u64 = 8;
/// Operators as of this version; texts are compared from the second on.
const OPERATORS: u64 = 13;
const OPERATORS_WITH_TEXT: u64 = 19;

const STRING: u64 = 8;
const INT64: u64 = 7;
const DOUBLE: u64 = 11;

/// Numbers or texts with a shape.
pub(super) struct Tensor(Message);

impl Tensor {
    fn doubles(shape: &[usize], values: &[f64]) -> Self {
        let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Self(shaped(shape).number(2, DOUBLE).bytes(9, raw))
    }

    pub(super) fn scalar(value: f64) -> Self {
        Self::doubles(&[], &[value])
    }

    #[expect(clippy::needless_pass_by_value, reason = "values are made for this")]
    pub(super) fn vector(values: Vec<f64>) -> Self {
        Self::doubles(&[values.len()], &values)
    }

    #[expect(clippy::needless_pass_by_value, reason = "values are made for this")]
    pub(super) fn matrix(rows: usize, columns: usize, values: Vec<f64>) -> Self {
        Self::doubles(&[rows, columns], &values)
    }

    /// The number of a column.
    pub(super) fn index(index: usize) -> Self {
        Self(shaped(&[1]).number(2, INT64).bytes(9, (index as u64).to_le_bytes()))
    }

    /// The numbers of columns.
    pub(super) fn indices(indices: impl ExactSizeIterator<Item = usize>) -> Self {
        let shape = shaped(&[indices.len()]);
        let raw: Vec<u8> = indices.flat_map(|index| (index as u64).to_le_bytes()).collect();
        Self(shape.number(2, INT64).bytes(9, raw))
    }

    pub(super) fn text(value: &str) -> Self {
        Self(shaped(&[]).number(2, STRING).bytes(6, value))
    }

    pub(super) fn texts(values: &[String]) -> Self {
        let empty = shaped(&[1, values.len()]).number(2, STRING);
        Self(values.iter().fold(empty, |message, value| message.bytes(6, value)))
    }
}

fn shaped(shape: &[usize]) -> Message {
    shape.iter().fold(Message::default(), |message, side| message.number(1, *side as u64))
}

/// A graph that grows node by node, in the order of computation.
#[derive(Default)]
pub(super) struct Graph {
    nodes: Vec<Message>,
    constants: Vec<Message>,
    inputs: Vec<Message>,
    outputs: Vec<Message>,
    metadata: Vec<(&'static str, String)>,
    has_text: bool,
}

impl Graph {
    /// A matrix with a column for each name.
    pub(super) fn input<'a>(
        &mut self,
        name: &'static str,
        columns: impl Iterator<Item = &'a str>,
        text: bool,
    ) {
        let columns: Vec<&str> = columns.collect();
        let rows = Message::default().bytes(2, "rows");
        let width = Message::default().number(1, columns.len() as u64);
        self.has_text |= text;
        self.inputs.push(value(name, &[rows, width], text));
        self.metadata.push((name, serde_json::json!(columns).to_string()));
    }

    pub(super) fn output(&mut self, name: &str, shape: &[&str], text: bool) {
        let shape: Vec<Message> = shape.iter().map(|side| Message::default().bytes(2, side)).collect();
        self.outputs.push(value(name, &shape, text));
    }

    /// A constant; returns its name.
    pub(super) fn constant(&mut self, name: &str, tensor: Tensor) -> String {
        self.constants.push(tensor.0.bytes(8, name));
        name.to_owned()
    }

    /// An operation; returns the name of its result.
    pub(super) fn node(&mut self, operator: &str, inputs: &[&str], output: &str) -> String {
        self.operation(operator, inputs, output, None)
    }

    /// An operation along the columns of matrices.
    pub(super) fn along_columns(&mut self, operator: &str, inputs: &[&str], output: &str) -> String {
        self.operation(operator, inputs, output, Some(("axis", 1)))
    }

    /// Whole numbers as places.
    pub(super) fn cast_to_index(&mut self, input: &str, output: &str) -> String {
        self.operation("Cast", &[input], output, Some(("to", INT64)))
    }

    /// Truth values as 1 and 0.
    pub(super) fn cast_to_double(&mut self, input: &str, output: &str) -> String {
        self.operation("Cast", &[input], output, Some(("to", DOUBLE)))
    }

    fn operation(
        &mut self,
        operator: &str,
        inputs: &[&str],
        output: &str,
        attribute: Option<(&str, u64)>,
    ) -> String {
        const INT: u64 = 2;
        let mut node = inputs.iter().fold(Message::default(), |node, input| node.bytes(1, input));
        node = node.bytes(2, output).bytes(3, output).bytes(4, operator);
        if let Some((name, number)) = attribute {
            node = node.message(5, &Message::default().bytes(1, name).number(3, number).number(20, INT));
        }
        self.nodes.push(node);
        output.to_owned()
    }

    /// The bytes of the file.
    pub(super) fn into_model(self, task: &str) -> Vec<u8> {
        let with = |graph: Message, field: u32, parts: &[Message]| {
            parts.iter().fold(graph, |graph, part| graph.message(field, part))
        };
        let graph = with(Message::default(), 1, &self.nodes).bytes(2, "pairdp");
        let graph = with(with(with(graph, 5, &self.constants), 11, &self.inputs), 12, &self.outputs);
        let operators = if self.has_text { OPERATORS_WITH_TEXT } else { OPERATORS };
        let operators = Message::default().bytes(1, "").number(2, operators);
        let mut model = Message::default()
            .number(1, IR_VERSION)
            .bytes(2, "pairdp")
            .bytes(3, env!("CARGO_PKG_VERSION"))
            .message(7, &graph)
            .message(8, &operators);
        for (key, text) in self.metadata.into_iter().chain([("task", task.to_owned())]) {
            model = model.message(14, &Message::default().bytes(1, key).bytes(2, text));
        }
        model.into_bytes()
    }
}

/// A named input or output.
fn value(name: &str, shape: &[Message], text: bool) -> Message {
    let shape = shape.iter().fold(Message::default(), |shape, side| shape.message(1, side));
    let tensor = Message::default().number(1, if text { STRING } else { DOUBLE }).message(2, &shape);
    Message::default().bytes(1, name).message(2, &Message::default().message(1, &tensor))
}
