"""DuckDB as this library uses it: bounded memory, no network, progress, and errors in our words."""

import contextlib
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, TypeVar

from oddsmith import _check, _extras

#: Told how much is done, as a fraction of 1.
Progress = Callable[[float], object]

Outcome = TypeVar("Outcome")

_SECONDS_BETWEEN_LOOKS = 0.1

_MEMORY, _THREADS = "1GB", 8


class Engine:
    """One DuckDB connection, with a folder for what does not fit into memory."""

    def __init__(self) -> None:
        _extras.require("duckdb")
        import duckdb

        self.folder = tempfile.mkdtemp(prefix="oddsmith-")  # where temporary files may lie until the engine is closed
        self._forget = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        self.connection: duckdb.DuckDBPyConnection = duckdb.connect(
            config={
                "memory_limit": _MEMORY,
                "temp_directory": self.folder,
                "autoinstall_known_extensions": "false",
            }
        )
        # Every thread needs buffers, which must fit into the memory.
        threads = self.rows("SELECT current_setting('threads')")[0][0]
        self.connection.execute(f"SET threads = {min(threads, _THREADS)}")
        self.connection.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")

    def close(self) -> None:
        """Let go of the connection and of what it spilled."""
        self.connection.close()
        self._forget()

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Run a query and return its rows."""
        found: list[tuple[Any, ...]] = self.connection.execute(query).fetchall()
        return found

    def watch(self, work: Callable[[], Outcome], progress: Progress | None, start: float, stop: float) -> Outcome:
        """Do work with the connection, telling ``progress`` meanwhile how far from ``start`` to ``stop`` it is.

        An interrupt from the keyboard ends the query that runs.
        """
        done = 0.0
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(work)
            try:
                while wait([future], _SECONDS_BETWEEN_LOOKS).not_done:
                    # Work may be several queries; negative where nothing runs at the moment.
                    done = max(done, min(self.connection.query_progress() / 100, 1.0))
                    if progress is not None:
                        progress(start + (stop - start) * done)
            except BaseException:
                self.connection.interrupt()
                raise
        if progress is not None and future.exception() is None:
            progress(stop)
        return future.result()


@contextlib.contextmanager
def translate_errors(name: str, output: str | os.PathLike[str] | None = None, folder: str = "") -> Iterator[None]:
    """Turn the engine's errors into ours, in its words; what is wrong with a path in ``folder`` is with the output."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        target = None if output is None or folder not in str(error) else os.fspath(output)
        if "No space left on device" in str(error):
            what = "" if target is None else f" for {os.path.basename(target)}"
            _check.fail(f"the disk must have room{what}", "a full disk", "free some space, or write elsewhere")
        if target is not None:
            got = _reason(str(error).replace(f"{folder}{os.sep}", ""))
            _check.fail(f"{target} must be writable", got, "check rights, limits and free space")
        must = f"{name} must be a file that DuckDB can read"
        _check.fail(must, _reason(str(error)), "check the file, and its format")


def _reason(message: str) -> str:
    """Return what the engine found wrong, without advice about its own options."""
    return " ".join(message.split("\nPossible ")[0].split("\n\nLINE ")[0].split()).rstrip(".")
