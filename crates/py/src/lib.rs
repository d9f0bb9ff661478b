//! The native half of the Python package: conversions and calls, no decisions. Defaults, documentation and
//! scikit-learn's conventions live in `python/pairdp`.

mod accounting;
mod audit;
mod evaluation;
mod gateway;
mod ledger;
mod model;
mod parts;
mod planning;
mod scores;
mod settings;
mod signing;
mod tables;
mod training;

use pyo3::prelude::*;

/// `pairdp._core`
#[pymodule]
mod _core {
    #[pymodule_init]
    fn version(module: &super::Bound<'_, super::PyModule>) -> super::PyResult<()> {
        use super::PyModuleMethods as _;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }

    #[pymodule_export]
    use crate::accounting::{epsilon, noise_multiplier, shown_up, trade_off};
    #[pymodule_export]
    use crate::audit::audit;
    #[pymodule_export]
    use crate::evaluation::evaluate;
    #[pymodule_export]
    use crate::ledger::{
        ledger_add, ledger_balances, ledger_check, ledger_check_schema, ledger_create, ledger_grant,
        ledger_history, ledger_set_schema,
    };
    #[pymodule_export]
    use crate::model::{Model, auc, concordance};
    #[pymodule_export]
    use crate::parts::{Part, describe_parts, fit_parts, load_part, merge_states, rehearse_parts};
    #[pymodule_export]
    use crate::planning::{cautions, explain_plan, plan, plan_curve, simulate};
    #[pymodule_export]
    use crate::settings::{losses_by_task, settings_table};
    #[pymodule_export]
    use crate::signing::{new_key, sign};
    #[pymodule_export]
    use crate::tables::{check_label, read_schema, read_targets, read_times};
    #[pymodule_export]
    use crate::training::{fit, fit_baseline, rehearse};
}
