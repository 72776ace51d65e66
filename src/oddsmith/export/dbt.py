"""Maps as a macro of dbt, and the parameters of segments as a seed."""

import csv
import dataclasses
import io
import re
from dataclasses import dataclass
from typing import ClassVar, Self

from oddsmith import _check
from oddsmith.export.language import Model, Output, header
from oddsmith.export.sql import Sql

__all__ = ["Dbt"]

#: In the place of a table until the text is a template; no name and no label contains such characters.
_RELATION, _SEED = "\0relation\0", "\0seed\0"


@dataclass(frozen=True)
class Dbt(Sql):
    """A macro of dbt, which adds probabilities to the columns of a relation, and a seed with parameters of segments.

    ``select * from ({{ calibration(ref('scores')) }})`` is what a model of dbt reads. Segments in the seed begin with
    "segment:", so that dbt takes none of them for a number, a date or a missing value.
    """

    name: ClassVar[str] = "dbt"
    suffix: ClassVar[str] = ""

    macro: str = "calibration"

    def with_options(self, *, macro: str = "calibration", **options: object) -> Self:
        """Return the language for a dialect, columns, and the name of the macro."""
        if not re.fullmatch("[a-z_][a-z0-9_]{0,50}", macro):
            must = "macro must be a name of at most 50 small letters, digits and underscores"
            _check.fail(must, repr(macro), "pass another name")
        return dataclasses.replace(super().with_options(**options), macro=macro)  # type: ignore[arg-type]

    def write(self, model: Model, output: Output, note: str = "") -> dict[str, str]:
        """Return the texts of files by their paths within a project of dbt."""
        self._check_dialect()
        seed = f"{self.macro}_parameters"
        statement, parameters = self._statement(model, output, _RELATION, [], _SEED)
        # A brace begins whatever a template does.
        template = statement.replace("{", "{{ '{' }}")
        template = template.replace(_RELATION, "{{ relation }}").replace(_SEED, f"{{{{ ref('{seed}') }}}}")
        comment = "".join(f"{{# {line} #}}\n" for line in header(model, output, note))
        macro = f"{comment}{{% macro {self.macro}(relation) %}}\n{template}\n{{% endmacro %}}\n"
        files = {f"macros/{self.macro}.sql": macro}
        if parameters is not None and parameters.values:
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows(parameters.rows())
            files[f"seeds/{seed}.csv"] = text.getvalue()
        return files
