//! Models for programs that are not ours, and for people who want to read them.

pub(crate) mod effects;
mod onnx;
pub(crate) mod shapes;
