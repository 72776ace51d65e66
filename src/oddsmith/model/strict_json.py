"""Read and write JSON in which nothing can hide: of limited size, sealed by a checksum, always the same bytes."""

import hashlib
import json
import os
from typing import Any, NoReturn

from oddsmith import _check
from oddsmith.errors import InvalidInputError, ModelFileError

#: A map of two million knots fits; what is larger is no model.
MAX_BYTES = 256 * 2**20
MAX_ITEMS = 2**23

DAMAGED = "the file was damaged or edited: fit the model again, or restore the file"


def refuse(must: str, got: str, hint: str = DAMAGED) -> NoReturn:
    """Raise the one kind of error that a model file can cause."""
    try:
        _check.fail(must, got, hint)
    except InvalidInputError as error:
        raise ModelFileError(str(error)) from None


def show(value: object) -> str:
    """Write a value into a message, in few characters whatever it is."""
    if isinstance(value, (dict, list)):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    # Python refuses to write integers of thousands of digits, and some text cannot be printed.
    text = "a huge integer" if isinstance(value, int) and value.bit_length() > 200 else ascii(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Read a file that is not too large; how much is read is limited even where the file has no end."""
    try:
        with open(path, "rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        refuse(f"the model file {show(os.fspath(path))} must be readable", str(error), "check the path")
    return raw


def parse(raw: bytes | str) -> dict[str, Any]:
    """Return the object that the text holds, or refuse it."""
    if len(raw) > MAX_BYTES:
        refuse(f"a model file must have at most {MAX_BYTES} bytes", "more", "give the path of a model file")
    try:
        text = raw if isinstance(raw, str) else raw.decode("utf-8")
    except UnicodeDecodeError as error:
        refuse("a model file must be UTF-8 text", str(error))
    # Before parsing: a list of small numbers takes many times the memory of its text.
    if text.count(",") > MAX_ITEMS:
        refuse(f"a model file must contain at most {MAX_ITEMS} numbers", "more")
    try:
        content = json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
    except ModelFileError:
        raise
    except (ValueError, RecursionError, OverflowError) as error:
        hint = DAMAGED if text.lstrip().startswith("{") else "give the path of a model file, from oddsmith fit"
        refuse("a model file must be whole, well-formed JSON", _reason(error), hint)
    if not isinstance(content, dict):
        refuse("a model file must contain one JSON object", show(content))
    return content


def checksum(content: dict[str, Any]) -> str:
    """Return the SHA-256 of content, whatever its layout."""
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def render(content: dict[str, Any]) -> str:
    """Write content, one line per key of the outermost object, with its checksum."""
    try:
        sealed = {**content, "checksum": checksum(content)}
    except (TypeError, ValueError) as error:
        refuse("a model must contain plain, finite values", str(error), "check its parameters and labels")
    return "{\n" + ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in sealed.items()) + "\n}\n"


def verify(content: dict[str, Any]) -> dict[str, Any]:
    """Return content without its checksum, if the two agree."""
    rest = {key: value for key, value in content.items() if key != "checksum"}
    try:
        agree = checksum(rest) == content.get("checksum")
    except (ValueError, RecursionError) as error:
        refuse("numbers in a model file must be finite", _reason(error))
    if not agree:
        refuse("the checksum of a model file must agree with its content", "another one")
    return rest


def _reason(error: Exception) -> str:
    return "too deep a nesting" if isinstance(error, RecursionError) else show(str(error)).strip("'\"")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        refuse("keys in a model file must differ", "one key twice")
    return content


def _constant(name: str) -> NoReturn:
    refuse("numbers in a model file must be finite", name)
