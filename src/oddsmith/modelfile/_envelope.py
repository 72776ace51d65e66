"""What every model file has around its content: format, schema and checksum."""

import os
from collections.abc import Callable
from typing import Any, TypeVar

from oddsmith.errors import ModelFileError
from oddsmith.modelfile.checked import whole
from oddsmith.modelfile.strict_json import parse, read_bytes, refuse, render, shown, verify

FORMAT = "oddsmith calibration model"

#: The latest schema; this version reads all that came before.
LATEST = 2

Model = TypeVar("Model")


def seal(schema: int, content: dict[str, Any]) -> str:
    """Return the text of a model file."""
    return render({"format": FORMAT, "schema": schema, **content})


def unseal(text: str | bytes) -> tuple[int, dict[str, Any]]:
    """Return schema and content of a model file; what was edited or comes from a newer version is refused."""
    content = parse(text)
    if content.get("format") != FORMAT:
        refuse(
            f'a model file must say "format": "{FORMAT}"',
            shown(content.get("format")),
            "give the path of a model file",
        )
    schema = whole(content.get("schema"), "schema", low=1)
    if schema > LATEST:
        version = shown(content.get("version"))
        got = f"schema {schema}, written by version {version}"
        refuse(f"this version reads schemas up to {LATEST}", got, "upgrade oddsmith")
    rest = verify(content)
    return schema, {key: value for key, value in rest.items() if key not in ("format", "schema")}


def read_file(path: str | os.PathLike[str], read: Callable[[bytes], Model]) -> Model:
    """Read a file; errors name it."""
    raw = read_bytes(path)
    try:
        return read(raw)
    except ModelFileError as error:
        message = f"{os.fspath(path)}: {error}"
        raise ModelFileError(message) from None
