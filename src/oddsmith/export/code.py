"""Maps as source code: a function of one score, or of a row, which needs nothing but itself."""

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from oddsmith._types import Floats
from oddsmith.export._escaping import in_comment
from oddsmith.export.joint_code import VectorCode
from oddsmith.export.language import Language, Model, Output, formula_of, header, joint_to_write
from oddsmith.formula import (
    Arithmetic,
    Beside,
    Clip,
    Column,
    Formula,
    Function,
    Number,
    Pieces,
    Reader,
    Score,
    Where,
    parts,
    walk,
)
from oddsmith.modelfile import JointModel

__all__ = ["CodeLanguage"]

_INDENT = "    "
_MAX = repr(float(np.finfo(np.float64).max))


class CodeLanguage(Language):
    """A language with functions, given by templates; ``{}`` stands for parts.

    Attributes
    ----------
    comment : str
        Begins a comment of one line.
    functions : mapping of str to str
        abs, cos, exp and log.
    clip, where : str
        A value held within two others, and one of two values.
    missing : str
        Not a number.
    local, array, search : str
        Lines that give a name to a value, to an array, and to the number of knots below the score.
    frame : str
        The file.
    vector, assign, loop, block, joint_frame : str
        For several classes: lines that make room for a vector and give a place a value, a loop over ``index``, lines
        with names of their own, and the file. A language without them writes models of two classes.
    """

    comment: ClassVar[str]
    functions: ClassVar[Mapping[str, str]]
    clip: ClassVar[str]
    where: ClassVar[str] = "({left} <= {right} ? {then} : {otherwise})"
    missing: ClassVar[str]
    local: ClassVar[str]
    array: ClassVar[str]
    search: ClassVar[str]
    frame: ClassVar[str]
    vector: ClassVar[str]
    assign: ClassVar[str]
    loop: ClassVar[str]
    block: ClassVar[str]
    joint_frame: ClassVar[str] = ""

    def write(self, model: Model, output: Output, note: str = "") -> str:
        """Return a file with one function, which is called after its output."""
        comment = "\n".join(f"{self.comment} {line}" for line in header(model, output, note))
        joint = joint_to_write(model, output) if self.joint_frame else None
        if joint is not None:
            return self._write_joint(joint, comment)
        formula = formula_of(model, output)
        code = FormulaCode(self, formula)
        value = code.read(formula)
        return self.frame.format(
            header=comment,
            output=output,
            max=_MAX,
            arrays=textwrap.indent("".join(f"{line}\n" for line in code.arrays), _INDENT),
            body=textwrap.indent("\n".join(code.lines), _INDENT),
            value=value,
        )

    def _write_joint(self, model: JointModel, comment: str) -> str:
        """Return a file with one function from a row to the probabilities of all classes."""
        code = VectorCode(self, model.map.probability_formula())
        order = ", ".join(in_comment(str(label)) for label in model.labels)
        return self.joint_frame.format(
            header=f"{comment}\n{self.comment} Classes in this order [{order}].",
            columns=model.map.columns,
            classes=model.map.n_classes,
            arrays=textwrap.indent("".join(f"{line}\n" for line in code.arrays), _INDENT),
            body=textwrap.indent("\n".join(code.lines), _INDENT),
            value=code.result,
        )

    def constants(self, arrays: list[str], kind: str, values: Floats) -> str:
        """Add an array of constants to those of a file, and return its name."""
        name = f"{kind}_{len(arrays) + 1}"
        text = textwrap.fill(", ".join(repr(float(value)) for value in values), 100, break_on_hyphens=False)
        arrays.append(self.array.format(name=name, values=textwrap.indent(text, "    ")))
        return name


class FormulaCode(Reader[str]):
    """Writes a formula as an expression, with parts that occur more than once in local variables.

    Parameters
    ----------
    language : CodeLanguage
    formula : Formula
    arrays : list of str, optional
        Constants of the file so far, to which others are added.
    beside : sequence of str
        What stands beside the score.
    """

    def __init__(
        self,
        language: CodeLanguage,
        formula: Formula,
        arrays: list[str] | None = None,
        beside: Sequence[str] = (),
    ) -> None:
        super().__init__()
        self.language = language
        self.arrays: list[str] = [] if arrays is None else arrays
        self.beside = beside
        self.lines: list[str] = []
        self._uses = Counter(id(part) for node in walk(formula) for part in parts(node))
        self._place = ""

    def read(self, formula: Formula) -> str:
        """Return the text of a formula, or the variable that holds it."""
        known = id(formula) in self._known
        text = super().read(formula)
        if known or self._uses[id(formula)] < 2 or isinstance(formula, (Score, Number, Column, Beside)):
            return text
        name = f"part_{len(self.lines) + 1}"
        self.lines.append(self.language.local.format(name=name, value=text))
        self._known[id(formula)] = formula, name
        return name

    def _score(self) -> str:
        return "score"

    def _beside(self, place: int) -> str:
        return self.beside[place - 1]

    def _number(self, value: float) -> str:
        return self.language.missing if np.isnan(value) else repr(value)

    def _column(self, node: Column) -> str:
        return f"{self.language.constants(self.arrays, 'values', node.values)}[{self._place}]"

    def _arithmetic(self, node: Arithmetic, left: str, right: str) -> str:
        if node.operator in "*/":
            left = _bracketed(left, node.left, "+-")
        right = _bracketed(right, node.right, "+-" if node.operator == "+" else "+-*/")
        return f"{left} {node.operator} {right}"

    def _function(self, node: Function, of: str) -> str:
        if node.name == "negative":
            return f"-{_bracketed(of, node.of, '+-*/')}"
        return self.language.functions[node.name].format(of)

    def _clip(self, node: Clip, of: str) -> str:
        return self.language.clip.format(of, repr(node.low), repr(node.high))

    def _where(self, _node: Where, left: str, right: str, then: str, otherwise: str) -> str:
        return self.language.where.format(left=left, right=right, then=then, otherwise=otherwise)

    def _pieces(self, node: Pieces) -> str:
        knots = self.language.constants(self.arrays, "knots", node.knots)
        around, self._place = self._place, knots.replace("knots", "place")
        search = self.language.search.format(place=self._place, knots=knots, size=len(node.knots))
        self.lines.append(search)
        text = self.read(node.body)
        self._place = around
        return text


def _bracketed(text: str, node: Formula, operators: str) -> str:
    """Put brackets around arithmetic by some operators, unless a variable holds it."""
    return (
        f"({text})" if isinstance(node, Arithmetic) and node.operator in operators and not text.isidentifier() else text
    )
