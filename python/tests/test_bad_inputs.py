"""What Python refuses, and in which words: the whole message of each."""

import io
import json
import pickle
import subprocess
import sys

import numpy as np
import pandas
import pytest
from scipy import sparse

from pairdp import (
    PrivateClassifier,
    PrivateMetric,
    PrivateRanker,
    PrivateRegressor,
    _core,
    accounting,
    audit,
    baseline,
    engines,
    evaluate,
    plan,
)
from pairdp.engines.__main__ import main
from pairdp.engines.frames import receive, send
from pairdp.engines.hold import Kernel
from pairdp.ledger import Ledger

X = np.linspace(-1, 1, 40).reshape(20, 2)
y = (X[:, 0] > 0).astype(int)
FRAME = pandas.DataFrame(X, columns=["age", "dose"])
TEXT = np.where(y == 1, "yes", "no")
PUBLIC = {"epsilon": 1.0, "delta": 1e-6, "bounds": (-1, 1)}
SCHEMA = '[label]\ncolumn = "ill"\npositive = "yes"\nnegative = "no"\n\n[[column]]\nname = "age"\nrange = [0, 100]\n'


def ranker(**changes):
    return PrivateRanker(**PUBLIC | changes)


def classifier(**changes):
    return PrivateClassifier(**PUBLIC | {"classes": (0, 1)} | changes)


def metric(**changes):
    return PrivateMetric(**PUBLIC | {"classes": [0, 1]} | changes)


def regressor(**changes):
    return PrivateRegressor(**PUBLIC | {"target_bounds": (0, 1)} | changes)


def secret(make=ranker):
    return make(max_records=50)


def cell(value, row=3):
    table = X.astype(object)
    table[row, 1] = value
    return table


def framed(value):
    frame = FRAME.astype(object)
    frame.iloc[3, 0] = value
    return frame


def labels(value, row=3):
    changed = y.astype(object)
    changed[row] = value
    return changed


def parts(folder, text="age,ill\n40,yes\n50,no\n"):
    (folder / "s.toml").write_text(SCHEMA)
    (folder / "parts").mkdir(exist_ok=True)
    for name in "ab":
        (folder / "parts" / f"{name}.csv").write_text(text)
    return folder / "parts", folder / "s.toml"


def partitioned(folder, text="age,ill\n40,yes\n50,no\n", engine="local:2", **changes):
    return PrivateRanker(**{"epsilon": 1.0, "delta": 1e-6} | changes).fit_partitions(*parts(folder, text), engine)


KERNEL = (b"K", pickle.dumps(Kernel()))


def described(folder, text="age,ill\n40,yes\n50,no\n"):
    """Return the message that has a table's parts loaded."""
    data, schema = map(str, parts(folder, text))
    return b"P", json.dumps(_core.describe_parts(data, schema, '{"task": "ranking"}', 2)[0]).encode()


def frames(messages):
    stream = io.BytesIO()
    for message in messages:
        send(stream, *message)
    return io.BytesIO(stream.getvalue())


def refusal(answers):
    """Raise the first refusal among the answers; silence is none."""
    while True:
        tag, body = receive(answers)
        if tag == b"E":
            raise ValueError(body.decode())


def bridge(*messages):
    answers = io.BytesIO()
    main("local:1", frames(messages), answers)
    refusal(io.BytesIO(answers.getvalue()))


def worker(*messages):
    program = [sys.executable, "-c", "from pairdp.engines.worker import run; run()"]
    run = subprocess.run(program, input=frames(messages).getvalue(), capture_output=True, timeout=60)
    assert run.returncode == 0, run.stderr
    refusal(io.BytesIO(run.stdout))


def saved(folder, text):
    (folder / "m.json").write_text(text)
    return folder / "m.json"


def ledger(folder, records=20):
    made = Ledger.create(folder / "c.ledger")
    made.add("stays", epsilon=1.0, delta=1e-6, records=records, schema=ranker().table_schema(X.shape[1]))
    return made


