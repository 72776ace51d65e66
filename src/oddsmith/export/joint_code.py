"""Joint maps as source code: a function from a row to probabilities, with constant arrays and loops."""

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from oddsmith._types import Floats
from oddsmith.formula import SCORE, Formula, Pieces, Score, walk
from oddsmith.formula.vectors import Affine, Each, Inputs, Largest, Total, Vector, parts_of, walk_vectors

if TYPE_CHECKING:
    from oddsmith.export.code import CodeLanguage

_INDENT = "    "


class VectorCode:
    """Writes a vector formula as lines, one array per vector; ``row`` is what it reads.

    Attributes
    ----------
    arrays, lines : list of str
        Constants, and what is computed, in order.
    result : str
        The array that holds the result.
    """

    def __init__(self, language: "CodeLanguage", vector: Vector) -> None:
        self.language = language
        self.arrays: list[str] = []
        self.lines: list[str] = []
        self._names: dict[int, str] = {}
        for number, node in enumerate(walk_vectors(vector)):
            self._names[id(node)] = "row" if isinstance(node, Inputs) else f"vector_{number}"
            if not isinstance(node, Inputs):
                self.lines.append(self._line("vector", name=self._names[id(node)], size=node.width))
                self._write(node)
        self.result: str = self._names[id(vector)]

    def _line(self, template: str, **parts: object) -> str:
        return str(getattr(self.language, template).format(**parts))

    def _write(self, node: Vector) -> None:
        name, x = self._names[id(node)], self._names[id(parts_of(node)[0])]
        match node:
            case Each():
                self._each(node)
            case Largest(of=of):
                larger = self.language.where.format(
                    left=f"{name}[0]", right=f"{x}[i]", then=f"{x}[i]", otherwise=f"{name}[0]"
                )
                self._set(f"{name}[0]", f"{x}[0]")
                self._loop(of.width, [self._line("assign", name=f"{name}[0]", value=larger)])
            case Total(of=of, formula=formula):
                self._set(f"{name}[0]", "0.0")
                self._loop(of.width, self._computed(formula, f"{x}[i]", [], f"{name}[0]", f"{name}[0] + "))
            case Affine():
                self._affine(node, name, x)

    def _each(self, node: Each) -> None:
        name = self._names[id(node)]
        if len(node.formulas) == 1 and node.width > 1:
            x, *beside = (self._at(part, "i") for part in parts_of(node))
            self._loop(node.width, self._computed(node.formulas[0], x, beside, f"{name}[i]"))
            return
        for i, formula in enumerate(node.formulas):
            x, *beside = (self._at(part, str(i)) for part in parts_of(node))
            self.lines.append(self._inside("block", self._computed(formula, x, beside, f"{name}[{i}]")))

    def _affine(self, node: Affine, name: str, x: str) -> None:
        rows = node.rows
        coef, level = self._array(rows.ravel()), self._array(node.intercept)
        if rows.ndim == 1:
            value = f"{coef}[i] * {x}[i] + {level}[i]"
            self._loop(node.width, [self._line("assign", name=f"{name}[i]", value=value)])
            return
        term = f"{name}[i] + {coef}[i * {rows.shape[1]} + j] * {x}[j]"
        added = self._line("assign", name=f"{name}[i]", value=term)
        inner = self._inside("loop", [added], index="j", size=rows.shape[1])
        self._loop(node.width, [self._line("assign", name=f"{name}[i]", value=f"{level}[i]"), inner])

    def _computed(self, formula: Formula, x: str, beside: list[str], into: str, before: str = "") -> list[str]:
        """Return lines that put the value of a formula into a place."""
        from oddsmith.export.code import FormulaCode

        code = FormulaCode(self.language, formula, self.arrays, beside)
        value = code.read(formula)
        lines = code.lines
        if formula is SCORE:
            value = x
        elif any(isinstance(node, Score | Pieces) for node in walk(formula)):
            lines = [self.language.local.format(name="score", value=x), *lines]
        return [*lines, self._line("assign", name=into, value=f"{before}{value}")]

    def _at(self, part: Vector, index: str) -> str:
        return f"{self._names[id(part)]}[{index if part.width > 1 else 0}]"

    def _set(self, name: str, value: str) -> None:
        self.lines.append(self._line("assign", name=name, value=value))

    def _loop(self, size: int, body: list[str]) -> None:
        self.lines.append(self._inside("loop", body, index="i", size=size))

    def _inside(self, template: str, body: list[str], **parts: object) -> str:
        text = "\n".join(body)
        return self._line(template, body=text, indented=textwrap.indent(text, _INDENT), **parts)

    def _array(self, values: Floats) -> str:
        return self.language.constants(self.arrays, "values", np.asarray(values))
