use crate::args::{Export, ExportFormat};
use crate::failure::Failure;
use crate::files;
use crate::printer::Printer;
use pairdp_learn::{Predictor, Task};
use serde_json::{Value, json};
use std::process::ExitCode;

pub(crate) fn run(arguments: &Export, printer: &Printer) -> Result<ExitCode, Failure> {
    let predictor = files::read_predictor(&arguments.model)?;
    let (format, bytes, out) = match arguments.to {
        ExportFormat::Onnx => {
            let beside = || arguments.model.with_extension("onnx");
            ("onnx", predictor.to_onnx(), Some(arguments.out.clone().unwrap_or_else(beside)))
        }
        ExportFormat::Json => {
            ("json", format!("{:#}\n", plain(&predictor)).into_bytes(), arguments.out.clone())
        }
    };
    match out {
        Some(path) => {
            files::check_writable(&path)?;
            files::write_bytes(&path, &bytes)?;
            printer.result(&format!("wrote {}", path.display()), &json!({ "out": path, "format": format }));
        }
        None => Printer::data(&String::from_utf8_lossy(&bytes)),
    }
    Ok(ExitCode::SUCCESS)
}

/// What a program needs to score rows, with a name beside each weight.
fn plain(predictor: &Predictor) -> Value {
    let features = predictor.encoding.feature_names();
    let weights = match predictor.task {
        Task::Metric => {
            let rows: Vec<&[f64]> = predictor.parameters.chunks_exact(features.len()).collect();
            json!(rows)
        }
        _ => json!(predictor.parameters[..features.len()]),
    };
    json!({
        "format": "pairdp-scoring/1", "task": predictor.task, "columns": predictor.encoding.columns(),
        "label": predictor.label, "feature_bound": predictor.feature_bound, "features": features,
        "weights": weights, "intercept": predictor.intercept(),
    })
}
