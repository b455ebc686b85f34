//! A bit a page.

pub struct Bits(Vec<u64>);

impl Bits {
    pub fn new(n: usize) -> Bits {
        Bits(vec![0; n.div_ceil(64)])
    }

    /// Sets a bit; returns what it was before.
    pub fn set(&mut self, at: usize) -> bool {
        let before = self.get(at);
        self.0[at / 64] |= 1 << (at % 64);
        before
    }

    #[inline]
    pub fn get(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }
}
