"""What is installed: small, and on top of NumPy and scikit-learn alone."""

import importlib.metadata
import io
import platform
import re
import subprocess
import sys
import zipfile

import pytest


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


@pytest.mark.skipif(sys.platform != "linux", reason="manylinux is about Linux")
def test_the_module_would_pass_as_manylinux():
    """It needs the C library and the compiler's, as every distribution has them, and no symbol newer than where it was built."""
    from elftools.elf.elffile import ELFFile
    from elftools.elf.gnuversions import GNUVerNeedSection

    module = next(
        file for file in importlib.metadata.files("pairdp") if file.name.startswith("_core") and file.suffix == ".so"
    )
    assert "abi3" in module.name
    with module.locate().open("rb") as stream:
        elf = ELFFile(stream)
        needed = {tag.needed for tag in elf.get_section_by_name(".dynamic").iter_tags("DT_NEEDED")}
        versions = [
            version.name
            for section in elf.iter_sections()
            if isinstance(section, GNUVerNeedSection)
            for _, each in section.iter_versions()
            for version in each
        ]
    everywhere = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libpthread.so.0", "libdl.so.2", "librt.so.1"}
    assert {name for name in needed if not name.startswith("ld-linux")} <= everywhere
    of = {family: [] for family in ("GLIBC", "GCC")}
    for version in versions:
        family, number = version.split("_", 1)
        of[family].append(tuple(map(int, number.split("."))))
    print("manylinux_{}_{}".format(*max(of["GLIBC"])[:2]))
    built_with = tuple(map(int, platform.libc_ver()[1].split(".")))
    assert of["GLIBC"] and max(of["GLIBC"]) <= built_with and max(of["GCC"]) <= (4, 8)


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
