"""A small page of a monitor: what it finds, and the path of the evidence."""

import math
from html import escape

from oddsmith._check import visible
from oddsmith.monitor.findings import Batch, Finding, segment_text
from oddsmith.monitor.watching import Monitor

__all__ = ["page"]

#: Drawn size of a path, in units that are stretched to the width of the page.
_WIDTH, _HEIGHT = 1000.0, 300.0

#: Least and largest exponent of ten that are drawn.
_LEAST, _MOST = -3.0, 12.0

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --ink: #1c2330; --soft: #5b6472; --line: #c9ced6; --paper: #fff; --path: #1f5fbf;
  --bad: #b3261e; --good: #1b6e3c; }}
@media (prefers-color-scheme: dark) {{ :root {{ --ink: #e8ebf0; --soft: #a8b0bd; --line: #3c4350; --paper: #14181f;
  --path: #7fb0ff; --bad: #ff8a80; --good: #7bd69b; }} }}
body {{ font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto;
  max-width: 60rem; padding: 1rem; }}
h1 {{ font-size: 1.4rem; margin: 0 0 .5rem; }}
h2 {{ font-size: 1.1rem; margin: 2rem 0 .25rem; overflow-wrap: anywhere; }}
p {{ margin: .25rem 0 .75rem; overflow-wrap: anywhere; }}
.bad {{ color: var(--bad); font-weight: 600; }}
.good {{ color: var(--good); font-weight: 600; }}
.plot {{ display: grid; grid-template-columns: 3.2rem 1fr; grid-template-rows: 14rem 1.5rem; font-size: .8rem;
  color: var(--soft); }}
.plot svg {{ width: 100%; height: 100%; display: block; }}
.levels {{ position: relative; }}
.levels span {{ position: absolute; right: .4rem; transform: translateY(-50%); white-space: nowrap; }}
.rows {{ grid-column: 2; display: flex; justify-content: space-between; }}
path, line {{ vector-effect: non-scaling-stroke; fill: none; }}
.grid {{ stroke: var(--line); }}
.limit {{ stroke: var(--bad); stroke-dasharray: 6 4; stroke-width: 1.5; }}
.since {{ stroke: var(--soft); stroke-dasharray: 2 3; stroke-width: 1.5; }}
.path {{ stroke: var(--path); stroke-width: 2; }}
dl {{ display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; font-size: .9rem; margin: .5rem 0; }}
dt {{ color: var(--soft); }}
dd {{ margin: 0; overflow-wrap: anywhere; }}
footer {{ color: var(--soft); font-size: .85rem; margin-top: 2rem; }}
</style>
<h1>{title}</h1>
{parts}
<footer><p>Evidence against calibration, on a logarithmic scale, after each batch in the order of arrival. While the
probabilities are right, it reaches the dashed limit with the probability {alpha:g} at most anywhere in an endless run,
however often one looks. An alarm stays.</p></footer>
</html>
"""


def page(monitor: Monitor, title: str = "Are the probabilities still calibrated?") -> str:
    """Return a page of HTML with the path of the evidence; it loads nothing.

    Parameters
    ----------
    monitor : Monitor
    title : str
        Its heading.

    Returns
    -------
    str

    See Also
    --------
    Monitor : What it shows.

    Examples
    --------
    >>> monitor = Monitor()
    >>> _ = monitor.update([0.1, 0.8, 0.4], [0, 1, 1])
    >>> "No alarm" in page(monitor)
    True
    """
    findings = monitor.result().findings
    parts = "\n".join(_part(each, monitor.log(each.segment, each.target)) for each in findings) or "<p>No rows yet.</p>"
    return _PAGE.format(title=escape(visible(title)), parts=parts, alpha=monitor.alpha)


def _part(finding: Finding, log: tuple[Batch, ...]) -> str:
    """Return the section of all rows or of a segment."""
    shown = ", ".join(each for each in (segment_text(finding.segment), finding.target) if each) or "all rows"
    heading = shown[0].upper() + shown[1:]
    facts = {
        "Rows with labels": f"{finding.rows:,}",
        "Positives": f"{finding.positives:,}; {finding.expected:,.1f} were expected",
        "p-value": f"{finding.p_value:.3g}, valid at any time",
    }
    if finding.alarm:
        facts |= {
            "Alarm": f"after row {finding.alarm_row:,}",
            "Since": f"row {finding.since_row:,}, batch {finding.since}",
            "Log-odds of the truth": f"offset {finding.offset:+.2f}, slope {finding.slope:.2f}",
            "A moved base rate": "would explain it" if finding.base_rate else "does not explain it",
        }
    listed = "".join(f"<dt>{name}</dt><dd>{escape(visible(value))}</dd>" for name, value in facts.items())
    kind = "bad" if finding.alarm else "good"
    words = f"Alarm: probabilities are {finding.direction}." if finding.alarm else "No alarm."
    return (
        f'<section><h2>{escape(visible(heading))}</h2><p class="{kind}">{words}</p>{_plot(finding, log)}'
        f"<dl>{listed}</dl></section>"
    )


def _plot(finding: Finding, log: tuple[Batch, ...]) -> str:
    """Return the path of the evidence."""
    limit = math.log10(finding.threshold)
    tens = [min(max(each.evidence / math.log(10), _LEAST), _MOST) for each in log]
    low, high = math.floor(min([-1.0, *tens])), math.ceil(max([limit + 0.5, *tens]))
    first, last = 0, log[-1].last

    def across(row: float) -> float:
        return _WIDTH * (row - first) / (last - first)

    def down(ten: float) -> float:
        return _HEIGHT * (high - ten) / (high - low)

    points = [(0.0, down(0.0)), *((across(each.last), down(ten)) for each, ten in zip(log, tens, strict=True))]
    path = "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    step = max(math.ceil((high - low) / 6), 1)
    levels = [ten for ten in range(low, high + 1, step) if abs(ten - limit) > 0.06 * (high - low)]
    lines = [f'<line class="grid" x1="0" x2="{_WIDTH:g}" y1="{down(t):.1f}" y2="{down(t):.1f}"/>' for t in levels]
    lines.append(f'<line class="limit" x1="0" x2="{_WIDTH:g}" y1="{down(limit):.1f}" y2="{down(limit):.1f}"/>')
    if finding.since_row is not None:
        x = f"{across(finding.since_row - 1):.1f}"
        lines.append(f'<line class="since" x1="{x}" x2="{x}" y1="0" y2="{_HEIGHT:g}"/>')
    named = [(ten, _power(ten)) for ten in levels] + [(limit, f"{finding.threshold:.3g}")]
    labels = "".join(f'<span style="top:{down(t) / _HEIGHT:.1%}">{name}</span>' for t, name in named)
    shown = f"evidence {finding.evidence:.3g} after {last:,} rows; limit {finding.threshold:.3g}"
    return (
        f'<div class="plot"><div class="levels">{labels}</div>'
        f'<svg viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" preserveAspectRatio="none" role="img" aria-label="{shown}">'
        f'{"".join(lines)}<path class="path" d="{path}"/></svg>'
        f'<div class="rows"><span>0</span><span>{last:,} rows</span></div></div>'
    )


def _power(ten: int) -> str:
    return f"{10**ten:,}" if 0 <= ten <= 4 else f"10<sup>{ten}</sup>"
