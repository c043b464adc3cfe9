//! Protobuf's wire form: numbered fields of four shapes. Never reads past its input.

use super::ProtoError;

/// A field's value as it is on the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Wire<'a> {
    /// Integers and booleans.
    Varint(u64),
    /// Doubles.
    Fixed64(u64),
    /// Floats.
    Fixed32(u32),
    /// Text, bytes, messages, packed lists.
    Bytes(&'a [u8]),
}

impl<'a> Wire<'a> {
    /// The bytes of a length-delimited field.
    pub(super) fn bytes(self, field: &str) -> Result<&'a [u8], ProtoError> {
        match self {
            Wire::Bytes(bytes) => Ok(bytes),
            _ => Err(ProtoError::Malformed(field.into())),
        }
    }

    /// The number of a varint field.
    pub(super) fn varint(self, field: &str) -> Result<u64, ProtoError> {
        match self {
            Wire::Varint(number) => Ok(number),
            _ => Err(ProtoError::Malformed(field.into())),
        }
    }
}

/// The fields of a message in order. Ends after the first error.
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Fields { rest: bytes }
    }

    fn read(&mut self) -> Result<(u32, Wire<'a>), ProtoError> {
        let key = varint(&mut self.rest)?;
        let malformed = || ProtoError::Malformed(format!("number {}", key >> 3));
        let number = u32::try_from(key >> 3).ok().filter(|n| *n != 0).ok_or_else(malformed)?;
        let wire = match key & 7 {
            0 => Wire::Varint(varint(&mut self.rest)?),
            1 => Wire::Fixed64(u64::from_le_bytes(self.array()?)),
            2 => {
                let length = usize::try_from(varint(&mut self.rest)?).map_err(|_| ProtoError::Truncated)?;
                let (head, tail) = self.rest.split_at_checked(length).ok_or(ProtoError::Truncated)?;
                self.rest = tail;
                Wire::Bytes(head)
            }
            5 => Wire::Fixed32(u32::from_le_bytes(self.array()?)),
            // Groups (3 and 4) are not used by Kubernetes.
            _ => return Err(malformed()),
        };
        Ok((number, wire))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ProtoError> {
        let (head, tail) = self.rest.split_first_chunk::<N>().ok_or(ProtoError::Truncated)?;
        self.rest = tail;
        Ok(*head)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Wire<'a>), ProtoError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.read();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

/// Takes a varint off the front.
pub(super) fn varint(rest: &mut &[u8]) -> Result<u64, ProtoError> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let (byte, tail) = rest.split_first().ok_or(ProtoError::Truncated)?;
        *rest = tail;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(ProtoError::Malformed("varint".into()))
}
