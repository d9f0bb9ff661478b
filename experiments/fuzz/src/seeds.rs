//! Good inputs to start from.

use flate2::Compression;
use flate2::write::GzEncoder;
use pairdp_certificate::Algorithm;
use pairdp_data::{Encoding, Label, simulate};
use pairdp_model::{Predictor, PrivateModel, Task};
use pairdp_noise::Secure;
use pairdp_pairwise::{Domain, MarginLoss, Objective, Problem, RankingForm, Records};
use pairdp_release::{Checkpointer, Curator, Mechanism, Plan};
use pairdp_units::Budget;
use parquet::basic::{Compression as Packing, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::error::Error;
use std::io::Write as _;
use std::sync::Arc;

/// Stands in cells, and must not be in any message.
pub(crate) const SECRET: &str = "Zq7";

/// What the tables are read with.
pub(crate) const SCHEMA: &str = "
private = true
ignore = ['id']
[label]
column = 'y'
positive = 1
negative = 0
[[column]]
name = '1'
range = [0, 10]
missing = 5
[[column]]
name = '2'
categories = ['u', 'v', '0']
missing = 'v'
other = true
[[column]]
name = '3'
range = [-1e3, 1e3]
missing = 0
";

pub(crate) fn csv() -> Vec<Vec<u8>> {
    let quoted =
        format!("id,1,2,3,y\n\"a\n,\"\"b\",\"1.5\",u,-7e2,1\r\n\n{SECRET},,\"v\",12345678.12345678,0\n");
    let plain = "1,2,3,y\n".to_owned() + &"3.25,u,17,1\n9,other,-4,0\n".repeat(200);
    let bad = format!("1,2,3,y\n{SECRET},u,0,1\n1,u,0,{SECRET}\n1,u,{SECRET},0\n");
    [quoted, plain, bad].map(String::into_bytes).to_vec()
}

pub(crate) fn csv_gz() -> Vec<Vec<u8>> {
    let pack = |text: Vec<u8>| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&text).ok()?;
        encoder.finish().ok()
    };
    let long = b"1,2,3,y\n".iter().copied().chain(b"1,u,2,1\n".repeat(1 << 20)).collect();
    csv().into_iter().chain([long]).filter_map(pack).collect()
}

pub(crate) fn libsvm() -> Vec<Vec<u8>> {
    let plain = "1 1:0.5 2:0 3:-2\n0\n1 3:1e3 17:4 # note\n".repeat(100);
    [plain, format!("1 1:1\n{SECRET} 1:{SECRET}\n1 2:{SECRET}")].map(String::into_bytes).to_vec()
}

pub(crate) fn schema() -> Vec<Vec<u8>> {
    let label = "[label]\ncolumn = 'y'\n";
    let column = "[[column]]\nname = 'a'\ncategories = ['x', 2, true]\nother = true\nmissing = 2\n";
    let classes = format!("{label}classes = ['a', 1, 2.5]\n{column}");
    let range = format!("private = false\nignore = ['b']\n{label}range = [0, 1.5]\n{column}");
    [simulate::SCHEMA.to_owned(), SCHEMA.to_owned(), classes, range].map(String::into_bytes).to_vec()
}

pub(crate) fn parquet() -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for packing in [Packing::UNCOMPRESSED, Packing::SNAPPY, Packing::ZSTD(ZstdLevel::default())] {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            files.extend(parquet_file(packing, version));
        }
    }
    files
}

fn parquet_file(packing: Packing, version: WriterVersion) -> Result<Vec<u8>, Box<dyn Error>> {
    let message = "message t {
        required double 1;
        optional binary 2 (STRING);
        optional int64 3 (DECIMAL(18, 2));
        required int32 y;
        optional group deep (LIST) { repeated group list { required int32 element; } }
    }";
    let properties = WriterProperties::builder().set_compression(packing).set_writer_version(version);
    let schema = Arc::new(parse_message_type(message)?);
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build()))?;
    for _ in 0..2 {
        let mut rows = writer.next_row_group()?;
        while let Some(mut column) = rows.next_column()? {
            let present = [1, 1, 0, 1];
            match column.untyped() {
                ColumnWriter::DoubleColumnWriter(w) => w.write_batch(&[0.5, 1.0, 99.0, 3.0], None, None)?,
                ColumnWriter::ByteArrayColumnWriter(w) => {
                    w.write_batch(&["u", SECRET, "v"].map(ByteArray::from), Some(&present), None)?
                }
                ColumnWriter::Int64ColumnWriter(w) => w.write_batch(&[-100, 0, 7], Some(&present), None)?,
                ColumnWriter::Int32ColumnWriter(w) if w.get_descriptor().name() == "y" => {
                    w.write_batch(&[1, 0, 1, 0], None, None)?
                }
                ColumnWriter::Int32ColumnWriter(w) => {
                    w.write_batch(&[1, 2], Some(&[2, 2, 0, 1, 1]), Some(&[0, 1, 0, 0, 0]))?
                }
                _ => 0,
            };
            column.close()?;
        }
        rows.close()?;
    }
    Ok(writer.into_inner()?)
}

pub(crate) fn model() -> Vec<Vec<u8>> {
    let kinds = [Algorithm::NoisyGd, Algorithm::OutputGd, Algorithm::NoisySgd];
    kinds.into_iter().filter_map(|kind| model_file(kind).ok()).collect()
}

fn model_file(kind: Algorithm) -> Result<Vec<u8>, Box<dyn Error>> {
    let objective = Objective::Ranking { form: RankingForm::Indicator, loss: MarginLoss::Logistic };
    let problem = Problem::new(objective, Domain::Ball { radius: 1.0 }, 1.0)?.with_ridge(0.1)?;
    let budget = Budget::new(1.0, 1e-6)?;
    let plan = Plan::suggested(kind, problem, 4, 2, budget)?;
    let records = Records::with_targets(vec![0.5; 8], 2, vec![1.0, -1.0, 1.0, -1.0], 1.0)?;
    let mechanism = Mechanism::calibrate(problem, plan, 4, 2, budget)?;
    let curator = Curator::open(records, mechanism, Secure::from_os()?)?;
    let (parameters, certificate) = curator.certified(&mut Checkpointer::none())?;
    let encoding = Encoding::of_ranges([[0.0, 1.0], [0.0, 2.0]])?;
    let label = Some(Label::binary("y", "1", "0"));
    let predictor = Predictor {
        task: Task::Ranking,
        encoding,
        label,
        feature_bound: 1.0,
        constant: 0.0,
        parameters,
        representation: None,
        probabilities: None,
        random_features: None,
        score: pairdp_pairwise::Score::Linear,
    };
    Ok(PrivateModel::new(predictor, plan.into(), 0.1, certificate).to_json()?.into_bytes())
}
