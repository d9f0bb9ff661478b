//! Bassily, Feldman, Guzmán and Talwar (2020), Table 1: how far descents on neighbouring tables get apart.

use crate::{Experiment, Job, Jobs, Row, Value};
use pairdp_audit::stability::table_one;

/// Table 1 with numbers in it.
pub(crate) const TABLE: Experiment = Experiment {
    name: "bassily-stability",
    title: "Uniform argument stability of descents, 1-Lipschitz losses",
    source: "Bassily et al. (2020), Table 1, with η = 0.01 put in. printed upper: their bound in expectation; printed lower: \
             what stands inside their Ω; ours: the bound for the indices drawn; measured: on their construction, the mean \
             over 8 sequences of indices.",
    columns: &["printed upper", "ours", "measured", "printed lower"],
    logarithmic: true,
    quick: "up to 400 steps instead of 6400",
    jobs: |scope| {
        let mut jobs = Jobs::default();
        let most: u32 = if scope.quick { 400 } else { 6400 };
        for records in [20_usize, 200] {
            for steps in [25_u32, 100, 400, 1600, 6400].into_iter().filter(|steps| *steps <= most) {
                jobs.jobs.push(Job {
                    key: format!("n = {records}, T = {steps}"),
                    repetitions: 8,
                    work: Box::new(move || {
                        let rows = table_one(records, steps, 0.01)?;
                        Ok(rows
                            .into_iter()
                            .map(|row| Row {
                                name: row.method.name().to_owned(),
                                values: [row.upper, row.ours, row.measured, row.lower]
                                    .map(Value::known)
                                    .into(),
                            })
                            .collect())
                    }),
                });
            }
        }
        Ok(jobs)
    },
};
