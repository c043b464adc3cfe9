//! The hash behind generated names.

/// FNV-1a, 32 bits, as Go's `hash/fnv` computes it.
pub fn fnv1a32(bytes: impl AsRef<[u8]>) -> u32 {
    bytes.as_ref().iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    #[test]
    fn published_vectors() {
        assert_eq!(super::fnv1a32(""), 0x811c_9dc5);
        assert_eq!(super::fnv1a32("a"), 0xe40c_292c);
        assert_eq!(super::fnv1a32("foobar"), 0xbf9c_f968);
    }
}
