use crate::args::Account;
use crate::failure::Failure;
use crate::printer::Printer;
use pairdp_accountant::{Event, account, calibrate};
use pairdp_units::{Budget, Delta, shown};
use serde_json::json;
use std::process::ExitCode;

pub(crate) fn run(arguments: &Account, printer: &Printer) -> Result<ExitCode, Failure> {
    if let Some(batch) = arguments.batch.filter(|batch| !(1..=arguments.records).contains(batch)) {
        return Err(Failure::refused(
            format!("a sample of {batch} of {} records is not possible", arguments.records),
            "give --batch from 1 to the number of records",
        ));
    }
    let event =
        |multiplier| Event::gaussian_steps(arguments.records, arguments.batch, arguments.steps, multiplier);
    match (arguments.noise_multiplier, arguments.epsilon) {
        (Some(multiplier), _) => {
            let answer = account(&event(multiplier)?, Delta::new(arguments.delta)?)?;
            let (epsilon, lower_bound) = (answer.epsilon.get(), answer.lower_bound);
            let text = format!(
                "ε = {} at δ = {} ({}); some neighbours attain {}",
                shown::up(epsilon),
                shown::up(arguments.delta),
                answer.method,
                shown::down(lower_bound)
            );
            // JSON has no infinity; null says that nothing is promised.
            let finite = |value: f64| value.is_finite().then_some(value);
            let object = json!({
                "epsilon": finite(epsilon), "lower_bound": finite(lower_bound), "method": answer.method.name(),
            });
            printer.result(&text, &object);
        }
        (None, Some(epsilon)) => {
            let multiplier =
                calibrate::noise_multiplier(&event(1.0)?, Budget::new(epsilon, arguments.delta)?)?;
            let text = format!(
                "noise multiplier {} gives ε = {} at δ = {}\n\
                 (standard deviation over the replace-one sensitivity of the sampled query)",
                shown::up(multiplier),
                shown::up(epsilon),
                shown::up(arguments.delta)
            );
            printer.result(&text, &json!({ "noise_multiplier": multiplier }));
        }
        (None, None) => {
            return Err(Failure::refused(
                "neither a noise nor a budget was given",
                "pass --noise-multiplier to learn ε, or --epsilon to learn the noise",
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}
