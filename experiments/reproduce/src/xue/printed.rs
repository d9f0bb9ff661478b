//! The numbers in the tables, in percent.

/// Which line of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    /// 0 Diabetes, 1 Diabetic Retinopathy.
    pub(super) set: usize,
    /// With a ridge.
    pub(super) strongly: bool,
    /// δ = 0.
    pub(super) pure: bool,
    /// As the paper calls it.
    pub(super) algorithm: &'static str,
}

impl Line {
    pub(super) fn name(self) -> String {
        let case = if self.strongly { "strongly convex" } else { "convex" };
        format!("{}, {case}, δ = {}", self.algorithm, if self.pure { "0" } else { "1/n" })
    }
}

const fn line(set: usize, strongly: bool, pure: bool, algorithm: &'static str) -> Line {
    Line { set, strongly, pure, algorithm }
}

/// Metrics at ε = 1 for n = 128, 256, 512.
#[rustfmt::skip]
pub(super) const TABLE_2: [(Line, [f64; 3]); 26] = [
    (line(0, true, false, "Non-private"), [71.40, 72.39, 72.88]),
    (line(1, true, false, "Non-private"), [62.82, 63.84, 65.01]),
    (line(0, true, false, "OffPairStrC"), [63.69, 64.55, 64.63]),
    (line(1, true, false, "OffPairStrC"), [60.72, 62.14, 63.59]),
    (line(0, true, false, "DPGDSC"), [64.03, 64.68, 65.85]),
    (line(1, true, false, "DPGDSC"), [59.72, 62.82, 65.13]),
    (line(0, false, false, "Non-private"), [71.73, 72.52, 72.97]),
    (line(1, false, false, "Non-private"), [61.57, 63.86, 65.03]),
    (line(0, false, false, "OffPairC"), [64.20, 64.64, 65.87]),
    (line(1, false, false, "OffPairC"), [60.94, 62.85, 63.29]),
    (line(0, false, false, "DPGDC2"), [71.30, 71.91, 72.46]),
    (line(1, false, false, "DPGDC2"), [62.32, 63.09, 64.35]),
    (line(0, false, false, "DPEGD"), [71.29, 72.21, 72.84]),
    (line(1, false, false, "DPEGD"), [62.95, 65.21, 66.36]),
    (line(0, true, true, "Non-private"), [71.71, 71.99, 72.56]),
    (line(1, true, true, "Non-private"), [62.39, 63.13, 65.49]),
    (line(0, true, true, "OffPairStrC"), [64.37, 65.64, 66.77]),
    (line(1, true, true, "OffPairStrC"), [59.32, 61.00, 61.78]),
    (line(0, true, true, "DPGDSC"), [64.51, 65.28, 67.16]),
    (line(1, true, true, "DPGDSC"), [59.48, 61.07, 62.01]),
    (line(0, false, true, "Non-private"), [71.80, 72.47, 72.80]),
    (line(1, false, true, "Non-private"), [61.84, 63.42, 65.31]),
    (line(0, false, true, "OffPairC"), [64.97, 65.58, 67.28]),
    (line(1, false, true, "OffPairC"), [59.55, 60.70, 61.77]),
    (line(0, false, true, "DPEGD"), [70.37, 71.16, 71.24]),
    (line(1, false, true, "DPEGD"), [63.41, 64.51, 66.54]),
];