# Call, and what it says; FOLDER stands for the folder of the test.
CASES = {
    "ranker(epsilon=None).fit(X, y)": (
        "no privacy budget (epsilon missing): set epsilon and delta, for example PrivateRanker(epsilon=1.0, delta=1e-6, bounds=...). Smaller is more private; epsilon about 1 and delta well below 1 / number of records are usual"
    ),
    "ranker(delta=None).fit(X, y)": (
        "no privacy budget (delta missing): set epsilon and delta, for example PrivateRanker(epsilon=1.0, delta=1e-6, bounds=...). Smaller is more private; epsilon about 1 and delta well below 1 / number of records are usual"
    ),
    "ranker(epsilon=0).fit(X, y)": (
        "ε must be a finite number above 0, not 0\nhint: ε = 1 is a common choice; smaller protects more"
    ),
    'ranker(epsilon=float("nan")).fit(X, y)': (
        "ε must be a finite number above 0, not NaN\nhint: ε = 1 is a common choice; smaller protects more"
    ),
    "ranker(delta=1.0).fit(X, y)": (
        "δ must be at least 0 and below 1, not 1\nhint: take δ well below 1/n, for example 1e-6; 0 asks for pure ε"
    ),
    'ranker(delta=0.0, mechanism="gaussian").fit(X, y)': (
        "Gaussian noise cannot give pure ε (δ = 0)\nhint: set a small δ, for example 1e-6"
    ),
    "ranker(bounds=None).fit(X, y)": (
        "no public bounds: set bounds=(low, high), from public knowledge and never from the data"
    ),
    "ranker(bounds=(1, -1)).fit(X, y)": (
        "bounds of column 0: a range is two finite numbers, the smaller first; bounds=(low, high) has all lower bounds first, then all upper ones"
    ),
    "ranker(bounds=5).fit(X, y)": (
        "bounds must be a pair (low, high) of numbers, or of arrays with one number for each of 2 features"
    ),
    "ranker(bounds=([0, 0, 0], [1, 1, 1])).fit(X, y)": (
        "bounds must be a pair (low, high) of numbers, or of arrays with one number for each of 2 features"
    ),
    'ranker(algorithm="sorcery").fit(X, y)': (
        "algorithm must be one of auto, noisy-gd, noisy-sgd, online-pair, output-gd, output-sgd, phased-gd, localized-sgd, offline-pair, matching-sgd, moments, not 'sorcery'"
    ),
    'ranker(loss="grief").fit(X, y)': (
        "loss must be one of logistic, capped-logistic, hinge, squared, q-hinge, q-norm, not 'grief'"
    ),
    'ranker(mechanism="laplacian").fit(X, y)': (
        "mechanism must be one of auto, gaussian, laplace, euclidean, not 'laplacian'"
    ),
    "ranker(steps=0).fit(X, y)": ("the number of steps must be at least 1, not 0"),
    'ranker(steps="many").fit(X, y)': ("steps must be a whole number of at least 0, not 'many'"),
    "ranker(feature_bound=0.0).fit(X, y)": ("the feature bound must be between 1e-30 and 1e30, not 0"),
    "ranker(ridge=-1.0).fit(X, y)": (
        "the ridge must be a finite number of at least 0, not -1\nhint: sensible values are 1 for a feature bound, 0.01 for a ridge and 1.5 for an exponent"
    ),
    'ranker(options={"max_records": 50})': ("PrivateRanker.__init__() got an unexpected keyword argument 'options'"),
    "ranker(max_records=-1).fit(X, y)": ("max_records must be a whole number of at least 0, not -1"),
    "ranker().fit(X, y, sample_weight=np.ones(20))": (
        "sample_weight is not supported: the noise is scaled to what one record of weight 1 can change, and a heavier record would be protected less than the certificate says"
    ),
    'ranker().fit(X, y, colour="red")': ("fit() has no parameter 'colour'"),
    "ranker().fit(X, None)": ("fitting requires y to be passed, but the target y is None"),
    "ranker().fit(X[:1], y[:1])": ("Found array with 1 sample(s) while a minimum of 2 is required."),
    "ranker().fit(X[:0], y[:0])": ("Found array with 0 sample(s) while a minimum of 2 is required."),
    "ranker().fit(X[:, :0], y)": ("Found array with 0 feature(s) (shape=(20, 0)) while a minimum of 1 is required."),
    "ranker().fit(X[0], y)": (
        "Expected 2D array, got 1D array instead: X must have a row for each record and a column for each feature. Reshape your data"
    ),
    "ranker().fit(X.reshape(20, 2, 1), y)": (
        "Expected 2D array, got 3D array instead: X must have a row for each record and a column for each feature. Reshape your data"
    ),
    "ranker().fit(sparse.csr_matrix(X), y)": (
        "X is sparse, which is not supported: features are mapped to [-1, 1] by the bounds, so that zeros do not stay zeros and nothing would be saved. Use X.toarray()"
    ),
    "ranker().fit([[1, 2], [3]], [0, 1])": ("X must be a table: rows of one length"),
    'ranker().fit("table.csv", y)': ("X must be a table: rows of one length"),
    "ranker().fit(X + 1j, y)": ("Complex data not supported: X must hold real numbers"),
    'ranker().fit(cell("P00000SECRET"), y)': ("X: column 1, row 3: not a number"),
    'ranker().fit(framed("P00000SECRET"), y)': ("X: column `age`, row 3: not a number"),
    'ranker().fit(cell({"P00000SECRET": 1}), y)': (
        "X: column 1, row 3: neither a number nor text: an argument must be a string or a number"
    ),
    "ranker().fit(cell(None), y)": (
        "X: column 1, row 3: NaN is not a number to learn from; put a public value in its place"
    ),
    "ranker().fit(framed(np.nan), y)": (
        "X: column `age`, row 3: NaN is not a number to learn from; put a public value in its place"
    ),
    "ranker().fit(framed(np.inf), y)": (
        "X: column `age`, row 3: infinity (inf) is not a number to learn from; put a public value in its place"
    ),
    'ranker().fit(np.array([(1, 2)] * 20, dtype=[("a", "f8"), ("b", "f8")]), y)': (
        "X is a structured array; make a plain one, or a data frame, of its columns"
    ),
    'ranker().fit(np.full((20, 2), "2031-05-07", dtype="M8[D]"), y)': (
        "X must hold numbers, not times or other objects"
    ),
    'secret().fit(framed("P00000SECRET"), y)': ("X: column `age`: not a number"),
    "secret().fit(framed(np.nan), y)": (
        "X: column `age`: NaN is not a number to learn from; put a public value in its place"
    ),
    "secret().fit(X, y[:5])": ("Found input variables with inconsistent numbers of samples"),
    "secret().fit(X.tolist(), y)": (
        "X must be an array or a table of a known width where the number of records is secret: a list of no rows has none"
    ),
    "secret(classifier).fit(X, labels(7))": (
        "y: the label is not among classes; list every possible label in classes (it is not shown, because labels are private)"
    ),
    'secret(regressor).fit(X, labels("P00000SECRET"))': ("y: not a number"),
    "ranker().fit(X, y[:5])": ("Found input variables with inconsistent numbers of samples: [20, 5]"),
    "ranker().fit(X, np.ones((20, 2)))": ("y should be a 1d array, got one of 2 dimensions"),
    "ranker().fit(X, TEXT)": (
        "y holds text but positive_label is 1: set positive_label to the text that should rank high"
    ),
    'ranker().fit(X, labels(["P00000SECRET"]))': (
        "y, row 3: Unknown label type: labels must be numbers, truth values or text"
    ),
    "ranker().fit(X, labels(np.nan))": ("y, row 3: NaN or infinity (inf) is neither a label nor a target"),
    "ranker().fit(X, y * 1j)": ("Complex data not supported: y must hold real numbers or text"),
    'ranker().fit(X, y.astype("M8[D]"))': ("Unknown label type: y must hold numbers, truth values or text"),
    "classifier(classes=None).fit(X, y)": (
        "no public classes: set classes to the list of possible labels, never read from the data"
    ),
    "classifier(classes=(0, 1, 2)).fit(X, y)": (
        "classes must be a pair (negative, positive): the classifier is binary"
    ),
    "classifier(classes=(0, 0)).fit(X, y)": ("classes must be a list of at least two labels, each listed once"),
    "classifier().fit(X, labels(7))": (
        "y, row 3: the label is not among classes; list every possible label in classes (it is not shown, because labels are private)"
    ),
    "classifier().fit(X, X[:, 0])": (
        "Unknown label type: continuous. The labels must be those of the public list of classes"
    ),
    "metric(classes=None).fit(X, y)": (
        "no public classes: set classes to the list of possible labels, never read from the data"
    ),
    "metric(classes=[0]).fit(X, y)": ("classes must be a list of at least two labels, each listed once"),
    'metric().fit(X, labels("P00000SECRET"))': (
        "y, row 3: the label is not among classes; list every possible label in classes (it is not shown, because labels are private)"
    ),
    'metric(loss="squared").fit(X, y)': ("metric has no squared loss\nhint: leave the loss out for the usual one"),
    "regressor(target_bounds=None).fit(X, y)": (
        "no public target bounds: set target_bounds=(low, high), from public knowledge and never from the data"
    ),
    "regressor(target_bounds=(1, 0)).fit(X, y)": ("target_bounds must be two finite numbers, the smaller first"),
    'regressor().fit(X, labels("P00000SECRET"))': ("y, row 3: not a number"),
    "regressor().fit(X, labels(np.inf).astype(float))": (
        "y, row 3: NaN or infinity (inf) is neither a label nor a target"
    ),
    "ranker().decision_function(X)": (
        "This PrivateRanker instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator."
    ),
    "ranker().fit(X, y).decision_function(X[:, :1])": (
        "X has 1 features, but PrivateRanker is expecting 2 features as input."
    ),
    'ranker().fit(FRAME, y).decision_function(FRAME[["dose", "age"]])': (
        "The feature names should match those that were passed during fit.\nFeature names must be in the same order as they were in fit.\n"
    ),
    'ranker().fit(X, y).decision_function(cell("P00000SECRET"))': ("X: column 1, row 3: not a number"),
    "ranker().fit(X, y).score(X, np.zeros(20))": ("AUC needs a record of each class"),
    "ranker().fit(X, y).score(X, y[:5])": ("Found input variables with inconsistent numbers of samples: [20, 5]"),
    "classifier().fit(X, y).predict(X[0])": (
        "Expected 2D array, got 1D array instead: X must have a row for each record and a column for each feature. Reshape your data"
    ),
    'regressor().fit(X, y).score(X, labels("P00000SECRET"))': ("y, row 3: not a number"),
    "metric().fit(X, y).pair_distance([[1, 2]])": ("pairs must have the shape (n_pairs, 2, 2)"),
    'metric().fit(X, y).pair_distance([[["P00000SECRET", 1], [1, 2]]])': ("pairs must hold finite numbers only"),
    "baseline.Classifier().fit(X, np.arange(20) % 3)": (
        "Only binary classification is supported: y has 3 class(es), not 2; the type of the target must be binary"
    ),
    'baseline.Regressor().fit(X, labels("P00000SECRET"))': ("y, row 3: not a number"),
    'PrivateRanker.load(saved(folder, "{}"))': ("not a pairdp model file"),
    'PrivateRanker.load(saved(folder, "not json"))': ("not a pairdp model file"),
    "PrivateMetric.load(saved(folder, ranker().fit(X, y).model_))": (
        "the model is for ranking, but PrivateMetric is for metric"
    ),
    "baseline.Ranker.load(saved(folder, ranker().fit(X, y).model_))": (
        "the model was trained with privacy, and Ranker is for models without it"
    ),
    'ranker().save(folder / "m.json")': (
        "This PrivateRanker instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator."
    ),
    "partitioned(folder, epsilon=None)": (
        "no privacy budget (epsilon missing): set epsilon and delta, for example PrivateRanker(epsilon=1.0, delta=1e-6). Smaller is more private; epsilon about 1 and delta well below 1 / number of records are usual"
    ),
    'partitioned(folder, engine="local:0")': (
        "an engine needs a number of workers of at least 1, which 'local:0' does not say"
    ),
    'partitioned(folder, engine="spark://h:1")': (
        "an engine is one of local:N, ray:auto, ray:host:port, ray://host:port or dask://host:port, not 'spark://h:1'"
    ),
    'partitioned(folder, algorithm="noisy-sgd")': (
        "noisy-sgd needs the table in one place\nhint: train without an engine; or, with one, use `noisy-gd`, `output-gd`, `phased-gd` or `moments` with the logistic, hinge or squared loss, a public number of records and all records of a person"
    ),
    'partitioned(folder, "age,ill\\n40,yes\\nP00000SECRET,no\\n")': (
        "FOLDER/parts/a.csv: column `age`: not a number\nhint: correct the cell, or leave the column out of the schema; "
        'decimal commas need `decimal = ","` there'
    ),
    'partitioned(folder, "age,ill\\n40,yes\\n50,P00000SECRET\\n")': (
        "FOLDER/parts/a.csv: column `ill`: the label is none of the values that the schema lists\nhint: list every value under [label] in the schema: `positive` and `negative`, or `classes`"
    ),
    'partitioned(folder, "age\\n40\\n")': (
        "FOLDER/parts/a.csv: line 1: no column `ill` in the header\nhint: check the spelling: names must match exactly, upper and lower case included"
    ),
    'partitioned(folder, "age,ill\\n40,yes,P00000SECRET\\n")': (
        "FOLDER/parts/a.csv: a row has not as many cells as the header\nhint: quote cells that contain the delimiter"
    ),
    'ranker().fit_partitions(folder / "absent", parts(folder)[1])': (
        "FOLDER/absent: no such file\nhint: check the path"
    ),
    'ranker().fit_partitions(parts(folder)[0], folder / "absent.toml")': (
        "FOLDER/absent.toml: no such file\nhint: check the path"
    ),
    "regressor().fit_partitions(*parts(folder))": ("regression needs `range` under [label] in the schema"),
    'ledger(folder).fit(baseline.Ranker(), "stays", X, y)': ("a ledger pays for private estimators, not for Ranker"),
    'ledger(folder).fit(ranker(), "nobody", X, y)': (
        'the ledger has no data set `nobody`\nhint: `Ledger.show` lists them; `Ledger.add("nobody", ...)` makes one'
    ),
    'ledger(folder).fit(ranker(positive_label=7), "stays", X, y)': (
        '`stays` is read by another schema than this one, and the schema belongs to the data set\nhint: use the schema that was set; nothing was opened or spent. Its owner changes it with `Ledger.set_schema("stays", ...)`'
    ),
    'ledger(folder, 30).fit(ranker(), "stays", X, y)': (
        "the table has 20 records, the ledger says 30 for `stays`\nhint: nothing was spent; name the table's own data set, or enter this table as a new one"
    ),
    'ledger(folder, None).fit(ranker(), "stays", X, y)': (
        "the ledger does not say how many records `stays` has\nhint: enter the data set with its number of records; where that is secret, say how many there are at most: `max_records=` or `max_persons=`"
    ),
    'ledger(folder).fit(ranker(epsilon=3.0), "stays", X, y)': (
        'the run needs (ε = 3, δ = 1e-6) but `stays` has already spent ε = 0 of its (ε = 1, δ = 1e-6)\nhint: pass `epsilon=1`, which fits with Gaussian noise, or ask the owner to run `Ledger.grant("stays", epsilon=..., delta=...)`'
    ),
    'Ledger.open(folder / "absent.ledger")': (
        "FOLDER/absent.ledger: there is no ledger\nhint: `Ledger.create` makes one"
    ),
    "Ledger.create(ledger(folder)._file[0])": ("FOLDER/c.ledger: the file exists already\nhint: name another file"),
    'ledger(folder).check("12")': ("since must be a head that `check` returned"),
    "plan(1, 2, epsilon=1.0, delta=1e-6)": ("pairwise learning needs at least 2 records, not 1"),
    "plan(100, 2, epsilon=-1.0, delta=1e-6)": (
        "ε must be a finite number above 0, not -1\nhint: ε = 1 is a common choice; smaller protects more"
    ),
    'plan(100, 2, epsilon=1.0, delta=1e-6, algorithm="sorcery")': (
        "algorithm must be one of auto, noisy-gd, noisy-sgd, online-pair, output-gd, output-sgd, phased-gd, localized-sgd, offline-pair, matching-sgd, moments, not 'sorcery'"
    ),
    "accounting.epsilon(records=100, noise_multiplier=-1.0, delta=1e-6)": ("`noise_multiplier` cannot be -1"),
    "audit(runs=10, epsilon=0.0, delta=1e-3)": (
        "ε must be a finite number above 0, not 0\nhint: ε = 1 is a common choice; smaller protects more"
    ),
    'bridge((b"Q", b"P00000SECRET"))': ("parts come first and once, then questions"),
    'bridge((b"X", b""))': ("parts come first and once, then questions"),
    "bridge(described(folder), described(folder))": ("parts come first and once, then questions"),
    'bridge((b"P", b"P00000SECRET"))': ("not a list of parts"),
    'bridge((b"P", b"[1]"))': ("not a list of parts"),
    'bridge((b"P", b"[]"))': ("there are no parts to compute on"),
    'bridge((b"P", b\'["P00000SECRET"]\'))': (
        "the engine failed: a request or reply cannot be read: driver and workers must be of one version"
    ),
    'bridge(described(folder), (b"Q", b"P00000SECRET"))': (
        "the engine failed: a request or reply cannot be read: driver and workers must be of one version"
    ),
    'bridge(described(folder, "age,ill\\n40,yes\\nP00000SECRET,no\\n"))': (
        "FOLDER/parts/a.csv: column `age`: not a number\nhint: correct the cell, or leave the column out of the schema; "
        'decimal commas need `decimal = ","` there'
    ),
    'worker((b"Q", b"P00000SECRET"))': ("not a message for a worker"),
    "worker(described(folder))": ("not a message for a worker"),
    'worker(KERNEL, (b"Q", b"P00000SECRET"))': ("not a message for a worker"),
    'worker(KERNEL, (b"X", b"P00000SECRET"))': ("not a message for a worker"),
    'worker(KERNEL, (b"P", b"P00000SECRET"))': ("not a list of parts"),
    'worker(KERNEL, (b"P", b\'["P00000SECRET"]\'))': (
        "the engine failed: a request or reply cannot be read: driver and workers must be of one version"
    ),
    'worker(KERNEL, described(folder), (b"Q", b"P00000SECRET"))': (
        "the engine failed: a request or reply cannot be read: driver and workers must be of one version"
    ),
    'worker(KERNEL, described(folder, "age,ill\\n40,yes\\n50,P00000SECRET\\n"))': (
        "FOLDER/parts/a.csv: column `ill`: the label is none of the values that the schema lists\nhint: list every value under [label] in the schema: `positive` and `negative`, or `classes`"
    ),
    'engines.connect("local:2", [])': ("there are no parts to compute on"),
    "secret(metric).fit(X, labels(7))": (
        "y: the label is not among classes; list every possible label in classes (it is not shown, because labels are private)"
    ),
    'ranker(ridge="big").fit(X, y)': ("ridge must be a finite number, not 'big'"),
    "ranker(radius=-1.0).fit(X, y)": (
        "the radius must be between 1e-30 and 1e30, not -1\nhint: sensible values are 1 for a feature bound, 0.01 for a ridge and 1.5 for an exponent"
    ),
    'ranker(step_size=0.0, algorithm="noisy-gd").fit(X, y)': ("the step size must be a finite number above 0, not 0"),
    'ranker(loss="q-hinge", q=3.0).fit(X, y)': (
        "the exponent q must be above 1 and below 2 (for residuals, at most 2), not 3\nhint: sensible values are 1 for a feature bound, 0.01 for a ridge and 1.5 for an exponent"
    ),
    'ranker(max_records=10, algorithm="output-gd").fit(X, y)': (
        "there is no proof for output-gd where the number of records is secret\nhint: use the logistic loss and `noisy-gd` or `moments`, and promise the cap for probabilities (`promised=True`); or make the number of records public"
    ),
    "evaluate(X, X, y, epsilon=1.0)": "model must be an estimator of pairdp, not a ndarray",
    "evaluate(ranker().fit(X, y), X, y, epsilon=None)": "epsilon must be a number, not a NoneType",
    "plan(100, 2, epsilon=1.0, delta=None)": (
        "no privacy budget (delta missing): set epsilon and delta, for example pairdp.plan(5000, 20, epsilon=1.0, delta=1e-6). Smaller is more private; epsilon about 1 and delta well below 1 / number of records are usual"
    ),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@pytest.mark.parametrize("call", CASES)
def test_issue_18_bad_inputs_have_their_words(call, tmp_path):
    with pytest.raises((ValueError, TypeError, OSError)) as refused:
        eval(call, globals() | {"folder": tmp_path})
    message = str(refused.value).replace(str(tmp_path), "FOLDER")
    assert message == CASES[call]
    assert "P00000SECRET" not in message
    # Nobody in Python can pass a flag or run a command.
    assert " --" not in message and "`--" not in message and "`pairdp " not in message
