"""Compiled twins of the loops in ``_kernels``, imported only for long inputs and only when numba is installed.

Reasons, measured at 10⁶ rows on one core: the table takes 14 ms instead of 65 (NumPy's sort is 52 of them), pooling
violators 3 ms instead of 12, the gradient of a logistic fit 0.5 ms instead of 2. Each kernel takes one dtype per
argument and avoids ``parallel`` and ``np.linalg``, which multiply the time of the first call.
"""

import math

import numba
import numpy as np

from oddsmith._types import Bools, Floats, Ints

_jit = numba.njit(cache=True, nogil=True, boundscheck=False)

#: Reductions of the exponent, log 2 in two parts, the first of which has zeros at its end.
_PER_LOG_2, _LOG_2, _LOG_2_REST = 1.4426950408889634, 0.693147180369123816490, 1.90821492927058770002e-10
_ROUND = 1.5 * 2**52

_2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13 = (1 / math.factorial(k) for k in range(2, 14))

#: Rows that are pooled at once, for a first look at where violators are.
_CHUNK = 256

#: Rows whose sums are added up: less is lost by rounding than in one sum.
_BLOCK = 1024

#: Bits of one radix pass, and passes before the finish by insertion.
_DIGIT = 11
_PASSES = 3


def count_table(
    scores: Floats, positive: Bools, base_negative: int, base_positive: int, negative_span: int, top: int
) -> tuple[Floats, Ints, Ints]:
    """Sort and pool: distinct scores with the number of positives and negatives at each."""
    n = len(scores)
    keys, spare = np.empty(n, np.uint64), np.empty(n, np.uint64)
    shift = max(top.bit_length() + 1 - _DIGIT * _PASSES, 0)
    counts = np.zeros((_PASSES, 1 << _DIGIT), np.int64)
    bases = np.int64(base_negative), np.int64(base_positive)
    _pack(scores.view(np.int64), positive.view(np.uint8), *bases, shift, keys, counts)
    if _sort(keys, spare, shift, counts):
        keys, spare = spare, keys
    neg = np.empty(n, np.int64)
    pos = keys.view(np.int64)
    out = spare.view(np.int64)
    size = _pool(keys, out, pos, neg, *bases, np.int64(negative_span))
    if size == n:
        return spare.view(np.float64), pos, neg
    return spare.view(np.float64)[:size].copy(), pos[:size].copy(), neg[:size].copy()


def pool_violators(pos: Ints, neg: Ints) -> tuple[Ints, Floats]:
    """Isotonic regression of pos/(pos + neg): where each block starts, and its mean."""
    room = 4096
    while True:
        starts, sums, weights = np.empty(room, np.int64), np.empty(room), np.empty(room)
        blocks = _pav(pos, neg, starts, sums, weights)
        if blocks >= 0:
            return starts[:blocks], sums[:blocks] / weights[:blocks]
        room *= 16  # as a rule blocks are few; room for all at once would double the memory of a fit


def class_sums(scores: Floats, positive: Bools, per_score: float, shift: float) -> tuple[float, float]:
    """Sum s·per_score − shift over the positives and over the negatives."""
    return _class_sums(np.ascontiguousarray(scores), np.ascontiguousarray(positive).view(np.uint8), per_score, shift)  # type: ignore[no-any-return]


def mark_sums(scores: Floats, positive: Bools) -> tuple[int, int]:
    """Sum the marks of scores (see ``table.marks``) over the positives and over all, modulo 2⁶⁴."""
    return _mark_sums(np.ascontiguousarray(scores), np.ascontiguousarray(positive).view(np.uint8))  # type: ignore[no-any-return]


