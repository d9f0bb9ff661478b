//! Models for programs that are not ours, and for people who want to read them.

mod onnx;
pub(crate) mod shapes;
