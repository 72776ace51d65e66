"""Maps as source code: a function of one score, or of a row, which needs nothing but itself."""

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from oddsmith._types import Floats
from oddsmith.export.escaping import in_comment
from oddsmith.export.language import Language, Model, Output, formula_of, header, joint_to_write
from oddsmith.formula import (
    MAX,
    SCORE,
    Affine,
    Arithmetic,
    Beside,
    Clip,
    Column,
    Each,
    Formula,
    Function,
    Inputs,
    Largest,
    Number,
    Pieces,
    Reader,
    Score,
    Total,
    Vector,
    Where,
    parts,
    parts_of,
    walk,
    walk_vectors,
)
from oddsmith.model import joint_map_of

__all__ = ["CodeLanguage"]

_INDENT = "    "


class CodeLanguage(Language):
    """A language with functions, defined by templates; ``{}`` stands for parts of the text.

    Attributes
    ----------
    comment : str
        Begins a comment of one line.
    functions : mapping of str to str
        abs, cos, exp and log.
    clip, where : str
        A value clipped between two others, and one of two values.
    missing : str
        Not a number.
    local, array, search : str
        Lines that give a name to a value, to an array, and to the number of knots below the score.
    frame : str
        The file.
    vector, assign, loop, block, joint_frame : str
        For several classes: lines that make room for a vector and give a place a value, a loop over ``index``, lines
        with names of their own, and the file. A language without them writes models of two classes.

    See Also
    --------
    register_language : Adds a language.
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
        comments = header(model, output, note)
        joint = joint_to_write(model, output) if self.joint_frame else None
        code: FormulaCode | VectorCode
        if joint is None:
            code = FormulaCode(self, formula_of(model, output), [])
            frame, sizes = self.frame, {}
        else:
            code = VectorCode(self, joint_map_of(joint).probability_formula())
            frame, sizes = self.joint_frame, {"columns": joint.map.columns, "classes": joint.map.n_classes}
            order = ", ".join(in_comment(str(label)) for label in joint.labels)
            comments.append(f"Classes in this order [{order}].")
        return frame.format(
            header="\n".join(f"{self.comment} {line}" for line in comments),
            output=output,
            max=repr(MAX),
            arrays=textwrap.indent("".join(f"{line}\n" for line in code.arrays), _INDENT),
            body=textwrap.indent("\n".join(code.lines), _INDENT),
            value=code.result,
            **sizes,
        )

    def constants(self, arrays: list[str], kind: str, values: Floats) -> str:
        """Add an array of constants to those of a file, and return its name.

        Parameters
        ----------
        arrays : list
            Arrays of the file so far.
        kind : str
            What the array is for.
        values : sequence of float
            Its numbers.

        Returns
        -------
        str
        """
        name = f"{kind}_{len(arrays) + 1}"
        text = textwrap.fill(", ".join(repr(float(value)) for value in values), 100, break_on_hyphens=False)
        arrays.append(self.array.format(name=name, values=textwrap.indent(text, _INDENT)))
        return name


class FormulaCode(Reader[str]):
    """Writes a formula as an expression, with parts that occur more than once in local variables.

    Arrays are the constants of the file so far, to which others are added.
    """

    def __init__(self, language: CodeLanguage, formula: Formula, arrays: list[str], beside: Sequence[str] = ()) -> None:
        super().__init__("score", *beside)
        self.language = language
        self.arrays = arrays
        self.lines: list[str] = []
        self._uses = Counter(id(part) for node in walk(formula) for part in parts(node))
        self._place = ""
        self.result: str = self.read(formula)

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

    def _number(self, value: float) -> str:
        return self.language.missing if np.isnan(value) else repr(value)

    def _column(self, node: Column) -> str:
        return f"{self.language.constants(self.arrays, 'values', node.values)}[{self._place}]"

    def _arithmetic(self, node: Arithmetic, left: str, right: str) -> str:
        if node.operator in "*/":
            left = _bracket(left, node.left, "+-")
        right = _bracket(right, node.right, "+-" if node.operator == "+" else "+-*/")
        return f"{left} {node.operator} {right}"

    def _function(self, node: Function, of: str) -> str:
        if node.name == "negative":
            return f"-{_bracket(of, node.of, '+-*/')}"
        return self.language.functions[node.name].format(of)

    def _clip(self, node: Clip, of: str) -> str:
        return self.language.clip.format(of, repr(node.low), repr(node.high))

    def _where(self, _node: Where, left: str, right: str, then: str, otherwise: str) -> str:
        return self.language.where.format(left=left, right=right, then=then, otherwise=otherwise)

    def _pieces(self, node: Pieces) -> str:
        knots = self.language.constants(self.arrays, "knots", node.knots)
        self._place = knots.replace("knots", "place")
        self.lines.append(self.language.search.format(place=self._place, knots=knots, size=len(node.knots)))
        return self.read(node.body)


def _bracket(text: str, node: Formula, operators: str) -> str:
    """Put brackets around arithmetic by some operators, unless a variable holds it."""
    is_open = isinstance(node, Arithmetic) and node.operator in operators and not text.isidentifier()
    return f"({text})" if is_open else text


class VectorCode:
    """Writes a vector formula as lines that fill one array per vector; ``row`` is what it reads."""

    def __init__(self, language: CodeLanguage, vector: Vector) -> None:
        self.language = language
        self.arrays: list[str] = []
        self.lines: list[str] = []
        self._names: dict[int, str] = {}
        for number, node in enumerate(walk_vectors(vector)):
            name = self._names[id(node)] = "row" if isinstance(node, Inputs) else f"vector_{number}"
            if not isinstance(node, Inputs):
                self.lines.append(language.vector.format(name=name, size=node.width))
                self.lines += self._compute_vector(node, name)
        self.result: str = self._names[id(vector)]

    def _compute_vector(self, node: Vector, name: str) -> list[str]:
        """Return lines that fill the array of a vector."""
        first, x = f"{name}[0]", self._names[id(parts_of(node)[0])]
        match node:
            case Each(formulas=[one]) if node.width > 1:
                return [self._loop(node.width, self._compute(one, self._at(node, "i"), f"{name}[i]"))]
            case Each(formulas=several):
                blocks = (self._compute(one, self._at(node, i), f"{name}[{i}]") for i, one in enumerate(several))
                return [self._inside(self.language.block, block) for block in blocks]
            case Largest(of=of):
                larger = self.language.where.format(left=first, right=f"{x}[i]", then=f"{x}[i]", otherwise=first)
                return [self._set(first, f"{x}[0]"), self._loop(of.width, [self._set(first, larger)])]
            case Total(of=of, formula=formula):
                added = self._compute(formula, [f"{x}[i]"], first, f"{first} + ")
                return [self._set(first, "0.0"), self._loop(of.width, added)]
            case Affine(rows=rows, intercept=intercept):
                numbers = (rows.ravel(), intercept)
                coef, level = (self.language.constants(self.arrays, "values", values) for values in numbers)
                if rows.ndim == 1:
                    value = f"{coef}[i] * {x}[i] + {level}[i]"
                    return [self._loop(node.width, [self._set(f"{name}[i]", value)])]
                k = rows.shape[1]
                added = [self._set(f"{name}[i]", f"{name}[i] + {coef}[i * {k} + j] * {x}[j]")]
                return [self._loop(node.width, [self._set(f"{name}[i]", f"{level}[i]"), self._loop(k, added, "j")])]
        raise TypeError(node)

    def _compute(self, formula: Formula, given: Sequence[str], into: str, before: str = "") -> list[str]:
        """Return lines that put the value of a formula into a place."""
        code = FormulaCode(self.language, formula, self.arrays, given[1:])
        if formula is SCORE:
            return [self._set(into, f"{before}{given[0]}")]
        reads_score = any(isinstance(node, Score | Pieces) for node in walk(formula))
        score = [self.language.local.format(name="score", value=given[0])] if reads_score else []
        return [*score, *code.lines, self._set(into, f"{before}{code.result}")]

    def _at(self, node: Each, index: str | int) -> list[str]:
        """Return what a component reads: those of its parts."""
        return [f"{self._names[id(part)]}[{index if part.width > 1 else 0}]" for part in parts_of(node)]

    def _set(self, name: str, value: str) -> str:
        return self.language.assign.format(name=name, value=value)

    def _loop(self, size: int, body: list[str], index: str = "i") -> str:
        return self._inside(self.language.loop, body, index=index, size=size)

    def _inside(self, template: str, body: list[str], **parts: object) -> str:
        text = "\n".join(body)
        return template.format(body=text, indented=textwrap.indent(text, _INDENT), **parts)
