"""Packages that only some of the library needs, and the extras that install them."""

from importlib.util import find_spec

from oddsmith.errors import MissingExtraError

#: Which extra installs a package, and what needs it.
EXTRAS = {
    "duckdb": ("sql", "Reading score files"),
    "jinja2": ("cli", "Writing an HTML report"),
    "matplotlib": ("plots", "Drawing"),
    "onnx": ("onnx", "Exporting to ONNX"),
    "rich": ("cli", "The command line"),
    "sqlglot": ("sql", "Writing SQL"),
    "typer": ("cli", "The command line"),
}


def require(package: str) -> None:
    """Raise an error that names the extra to install if a package is absent."""
    if find_spec(package) is None:
        extra, task = EXTRAS[package]
        message = f"{task} needs {package}; got an installation without it. Hint: pip install 'oddsmith[{extra}]'."
        raise MissingExtraError(message, name=package)
