//! Models for programs that are not ours.

mod onnx;
