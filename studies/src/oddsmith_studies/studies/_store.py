"""Where the results of parts are kept, so that a killed run can go on."""

import hashlib
import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from oddsmith.atomic import write_atomically
from oddsmith.metrics.result import Result
from oddsmith_studies.data import locate
from oddsmith_studies.data._contents import checksum
from oddsmith_studies.data.registry import Folder, Found
from oddsmith_studies.studies._study import DEFAULT_GRID, Json, Part, Setting, Study


@dataclass(frozen=True)
class Computed:
    """The result of a part, how long it took, and how often its fits found something odd, by kind of warning."""

    result: Json
    seconds: float
    odd: dict[str, int]


@dataclass(frozen=True)
class Store:
    """A folder with one file a part; None keeps nothing."""

    folder: Path | None

    def get(self, part: Part) -> Computed | None:
        """Return what is kept of a part, if it was given the same arguments."""
        path = self._path(part)
        if path is None or not path.is_file():
            return None
        kept = json.loads(path.read_text(encoding="utf-8"))
        return Computed(**kept["computed"]) if kept["arguments"] == as_json(part.arguments) else None

    def put(self, part: Part, computed: Computed) -> None:
        """Keep a part: whole or not at all."""
        path = self._path(part)
        if path is not None:
            kept = {"arguments": as_json(part.arguments), "computed": asdict(computed)}
            write_atomically(path, json.dumps(kept), force=True)

    def _path(self, part: Part) -> Path | None:
        return None if self.folder is None else self.folder / f"{part.name}.json"


def open_store(out: Path | None, study: Study, setting: Setting, data: dict[str, str], *, resume: bool) -> Store:
    """Return the store of these very results: another version, seed, size, grid or data set has its own."""
    if out is None:
        return Store(None)
    key = {"study": study.name, "version": study.version, "seed": setting.seed, "quick": setting.quick, "data": data}
    key |= {"grid": setting.grid} if setting.grid != DEFAULT_GRID else {}
    text = json.dumps(key, sort_keys=True)
    root = out / "parts"
    folder = root / hashlib.sha256(text.encode()).hexdigest()[:16]
    if not resume:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    # Whoever commits a folder of results does not want the parts.
    write_atomically(root / ".gitignore", "*\n", force=True)
    write_atomically(folder / "_key.json", text, force=True)
    return Store(folder)


def data_digests(study: Study, folder: Folder) -> dict[str, str]:
    """Return the digest of the files of each data set of a study, or say which are missing and where to put them."""
    return {name: _digest(locate(name, folder)) for name in study.data}


def _digest(found: Found) -> str:
    summary = hashlib.sha256()
    for file in found.files:
        summary.update(f"{file.name} {checksum(found.path(file))}\n".encode())
    return summary.hexdigest()


def as_json(value: Any) -> Json:
    """Return a value as it comes back from a file, so that kept and fresh results are the same."""
    return json.loads(json.dumps(value, default=_plainer))


def _plainer(value: Any) -> Any:
    if isinstance(value, Result):
        return vars(value)
    return value.tolist()
