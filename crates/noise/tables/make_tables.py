"""Writes ../src/ziggurat/tables.rs: the constants of the lazy exact ziggurat, each inequality checked by intervals.

Run: python3 crates/noise/tables/make_tables.py [--check]   (needs mpmath; --check compares and writes nothing)

The names are those of proofs/ziggurat.md. f(x) = exp(-x^2/2) on x >= 0 is covered by 512 layers of equal area V:
layer i is a rectangle of width X_i between the heights F_i and F_{i+1} = F_i + V/X_i. Widths, V and the accept
thresholds are dyadic rationals, so the layers have *exactly* the same area and nine random bits choose one.
"""

import sys
from pathlib import Path

from mpmath import ceil, exp, floor, iv, log, mp, mpf, sqrt

mp.dps = 80
iv.dps = 80

LAYER_BITS = 9
LAYERS = 1 << LAYER_BITS
POSITION_BITS = 63 - LAYER_BITS  # one word = 9 layer bits, 54 position bits, a sign
WIDTH_SCALE = 60  # X_i and w in units of 2^-60
AREA_SCALE = 120  # V and R in units of 2^-120
HEIGHT_SCALE = 127  # F_i, c and exponentials in units of 2^-127


def density(x):
    return exp(-x * x / 2)


def inverse(height):
    return sqrt(-2 * log(height)) if height < 1 else mpf(0)


def base_area(edge):
    """The area of the base layer: a rectangle up to `edge`, and strips of width ln 2/edge with halving heights."""
    return density(edge) * (edge + 2 * log(2) / edge)


def top_height(edge):
    """F_N when the tail starts at `edge`: too low if `edge` is too large, and the reverse."""
    area, height, width = base_area(edge), density(edge), edge
    for layer in range(1, LAYERS):
        height += area / width
        if height >= 1:
            return height if layer == LAYERS - 1 else mpf(2)
        width = inverse(height)
    return height


def solve_edge():
    low, high = mpf(2), mpf(8)
    for _ in range(250):
        middle = (low + high) / 2
        low, high = (middle, high) if top_height(middle) >= 1 else (low, middle)
    # A little slack, so that widths rounded up still reach the top.
    return low * (1 - mpf(2) ** -40)


def as_int(value, scale):
    return int(floor(value * mpf(2) ** scale + mpf(1) / 2))


# --- choose the constants: ordinary high-precision arithmetic, nothing is trusted -------------------------------
edge = solve_edge()
V = int(floor(base_area(edge) * (1 + mpf(2) ** -40) * mpf(2) ** AREA_SCALE))
area = mpf(V) / mpf(2) ** AREA_SCALE
X = [int(floor(area / density(edge) * mpf(2) ** WIDTH_SCALE))]
heights = [mpf(0), area / X[0] * mpf(2) ** WIDTH_SCALE]
for layer in range(1, LAYERS):
    X.append(int(ceil(inverse(heights[layer]) * mpf(2) ** WIDTH_SCALE + 1)))
    heights.append(heights[layer] + area / X[layer] * mpf(2) ** WIDTH_SCALE)
K = [int(ceil(edge * mpf(2) ** (WIDTH_SCALE + POSITION_BITS) / X[0]))]
for layer in range(1, LAYERS):
    reach = inverse(heights[layer + 1]) * mpf(2) ** (WIDTH_SCALE + POSITION_BITS) / X[layer]
    K.append(int(floor(reach)) if heights[layer + 1] < 1 else 0)
# R = X_0 K_0 2^-54, exactly a multiple of 2^-120.
R_exact = mpf(X[0] * K[0]) / mpf(2) ** (WIDTH_SCALE + POSITION_BITS)
R = as_int(R_exact, AREA_SCALE)
W = int(ceil(log(2) / R_exact * mpf(2) ** WIDTH_SCALE + 1))
c = heights[1] * (mpf(X[0]) / mpf(2) ** WIDTH_SCALE - R_exact) / (2 * mpf(W) / mpf(2) ** WIDTH_SCALE) / density(R_exact)

# --- check them: interval arithmetic on the integers that will be written --------------------------------------


def two(power):
    return iv.mpf(2) ** power


def f(x):
    return iv.exp(-x * x / 2)


def le(a, b):
    """Certainly a <= b."""
    return a.b <= b.a


VI = iv.mpf(V) * two(-AREA_SCALE)
XI = [iv.mpf(x) * two(-WIDTH_SCALE) for x in X]
FI = [iv.mpf(0)]
for layer in range(LAYERS):
    FI.append(FI[-1] + VI / XI[layer])  # (1) F_{i+1} = F_i + V/X_i: every layer has area V
for layer in range(1, LAYERS):
    assert le(f(XI[layer]), FI[layer]), "(2) each layer is as wide as the curve at its foot"
    reach = XI[layer] * K[layer] * two(-POSITION_BITS)
    assert K[layer] == 0 or le(FI[layer + 1], f(reach)), "(3) positions below K_i lie under the curve"
