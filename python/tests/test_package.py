"""What is installed: small, and on top of NumPy and scikit-learn alone."""

import importlib.metadata
import io
import re
import subprocess
import sys
import zipfile


def test_two_packages_are_required():
    required = [line for line in importlib.metadata.requires("pairdp") if "extra ==" not in line]
    assert sorted(re.match(r"[\w-]+", line).group() for line in required) == ["numpy", "scikit-learn"]


def test_the_wheel_is_small():
    """Packs the installed files as a wheel does; what pip compiled is not part of it."""
    files = [file for file in importlib.metadata.files("pairdp") if "__pycache__" not in file.parts]
    assert any(file.name.startswith("_core") for file in files)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as wheel:
        for file in files:
            wheel.write(file.locate(), str(file))
    print(f"{len(packed.getvalue()) / 1e6:.1f} MB")
    assert len(packed.getvalue()) < 10_000_000


def test_nothing_optional_is_needed():
    program = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in ("matplotlib", "pandas", "polars", "pyarrow", "onnxruntime"):
            raise ImportError(name)
sys.meta_path.insert(0, Absent())
import pairdp
data = pairdp.datasets.simulate_cohort(500, seed=1)
print(pairdp.PrivateRanker(epsilon=1.0, delta=1e-6, bounds=data.bounds).fit(data.X, data.y).verify())
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("True\n", "")


def test_importing_the_package_does_not_import_scikit_learn():
    program = "import sys, pairdp; print('sklearn' in sys.modules, 'PrivateRanker' in dir(pairdp))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("False True\n", "")
