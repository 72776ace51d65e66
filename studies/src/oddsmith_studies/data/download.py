"""Downloads with checksums, by pooch."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from oddsmith import checks
from oddsmith_studies.data._contents import checksum
from oddsmith_studies.data.registry import Folder, Found, by_hand, cache_folder, source
from oddsmith_studies.data.sources import File


def fetch(name: str, folder: Folder = None, progress: Any = None) -> Found:
    """Download a data set, as it is published, unless it is there already.

    A file with a published checksum is refused when it differs; `check` compares what is inside the others. Where a
    data set is published in two places, the second is tried when the first fails.

    Parameters
    ----------
    name : str
        One of ``SOURCES``.
    folder : path, default=None
        The data folder to download into; the cache by default.
    progress : object, default=None
        A progress bar in the manner of tqdm: ``total``, ``update(n)``, ``reset()``, ``close()``.

    Returns
    -------
    Found

    Examples
    --------
    >>> from oddsmith_studies.data import fetch
    >>> fetch("letter").folder  # doctest: +SKIP
    PosixPath('/data/.cache/oddsmith/letter')
    """
    wanted = source(name)
    root = Path(folder).expanduser() if folder else cache_folder()
    if not wanted.downloads:
        checks.fail(f"data set {name!r} must be free to download", wanted.licence, by_hand(wanted, root))
    place, troubles = root / wanted.folder, []
    for form in wanted.downloads:
        try:
            for file in form:
                if not _is_there(file, place):
                    _retrieve(file, place, progress)
        except (OSError, ValueError) as error:  # no connection, no such page, no space; another checksum
            troubles.append(f"{type(error).__name__}: {error}")
        else:
            return Found(wanted, place, form)
    return checks.fail(f"data set {name!r} must be reachable and unchanged", "; ".join(troubles), by_hand(wanted, root))


def _is_there(file: File, place: Path) -> bool:
    path = place / file.name
    return path.exists() and (not file.sha256 or checksum(path) in file.sha256)


def _retrieve(file: File, place: Path, progress: Any) -> None:
    import pooch

    store = pooch.create(
        path=place,
        base_url="",
        registry={file.name: file.sha256[0] if file.sha256 else None},
        urls={file.name: file.url},
        retry_if_failed=1,
    )
    with _quiet(pooch.get_logger()):
        store.fetch(file.name, downloader=pooch.HTTPDownloader(progressbar=progress or False))


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
