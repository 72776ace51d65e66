"""Build both distributions, check them, and try them where the repository is not.

``make dist`` runs this. Each distribution is built twice, the second wheel from the first sdist: both builds must have
the same bytes. The wheels are then installed into an empty environment, where the demo and a smoke test run.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = {"oddsmith": ROOT, "oddsmith_studies": ROOT / "studies"}

#: What a user of the wheels does first, in a process that sees nothing of the repository.
SMOKE_TEST = """
import sys
from pathlib import Path

import oddsmith

assert Path(oddsmith.__file__).is_relative_to(sys.prefix), oddsmith.__file__
scores, y = [0.1, 0.9, 0.4, 0.6, 0.5, 0.2], [0, 1, 1, 0, 1, 0]
cal = oddsmith.AutoCalibrator().fit(scores, y)
cal.save("model.json")
loaded = oddsmith.load("model.json")
assert (loaded.predict_proba([0.3, 0.7]) == cal.predict_proba([0.3, 0.7])).all()
Path("scores.csv").write_text("score,label\\n" + "".join(f"{s},{c}\\n" for s, c in zip(scores, y)) * 20)
"""
COMMANDS = [
    "oddsmith --version",
    "oddsmith demo",
    "oddsmith fit scores.csv -o fitted.json",
    "oddsmith apply fitted.json scores.csv -o probabilities.csv",
    "oddsmith evaluate probabilities.csv",
    "oddsmith report scores.csv -o report.html",
    "oddsmith export fitted.json --to python -o fitted.py",
    "oddsmith study list",
]


def build(folder: Path, target: Path, *kinds: str) -> list[Path]:
    """Build the sdist and the wheel of a folder, or one of them; builds of the same files have the same bytes."""
    last_change = ["git", "log", "-1", "--format=%ct"]
    when = os.environ.get("SOURCE_DATE_EPOCH") or subprocess.check_output(last_change, cwd=ROOT, text=True).strip()
    wanted = [word for kind in kinds or ("sdist", "wheel") for word in ("-t", kind)]
    command = [sys.executable, "-m", "hatchling", "build", *wanted, "-d", str(target)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": when}
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    return sorted(target.iterdir())


def build_from_sdist(sdist: Path, target: Path) -> list[Path]:
    """Build the wheel from what the sdist holds."""
    with tempfile.TemporaryDirectory() as name, tarfile.open(sdist) as archive:
        archive.extractall(name, filter="data")
        return build(Path(name) / sdist.name.removesuffix(".tar.gz"), target, "wheel")


def contents(archive: Path) -> set[str]:
    """Return the names of the files in a wheel, or in an sdist without its one folder."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return set(wheel.namelist())
    with tarfile.open(archive) as sdist:
        return {member.name.partition("/")[2] for member in sdist if member.isfile()}


def tracked(folder: Path) -> set[str]:
    """Return the names of the files in a folder that are under version control, or would be after ``git add``."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    return set(subprocess.check_output(command, cwd=folder, text=True).strip("\0").split("\0"))


def wheel_contents(folder: Path, package: str, version: str) -> set[str]:
    """Return what a wheel must hold: its package as it is tracked, and what installers read."""
    start, info = f"src/{package}/", f"{package}-{version}.dist-info"
    read = {f"{info}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")}
    return {name.removeprefix("src/") for name in tracked(folder) if name.startswith(start)} | read


def digests(files: list[Path]) -> dict[str, str]:
    """Return the SHA-256 of each file by its name."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def try_out(wheels: list[Path]) -> None:
    """Install wheels into an empty environment and use them there."""
    with tempfile.TemporaryDirectory() as name:
        venv.create(Path(name) / "env", with_pip=True)
        programs = Path(name) / "env" / ("Scripts" if os.name == "nt" else "bin")
        install = ["-m", "pip", "--disable-pip-version-check", "--quiet", "install", *map(str, wheels)]
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        for command in (install, ["-c", SMOKE_TEST]):
            subprocess.run([str(programs / "python"), *command], cwd=name, env=environment, check=True)
        for line in COMMANDS:
            program, *arguments = line.split()
            subprocess.run([str(programs / program), *arguments], cwd=name, env=environment, check=True)


def main() -> None:
    """Build, compare, look into and try both distributions."""
    target = ROOT / "dist"
    target.mkdir(exist_ok=True)
    for old in target.iterdir():
        old.unlink()
    for package, folder in FOLDERS.items():
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            built = build(folder, Path(first))
            sdist = next(path for path in built if path.suffix == ".gz")
            again = build(folder, Path(second) / "tree", "sdist") + build_from_sdist(sdist, Path(second) / "sdist")
            if digests(again) != digests(built):
                sys.exit(f"two builds of {package} differ: {digests(built)}, {digests(again)}")
            for path in built:
                shutil.move(path, target)
    for name, digest in digests(sorted(target.iterdir())).items():
        print(digest, name)
    try_out(sorted(target.glob("*.whl")))


if __name__ == "__main__":
    main()
