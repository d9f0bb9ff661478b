use crate::args::{Export, ExportFormat};
use crate::failure::Failure;
use crate::files;
use crate::output::{Force, Kind, Output, Role, Taken};
use crate::printer::Printer;
use pairdp_model::{Predictor, Task};
use serde_json::{Value, json};
use std::process::ExitCode;

pub(crate) fn run(arguments: &Export, printer: &Printer) -> Result<ExitCode, Failure> {
    let beside = || arguments.model.with_extension("onnx");
    let (format, kind, path) = match arguments.to {
        ExportFormat::Onnx => ("onnx", Kind::Onnx, Some(arguments.out.clone().unwrap_or_else(beside))),
        ExportFormat::Json => ("json", Kind::Scoring, arguments.out.clone()),
    };
    let reads = Taken::none().and(&arguments.model, Role::Model);
    let out = path.map(|path| Output::new(&path, kind, Force::Never, &reads)).transpose()?;
    let predictor = files::read_predictor(&arguments.model)?;
    let bytes = match arguments.to {
        ExportFormat::Onnx => predictor.to_onnx(),
        ExportFormat::Json => format!("{:#}\n", plain(&predictor)).into_bytes(),
    };
    match out {
        Some(out) => {
            let path = out.path().to_owned();
            out.write(&bytes)?;
            printer.result(&format!("wrote {}", path.display()), &json!({ "out": path, "format": format }));
        }
        None => printer.data(&String::from_utf8_lossy(&bytes)),
    }
    Ok(ExitCode::SUCCESS)
}

/// What a program needs to score rows, with a name beside each weight.
fn plain(predictor: &Predictor) -> Value {
    let features = predictor.feature_names();
    let weights = match predictor.task {
        Task::Metric => {
            let rows: Vec<&[f64]> = predictor.parameters.chunks_exact(features.len()).collect();
            json!(rows)
        }
        _ => json!(predictor.parameters[..features.len()]),
    };
    // What a row is mapped by first, if the model learned from ranks.
    let map = predictor.map_tables();
    let mut object = json!({
        "format": if map.is_some() { "pairdp-scoring/2" } else { "pairdp-scoring/1" }, "task": predictor.task, "columns": predictor.encoding.columns(),
        "label": predictor.label, "feature_bound": predictor.feature_bound, "features": features,
        "weights": weights, "intercept": predictor.intercept(),
    });
    if let Some(map) = map {
        object["map"] = map;
    }
    if let Some(line) = predictor.log_odds() {
        // The probability is 1/(1 + e^−z) with z = intercept + slope·score, the score cut off at both ends.
        let ((intercept, slope), [low, high]) = (line.line(), line.ends());
        object["log_odds"] = json!({ "intercept": intercept, "slope": slope, "low": low, "high": high });
        object["cut"] = json!(predictor.cut());
    }
    // What follows a row in its vector: height·(cos, sin) of each direction's product with the row, whose own part is multiplied by `row`.
    if let Some(waves) = predictor.waves() {
        let (row, height, directions) = waves.parts();
        let directions: Vec<&[f64]> = directions.chunks_exact(waves.columns()).collect();
        object["format"] = json!("pairdp-scoring/4");
        object["waves"] = json!({ "row": row, "height": height, "directions": directions });
    }
    // What hidden units add: outer · tanh(inner · (row, constant) + offsets).
    if let Some(layer) = predictor.hidden_layer() {
        object["format"] = json!("pairdp-scoring/3");
        object["weights"] = json!(layer.linear[..features.len()]);
        object["constant"] = json!(predictor.constant);
        object["hidden"] = json!({ "activation": "tanh", "outer": layer.outer, "offsets": layer.offsets, "inner": layer.inner });
    }
    object
}