assert le(iv.mpf(1), FI[LAYERS]), "(4) the layers reach the top"
RI = XI[0] * K[0] * two(-POSITION_BITS)
assert R == X[0] * K[0] << (AREA_SCALE - WIDTH_SCALE - POSITION_BITS), "(5) R is stored exactly"
# (6) the seam: left of R the base rectangle may exceed the curve, by less than R f(R) (R - x)^2/2 in area
assert le(f(RI), FI[1])
seam_start = iv.sqrt(-2 * iv.log(FI[1]))
seam = (FI[1] - f(RI)) * (RI - seam_start)
assert le(seam, two(-110)), "(6) the seam at R"
WI = iv.mpf(W) * two(-WIDTH_SCALE)
assert le(iv.log(iv.mpf(2)), RI * WI), "(7) strips of width w with halving heights stay above the curve"
CI = FI[1] * (XI[0] - RI) / (2 * WI) / f(RI)
assert le(iv.mpf(1), CI) and le(CI, iv.mpf(2)), "(8) the first strip covers the curve, and c fits"
wedge = min((FI[i + 1] - FI[i]).a for i in range(1, LAYERS))
assert wedge >= mpf(2) ** -11, "(9) no layer is thinner than 2^-11"
fast = sum(mpf(k) for k in K) / mpf(2) ** POSITION_BITS / LAYERS
assert 1 - fast <= mpf(2) ** -6, "(10) slow paths are rare"
accept = sqrt(mp.pi / 2) / (LAYERS * area)
assert accept >= mpf("0.99"), "(11) few proposals are rejected"
print(f"R {mp.nstr(R_exact, 10)}  w {mp.nstr(mpf(W) / mpf(2) ** WIDTH_SCALE, 6)}  c {mp.nstr(c, 8)}  slow {mp.nstr(1 - fast, 4)}", file=sys.stderr)
print(f"accepted {mp.nstr(accept, 6)}  thinnest layer 2^{mp.nstr(log(mpf(wedge), 2), 5)}", file=sys.stderr)
print(f"seam 2^{mp.nstr(log(mpf(seam.b), 2), 5)}  F_N - 1 = {mp.nstr(heights[LAYERS] - 1, 4)}", file=sys.stderr)


# --- write ------------------------------------------------------------------------------------------------------


def literal(value):
    digits = f"{value:x}"
    digits = digits.zfill(-(-len(digits) // 4) * 4)
    return "0x" + "_".join(digits[i : i + 4] for i in range(0, len(digits), 4))


def array(items, per_line):
    lines = [items[i : i + per_line] for i in range(0, len(items), per_line)]
    return "".join("    " + ", ".join(line) + ",\n" for line in lines)


align = 64 - POSITION_BITS
layers = [f"Layer {{ width: {literal(x)}, certain: {literal(k << align)} }}" for x, k in zip(X, K)]
curve = [literal(as_int(h, HEIGHT_SCALE)) for h in heights]
exponentials = [literal(as_int(exp(-mpf(j) / 128), HEIGHT_SCALE)) for j in range(89)]
reciprocals = [literal((2**128 - 1) // n) for n in range(2, 17)]
text = f"""//! Constants of the ziggurat. Written by `tables/make_tables.py`; do not edit.

/// One layer of the ziggurat.
pub(super) struct Layer {{
    /// X_i in units of 2⁻⁶⁰.
    pub(super) width: u64,
    /// Positions below this, in units of 2⁻⁶⁴ of the width, lie under the curve for certain.
    pub(super) certain: u64,
}}

pub(super) const LAYER_BITS: u32 = {LAYER_BITS};
pub(super) const POSITION_BITS: u32 = {POSITION_BITS};

/// R, where the tail starts, in units of 2⁻¹²⁰.
pub(super) const TAIL_START: u128 = {literal(R)};
/// w, the width of a strip of the tail, in units of 2⁻⁶⁰.
pub(super) const STRIP_WIDTH: u64 = {literal(W)};
/// c, the height of the first strip over f(R), in units of 2⁻¹²⁷.
pub(super) const STRIP_HEIGHT: u128 = {literal(as_int(c, HEIGHT_SCALE))};
/// V, the area of every layer, in units of 2⁻¹²⁰: what the heights are made from.
#[cfg(test)]
pub(super) const AREA: u128 = {literal(V)};
/// ln 2 in units of 2⁻¹²⁰.
pub(super) const LN_2: u128 = {literal(as_int(log(2), 120))};
/// 1/ln 2 in units of 2⁻⁶³, rounded down.
pub(super) const INVERSE_LN_2: u64 = {literal(int(floor(mpf(2) ** 63 / log(2))))};

/// The layers, the base layer first.
pub(super) static LAYERS: [Layer; 1 << LAYER_BITS] = [
{array(layers, 1)}];

/// F_i in units of 2⁻¹²⁷: layer i lies between `HEIGHTS[i]` and `HEIGHTS[i + 1]`.
pub(super) static HEIGHTS: [u128; (1 << LAYER_BITS) + 1] = [
{array(curve, 2)}];

/// exp(−j/128) in units of 2⁻¹²⁷.
pub(super) static EXPONENTIALS: [u128; {len(exponentials)}] = [
{array(exponentials, 2)}];

/// 1/n in units of 2⁻¹²⁸, for n from 2 to 16.
pub(super) static RECIPROCALS: [u128; {len(reciprocals)}] = [
{array(reciprocals, 2)}];
"""
target = Path(__file__).resolve().parent.parent / "src/ziggurat/tables.rs"
if "--check" in sys.argv:
    assert target.read_text() == text, "tables.rs is not what this script writes"
else:
    target.write_text(text)