/// Metrics for ε = 0.2, 0.5, 0.8, 1, 1.5, 2.
#[rustfmt::skip]
pub(super) const TABLE_3: [(Line, [f64; 6]); 18] = [
    (line(0, true, false, "OffPairStrC"), [63.49, 63.50, 63.93, 63.44, 63.53, 64.26]),
    (line(0, true, false, "DPGDSC"), [64.18, 64.92, 65.72, 63.91, 64.01, 64.29]),
    (line(1, true, false, "OffPairStrC"), [60.30, 60.40, 60.47, 63.44, 63.53, 64.26]),
    (line(1, true, false, "DPGDSC"), [60.63, 61.81, 62.57, 63.91, 64.01, 64.29]),
    (line(0, false, false, "OffPairC"), [63.59, 63.63, 63.97, 63.71, 63.96, 65.07]),
    (line(0, false, false, "DPGDC2"), [71.72, 70.61, 72.11, 71.05, 70.83, 71.36]),
    (line(0, false, false, "DPEGD"), [71.46, 71.49, 71.66, 71.32, 71.50, 71.45]),
    (line(1, false, false, "OffPairC"), [60.21, 60.29, 60.71, 63.71, 63.96, 65.07]),
    (line(1, false, false, "DPGDC2"), [61.27, 61.79, 60.87, 71.05, 70.83, 71.36]),
    (line(1, false, false, "DPEGD"), [62.58, 62.84, 62.89, 71.32, 71.50, 71.45]),
    (line(0, true, true, "OffPairStrC"), [64.28, 64.49, 64.53, 64.38, 64.40, 64.84]),
    (line(0, true, true, "DPGDSC"), [64.45, 64.84, 64.84, 64.63, 64.79, 64.81]),
    (line(1, true, true, "OffPairStrC"), [59.54, 59.57, 59.60, 64.38, 64.40, 64.84]),
    (line(1, true, true, "DPGDSC"), [59.60, 59.70, 59.50, 64.63, 64.79, 64.81]),
    (line(0, false, true, "OffPairC"), [64.34, 64.38, 64.49, 64.09, 64.29, 64.30]),
    (line(0, false, true, "DPEGD"), [70.28, 70.49, 70.51, 70.48, 70.59, 70.82]),
    (line(1, false, true, "OffPairC"), [59.54, 59.59, 59.80, 64.09, 64.29, 64.30]),
    (line(1, false, true, "DPEGD"), [62.87, 62.84, 62.87, 70.48, 70.59, 70.82]),
];

/// AUC at n = 256 for ε = 0.5, 0.8, 1, 2.
#[rustfmt::skip]
pub(super) const TABLE_4: [(Line, [f64; 4]); 18] = [
    (line(0, true, false, "OffPairStrC"), [53.71, 56.05, 59.52, 64.93]),
    (line(0, true, false, "DPGDSC"), [63.26, 63.92, 64.46, 65.51]),
    (line(1, true, false, "OffPairStrC"), [56.33, 59.27, 62.92, 67.01]),
    (line(1, true, false, "DPGDSC"), [65.65, 66.30, 67.23, 67.04]),
    (line(0, false, false, "OffPairC"), [52.01, 52.62, 54.51, 57.44]),
    (line(0, false, false, "DPGDC2"), [52.94, 53.09, 54.61, 59.96]),
    (line(0, false, false, "DPEGD"), [64.52, 64.47, 64.41, 64.37]),
    (line(1, false, false, "OffPairC"), [50.08, 52.90, 54.27, 62.92]),
    (line(1, false, false, "DPGDC2"), [54.37, 58.06, 60.03, 60.44]),
    (line(1, false, false, "DPEGD"), [66.19, 66.21, 66.29, 66.09]),
    (line(0, true, true, "OffPairStrC"), [50.65, 56.45, 59.94, 64.13]),
    (line(0, true, true, "DPGDSC"), [59.16, 62.98, 62.67, 64.63]),
    (line(1, true, true, "OffPairStrC"), [52.24, 54.74, 57.54, 66.25]),
    (line(1, true, true, "DPGDSC"), [62.75, 64.56, 65.47, 66.94]),
    (line(0, false, true, "OffPairC"), [50.25, 50.90, 52.57, 60.13]),
    (line(0, false, true, "DPEGD"), [59.16, 64.35, 64.50, 64.47]),
    (line(1, false, true, "OffPairC"), [52.26, 50.13, 51.43, 58.06]),
    (line(1, false, true, "DPEGD"), [66.34, 66.50, 66.04, 66.38]),
];
