"""Real data as binary tasks, read from the original files in the folder that ODDSMITH_DATA names."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

import duckdb
import numpy as np
from scipy.io import loadmat
from sklearn.datasets import load_svmlight_file

Kind = Literal["numeric", "binary", "text"]


class Rows(NamedTuple):
    """What a learner sees: features (texts for ``kind="text"``) and labels of 0 and 1."""

    X: np.ndarray
    y: np.ndarray
    kind: Kind
    n_words: int | None = None


def data_folder() -> Path:
    """Return the folder of the data, or say how to name it."""
    folder = os.environ.get("ODDSMITH_DATA")
    if not folder or not Path(folder).is_dir():
        message = f"ODDSMITH_DATA must name the folder of the data sets; got {folder!r}. Hint: export ODDSMITH_DATA=…"
        raise SystemExit(message)
    return Path(folder)


def _svmlight(name: str, n_features: int) -> Rows:
    X, y = load_svmlight_file(str(data_folder() / name), n_features=n_features, dtype=np.float32)
    return Rows(X.toarray(), (y > 0).astype(int), "binary")


def _read(source: str, columns: str = "*") -> list[np.ndarray]:
    """Return columns of a file; ``source`` names it, or says how it is read."""
    with duckdb.connect() as connection:
        found = connection.execute(f"SELECT {columns} FROM {source}").fetchnumpy()
    return [np.asarray(column) for column in found.values()]


def _csv(name: str) -> str:
    return f"read_csv('{data_folder() / name}', header = false)"


def _parquet(name: str) -> str:
    return f"read_parquet('{data_folder() / name}')"


def covtype() -> Rows:
    """Tell the largest class from the six others."""
    *features, label = _read(_csv("covtype/covtype.data.gz"))
    return Rows(np.column_stack(features).astype(np.float32), (label == 2).astype(int), "numeric")


def letter(positive: str) -> Rows:
    """Tell some letters from the others."""
    label, *features = _read(_csv("letter/letter-recognition.data.gz"))
    return Rows(
        np.column_stack(features).astype(np.float32), np.isin(label.astype(str), list(positive)).astype(int), "numeric"
    )


def indian_pines() -> Rows:
    """Tell soybean-mintill from the other labelled pixels."""
    folder = data_folder() / "indian_pines"
    cube = loadmat(folder / "Indian_pines_corrected.mat")["indian_pines_corrected"]
    truth = loadmat(folder / "Indian_pines_gt.mat")["indian_pines_gt"]
    labelled = truth > 0
    return Rows(cube[labelled].astype(np.float32), (truth[labelled] == 11).astype(int), "numeric")


def sentiment() -> Rows:
    """Tell positive sentences from negative ones."""
    names = ("amazon_cells", "imdb", "yelp")
    texts = [(data_folder() / f"sentiment/{name}_labelled.txt").read_text("utf-8") for name in names]
    # Some sentences hold line breaks of other kinds, so only "\n" ends one.
    pairs = [line.rsplit("\t", 1) for text in texts for line in text.split("\n") if line.strip()]
    return Rows(np.array([p[0] for p in pairs], object), np.array([int(p[1]) for p in pairs]), "text")


def imdb() -> Rows:
    """Tell positive reviews from negative ones by the 200 most frequent words."""
    text, label = _read(_parquet("imdb/aclImdb.parquet"), "text, label")
    return Rows(text, label.astype(int), "text", 200)


def newsgroups(group: str) -> Rows:
    """Tell the messages of one newsgroup, without their headers, from those of the 19 others."""
    text, label = _read(_parquet("20newsgroups/20news-bydate.parquet"), f"text, \"group\" = '{group}'")
    return Rows(np.array([message.partition("\n\n")[2] for message in text], object), label.astype(int), "text")


def reuters(topic: str) -> Rows:
    """Tell the stories of one topic from all others."""
    columns = f"coalesce(title, '') || chr(10) || coalesce(body, ''), list_contains(topics, '{topic}')"
    text, label = _read(_parquet("reuters21578/modapte.parquet"), columns)
    return Rows(text, label.astype(int), "text")


def ohsumed(category: str) -> Rows:
    """Tell the abstracts of one group of diseases from all others."""
    text, label = _read(_parquet("ohsumed/ohsumed_single_23.parquet"), f"text, category = '{category}'")
    return Rows(text, label.astype(int), "text")


#: Tasks whose names begin alike, up to the full stop, share their rows and are not independent.
SETS: dict[str, Callable[[], Rows]] = {
    "adult": lambda: _svmlight("adult/a9a.gz", 123),
    "letter.p1": lambda: letter("O"),
    "letter.p2": lambda: letter("ABCDEFGHIJKLM"),
    "phishing": lambda: _svmlight("phishing/phishing.gz", 68),
    "web": lambda: _svmlight("web/w8a.gz", 300),
    "indian_pines": indian_pines,
    "covtype": covtype,
    "sentiment": sentiment,
    "imdb": imdb,
    "newsgroups": lambda: newsgroups("sci.electronics"),
    "reuters.acq": lambda: reuters("acq"),
    "reuters.crude": lambda: reuters("crude"),
    "ohsumed": lambda: ohsumed("C04"),
}

#: Classes whose one-against-rest probabilities are taken from stored outputs of networks.
_NETWORK_CLASSES = {"airplane": 0, "cat": 3, "dog": 5, "ship": 8}


def network_scores() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return probabilities and labels of two networks on CIFAR-10, a class against the rest."""
    found = {}
    for network in ("lenet-5", "wideresnet-16-4"):
        with np.load(data_folder() / f"nn_cifar10/{network}-cifar-10.npz") as stored:
            prob, truth = stored["predictions"].astype(float), stored["ground_truth"].ravel()
        for name, column in _NETWORK_CLASSES.items():
            found[f"{network}-{name}"] = (prob[:, column], (truth == column).astype(int))
    return found
