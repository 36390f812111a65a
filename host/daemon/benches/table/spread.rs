//! Order statistics.

/// Where the middle of a sample lies, and how wide it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    /// Nine in ten are above.
    pub(crate) p10: f64,
    /// The median.
    pub(crate) p50: f64,
    /// Nine in ten are below.
    pub(crate) p90: f64,
}

impl Spread {
    /// Of this sample.
    pub(crate) fn of(sample: &mut [f64]) -> Self {
        Self { p10: quantile(sample, 0.10), p50: quantile(sample, 0.50), p90: quantile(sample, 0.90) }
    }

    /// The same for the reciprocals.
    pub(crate) fn inverted(self) -> Self {
        Self { p10: self.p90.recip(), p50: self.p50.recip(), p90: self.p10.recip() }
    }
}

/// The median.
pub(crate) fn median(sample: &mut [f64]) -> f64 {
    quantile(sample, 0.5)
}

/// The value below which this share of the sample lies: the nearest one that was measured, never one in between. Not a
/// number when there is no sample.
pub(crate) fn quantile(sample: &mut [f64], share: f64) -> f64 {
    sample.sort_by(f64::total_cmp);
    let last = sample.len().saturating_sub(1);
    let rank = (last as f64 * share).round() as usize;
    sample.get(rank).copied().unwrap_or(f64::NAN)
}
