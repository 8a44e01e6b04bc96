/// Philox2x64 with ten rounds: two random words for each (counter, key), without any state.
///
/// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11.
#[inline]
pub fn philox2x64(counter: [u64; 2], mut key: u64) -> [u64; 2] {
    const MULTIPLIER: u64 = 0xD2B7_4407_B1CE_6E93;
    const WEYL: u64 = 0x9E37_79B9_7F4A_7C15;
    let [mut left, mut right] = counter;
    for _ in 0..10 {
        let product = u128::from(MULTIPLIER) * u128::from(left);
        left = (product >> 64) as u64 ^ key ^ right;
        right = product as u64;
        key = key.wrapping_add(WEYL);
    }
    [left, right]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published known answers of Random123 1.14, file `kat_vectors`.
    #[test]
    fn known_answers() {
        let cases = [
            ([0, 0], 0, [0xCA00_A045_9843_D731, 0x66C2_4222_C9A8_45B5]),
            ([u64::MAX; 2], u64::MAX, [0x65B0_21D6_0CD8_310F, 0x4D02_F322_2F86_DF20]),
            (
                [0x243F_6A88_85A3_08D3, 0x1319_8A2E_0370_7344],
                0xA409_3822_299F_31D0,
                [0x0A5E_742C_2997_341C, 0xB0F8_83D3_8000_DE5D],
            ),
        ];
        for (counter, key, answer) in cases {
            assert_eq!(philox2x64(counter, key), answer);
        }
    }
}
