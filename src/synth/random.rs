//! The generator's randomness: xorshift128+, seeded by SplitMix64.

/// 2^-53: the distance of the numbers that [`Random::unit`] gives.
const STEP: f64 = 1.0 / 9_007_199_254_740_992.0;

pub struct Random([u64; 2]);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random([mix(seed), mix(seed.wrapping_add(1))])
    }

    pub fn next(&mut self) -> u64 {
        let [mut a, b] = self.0;
        a ^= a << 23;
        a = a ^ b ^ (a >> 17) ^ (b >> 26);
        self.0 = [b, a];
        a.wrapping_add(b)
    }

    fn bits53(&mut self) -> u64 {
        self.next() >> 11
    }

    /// From 0 to below 1.
    pub fn unit(&mut self) -> f64 {
        self.bits53() as f64 * STEP
    }

    /// [`Random::unit`] in thousandths, rounded to the nearest and ties to even, as `printf` does.
    pub fn thousandths(&mut self) -> u16 {
        const HALF: u64 = 1 << 52;
        let scaled = self.bits53() * 1000;
        let (whole, rest) = (scaled >> 53, scaled & (2 * HALF - 1));
        let up = rest > HALF || (rest == HALF && whole & 1 == 1);
        (whole + u64::from(up)) as u16
    }

    /// Normally distributed, mean 0 and deviation 1 (Box-Muller).
    pub fn gauss(&mut self) -> f64 {
        let u = self.unit() + 1e-300;
        let v = self.unit();
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
}

/// SplitMix64's output function.
pub fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn thousandths_round_as_printed_decimals_do(seed in any::<u64>()) {
            let (mut a, mut b) = (Random::new(seed), Random::new(seed));
            for _ in 0..100 {
                let printed: f64 = format!("{:.3}", a.unit()).parse().unwrap();
                prop_assert_eq!(f64::from(b.thousandths()) / 1000.0, printed);
            }
        }
    }
}
