//! The little of protocol buffers that ONNX files need: fields of whole numbers, bytes and messages.

/// A message as it grows.
#[derive(Default, Clone)]
pub(super) struct Message(Vec<u8>);

impl Message {
    /// A field of a whole number.
    pub(super) fn number(mut self, field: u32, value: u64) -> Self {
        self.varint(u64::from(field) << 3);
        self.varint(value);
        self
    }

    /// A field of bytes or text.
    pub(super) fn bytes(mut self, field: u32, value: impl AsRef<[u8]>) -> Self {
        let value = value.as_ref();
        self.varint(u64::from(field) << 3 | 2);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    /// A field of another message.
    pub(super) fn message(self, field: u32, value: &Self) -> Self {
        self.bytes(field, &value.0)
    }

    /// Seven bits a byte, the lowest first; the top bit says that more follow.
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.0.push(value.to_le_bytes()[0]);
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}