@_jit
def block_sums(scores, weight, per_score, block, squares):  # type: ignore[no-untyped-def]
    """Of each block: Σw, Σwd and Σwd² seen from the next block's first score, and Σwd and Σwd² seen from its own."""
    sums = np.zeros((5, -(-len(scores) // block)))
    last = len(scores) - 1
    for b in range(sums.shape[1]):
        start, stop = b * block, min((b + 1) * block, last + 1)
        edge, end = scores[start] * per_score, scores[min(stop, last)] * per_score
        n = s = t = 0.0
        for i in range(start, stop):
            w = float(weight[i])
            x = scores[i] * per_score
            n += w
            s += w * (end - x)
            t += w * (x - edge)
        sums[0, b] = n
        sums[1, b] = s
        sums[3, b] = t
        if squares:
            q = r = 0.0
            for i in range(start, stop):
                w = float(weight[i])
                u, v = end - scores[i] * per_score, scores[i] * per_score - edge
                q += w * u * u
                r += w * v * v
            sums[2, b] = q
            sums[4, b] = r
    return sums


@_jit
def block_moments(scores, pos, neg, edges, per_score, shift):  # type: ignore[no-untyped-def]
    """Of each block: center, width, Σp, Σn, positive mean, and Σw, Σwu, Σwu², Σwu³, u = (x − center)/width."""
    sums = np.empty((9, len(edges) - 1))
    for b in range(len(edges) - 1):
        start, stop = edges[b], edges[b + 1]
        first, last = scores[start] * per_score - shift, scores[stop - 1] * per_score - shift
        center, width = (first + last) / 2, max(last - first, 1e-300)
        per_width = 1 / width
        n_pos = n_neg = of_pos = s = t = q = 0.0
        for i in range(start, stop):
            u = (scores[i] * per_score - shift - center) * per_width
            p, m = float(pos[i]), float(neg[i])
            n_pos += p
            n_neg += m
            of_pos += p * u
            power = (p + m) * u
            s += power
            power *= u
            t += power
            q += power * u
        sums[0, b] = center
        sums[1, b] = width
        sums[2, b] = n_pos
        sums[3, b] = n_neg
        sums[4, b] = center + width * of_pos / n_pos if n_pos > 0 else center
        sums[5, b] = n_pos + n_neg
        sums[6, b] = s
        sums[7, b] = t
        sums[8, b] = q
    return sums


@_jit
def equal_cell_moments(scores, per_score, shift, per_width, half):  # type: ignore[no-untyped-def]
    """Σ1, Σu, Σu², Σu³ in cells of one width, u the distance from the center in widths."""
    sums = np.zeros((2 * half, 4))
    for i in range(len(scores)):
        place = (scores[i] * per_score - shift) * per_width + half
        number = np.int32(place)
        u = place - (number + 0.5)
        cell = np.uint32(number)
        square = u * u
        sums[cell, 0] += 1.0
        sums[cell, 1] += u
        sums[cell, 2] += square
        sums[cell, 3] += square * u
    return sums.T


@_jit
def cell_counts(scores, per_score, shift, per_unit, bits, half, are_equal):  # type: ignore[no-untyped-def]
    """Count scores in the cells of `oddsmith.fitting.cells`, faster where all are equal."""
    counts = np.zeros(2 * half, np.int64)
    one, per_cell = np.int64(1023) << bits, per_unit * 2.0**bits
    for i in range(len(scores)):
        x = scores[i] * per_score - shift
        if are_equal:
            cell = np.int64(np.int32(x * per_cell + half))
        else:
            cell = (np.float64(1.0 + abs(x) * per_unit).view(np.int64) >> (52 - bits)) - one
            cell = half + (cell ^ (np.float64(x).view(np.int64) >> 63))  # k cells below 0 is −1 − k
        counts[np.uint64(cell)] += 1
    return counts


@_jit
def line_gradient(scores, per_score, shift, slope, level, center):  # type: ignore[no-untyped-def]
    """Σpx and Σp, p = σ(slope·x + level), x = s·per_score − shift − center."""
    of_x = of_one = 0.0
    for start in range(0, len(scores), _BLOCK):
        sums = _some_gradient(scores[start : start + _BLOCK], per_score, shift, slope, level, center)
        of_x += sums[0]
        of_one += sums[1]
    return of_x, of_one


@_jit
def line_derivatives(scores, weight, per_score, shift, slope, level, center):  # type: ignore[no-untyped-def]
    """Σwpx, Σwp, Σwhx², Σwhx, Σwh, h = p(1 − p), p = σ(slope·x + level), x = s·per_score − shift − center."""
    sums = np.zeros(5)
    for start in range(0, len(scores), _BLOCK):
        part = slice(start, start + _BLOCK)
        some = None if weight is None else weight[part]
        for k, value in enumerate(_some_derivatives(scores[part], some, per_score, shift, slope, level, center)):
            sums[k] += value
    return sums


@numba.njit(nogil=True, fastmath={"reassoc"})
def _some_gradient(scores, per_score, shift, slope, level, center):  # type: ignore[no-untyped-def]
    of_x = of_one = 0.0
    for i in range(len(scores)):
        x, p = _forecast(scores[i], per_score, shift, slope, level, center)
        of_x += p * x
        of_one += p
    return of_x, of_one


@numba.njit(nogil=True, fastmath={"reassoc"})
def _some_derivatives(scores, weight, per_score, shift, slope, level, center):  # type: ignore[no-untyped-def]
    of_x = of_one = of_xx = of_hx = of_h = 0.0
    for i in range(len(scores)):
        x, p = _forecast(scores[i], per_score, shift, slope, level, center)
        h = p * (1 - p)
        if weight is not None:
            p *= weight[i]
            h *= weight[i]
        hx = h * x
        of_x += p * x
        of_one += p
        of_xx += hx * x
        of_hx += hx
        of_h += h
    return of_x, of_one, of_xx, of_hx, of_h


@numba.njit(nogil=True, fastmath={"contract"}, error_model="numpy")
def _forecast(score, per_score, shift, slope, level, center):  # type: ignore[no-untyped-def]
    """Return x and σ(slope·x + level), by steps that several rows take at once: eʸ = 2ⁿeʳ, eʳ by Taylor's series.

    Adding 1.5·2⁵² rounds to whole numbers, which are then the last bits of the sum.
    """
    x = score * per_score - shift - center
    y = min(max(-(slope * x + level), -700.0), 700.0)
    rounded = y * _PER_LOG_2 + _ROUND
    n = rounded - _ROUND
    r = (y - n * _LOG_2) - n * _LOG_2_REST
    s = r * r
    low = (1 + r) + s * (_2 + _3 * r) + (s * s) * ((_4 + _5 * r) + s * (_6 + _7 * r))
    high = (_8 + _9 * r) + s * (_10 + _11 * r) + (s * s) * (_12 + _13 * r)
    power = np.float64(low + (s * s) * (s * s) * high).view(np.int64)
    power += np.float64(rounded).view(np.int64) << 52
    return x, 1 / (1 + np.int64(power).view(np.float64))


@numba.njit(cache=True, nogil=True, fastmath=True)
def _class_sums(scores, positive, per_score, shift):  # type: ignore[no-untyped-def]
    up = total = 0.0
    for i in range(len(scores)):
        x = scores[i] * per_score - shift
        up += x * positive[i]
        total += x
    return up, total - up


@_jit
def _mark_sums(scores, positive):  # type: ignore[no-untyped-def]
    bits = scores.view(np.uint64)
    up = total = np.uint64(0)
    for i in range(len(bits)):
        mark = bits[i] if scores[i] != 0.0 else np.uint64(0)  # −0.0 is 0.0
        mark ^= mark >> np.uint64(32)
        mark *= np.uint64(0x9E3779B97F4A7C15)
        mark ^= mark >> np.uint64(32)
        up += mark * np.uint64(positive[i])
        total += mark
    return up, total


@_jit
def _pack(bits, positive, base_negative, base_positive, shift, keys, counts):  # type: ignore[no-untyped-def]
    """Make integers that sort like the scores, with the label as last bit, and count their highest digits."""
    flip = np.int64(0x7FFFFFFFFFFFFFFF)
    mask = np.uint64(2047)
    for i in range(len(bits)):
        b = bits[i]
        key = (b ^ flip) - base_negative if b < 0 else b - base_positive
        packed = (np.uint64(key) << np.uint64(1)) | np.uint64(positive[i])
        keys[i] = packed
        digits = packed >> np.uint64(shift)
        counts[0, digits & mask] += 1
        counts[1, (digits >> np.uint64(11)) & mask] += 1
        counts[2, (digits >> np.uint64(22)) & mask] += 1


@_jit
def _scatter(a, b, shift, counts):  # type: ignore[no-untyped-def]
    """One pass of a radix sort, from counts of the digit at ``shift``."""
    mask = np.uint64(2047)
    total = 0
    for j in range(2048):
        here = counts[j]
        counts[j] = total
        total += here
    for i in range(len(a)):
        key = a[i]
        j = (key >> np.uint64(shift)) & mask
        b[counts[j]] = key
        counts[j] += 1


@_jit
def _sort(a, b, shift, counts):  # type: ignore[no-untyped-def]
    """Sort ``a`` by its highest three digits, then by insertion; where scores cluster, by all digits instead.

    Returns whether the result is in ``b``.
    """
    n = len(a)
    for d in range(3):
        _scatter(a, b, shift + 11 * d, counts[d])
        a, b = b, a
    moves = 0
    for i in range(1, n):
        key = a[i]
        j = i
        while j > 0 and a[j - 1] > key:
            a[j] = a[j - 1]
            j -= 1
        a[j] = key
        moves += i - j
        if moves > 4 * n:
            break
    if moves <= 4 * n:
        return True
    for d in range(6):
        digit = np.zeros(2048, np.int64)
        for i in range(n):
            digit[(a[i] >> np.uint64(11 * d)) & np.uint64(2047)] += 1
        _scatter(a, b, 11 * d, digit)
        a, b = b, a
    return True


@_jit
def _pool(keys, out, pos, neg, base_negative, base_positive, negative_span):  # type: ignore[no-untyped-def]
    """Unpack in place; writing never overtakes reading, so the sort buffers become the table."""
    flip = np.int64(0x7FFFFFFFFFFFFFFF)
    size = 0
    i = 0
    n = len(keys)
    while i < n:
        key = keys[i] >> np.uint64(1)
        p, m = np.int64(0), 0
        while i < n and (keys[i] >> np.uint64(1)) == key:
            p += np.int64(keys[i] & np.uint64(1))
            m += 1
            i += 1
        k = np.int64(key)
        out[size] = (k + base_negative) ^ flip if k < negative_span else k + base_positive
        pos[size] = p
        neg[size] = m - p
        size += 1
    return size


@_jit
def _pav(pos, neg, starts, sums, weights):  # type: ignore[no-untyped-def]
    """Pool adjacent violators on a stack of blocks; returns their number, or −1 if the stack is too small.

    Chunks of rows are pooled first. Where a final block begins, the rows of the pool so far have a lower mean than the
    whole pool: a pass over the rows finds the few such places, and only what lies between them is pooled again.
    """
    n = len(pos)
    chunks = -(-n // _CHUNK)
    # In doubles: products of counts could overflow integers.
    edges, rise, run = np.empty(chunks + 1, np.int64), np.empty(chunks), np.empty(chunks)
    last = -1
    for start in range(0, n, _CHUNK):
        part = slice(start, start + _CHUNK)
        p = pos[part].sum()
        last = _push(start, float(p), float(p + neg[part].sum()), edges, rise, run, last)
    edges[last + 1] = n
    top = -1
    begin, p, w = 0, 0.0, 0.0  # the block that is not on the stack yet
    for k in range(last + 1):
        start, of_p, of_w, before_p, before_w = edges[k], 0, 0, 0, 0
        for i in range(edges[k], edges[k + 1]):
            of_p += pos[i]
            of_w += pos[i] + neg[i]
            if i + 1 < edges[k + 1] and float(of_p) * run[k] >= rise[k] * float(of_w):
                continue
            q, u = float(of_p - before_p), float(of_w - before_w)
            if q * w <= p * u:
                p, w = p + q, w + u
            else:
                top = _push(begin, p, w, starts, sums, weights, top)
                if top == len(weights):
                    return -1
                begin, p, w = start, q, u
            start, before_p, before_w = i + 1, of_p, of_w
    top = _push(begin, p, w, starts, sums, weights, top)
    return -1 if top == len(weights) else top + 1


@_jit
def _push(begin, p, w, starts, sums, weights, top):  # type: ignore[no-untyped-def]
    """Put a block on a stack, pooled with those below that it violates; return its place, if only there is room."""
    while top >= 0 and sums[top] * w >= p * weights[top]:
        begin = starts[top]
        p += sums[top]
        w += weights[top]
        top -= 1
    top += 1
    if top < len(weights):
        starts[top] = begin
        sums[top] = p
        weights[top] = w
    return top
