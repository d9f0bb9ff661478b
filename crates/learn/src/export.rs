//! Models for programs that are not ours, and for people who want to read them.

mod onnx;
mod shapes;

pub use shapes::{EmptyCell, Shape, ShapeParts};
