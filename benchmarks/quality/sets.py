"""Real data as binary tasks, read from the original files in the folder that ODDSMITH_DATA names."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
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


def covtype() -> Rows:
    """Tell the largest class from the six others."""
    values = pd.read_csv(data_folder() / "covtype/covtype.data.gz", header=None, dtype=np.float32).to_numpy()
    return Rows(values[:, :-1], (values[:, -1] == 2).astype(int), "numeric")


def letter(positive: str) -> Rows:
    """Tell some letters from the others."""
    frame = pd.read_csv(data_folder() / "letter/letter-recognition.data.gz", header=None)
    return Rows(frame.iloc[:, 1:].to_numpy(np.float32), frame[0].isin(list(positive)).to_numpy(int), "numeric")


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
    frame = pd.read_parquet(data_folder() / "imdb/aclImdb.parquet", columns=["text", "label"])
    return Rows(frame["text"].to_numpy(object), frame["label"].to_numpy(int), "text", 200)


def newsgroups(group: str) -> Rows:
    """Tell the messages of one newsgroup, without their headers, from those of the 19 others."""
    frame = pd.read_parquet(data_folder() / "20newsgroups/20news-bydate.parquet", columns=["group", "text"])
    bodies = [text.partition("\n\n")[2] for text in frame["text"]]
    return Rows(np.array(bodies, object), (frame["group"] == group).to_numpy(int), "text")


def reuters(topic: str) -> Rows:
    """Tell the stories of one topic from all others."""
    frame = pd.read_parquet(data_folder() / "reuters21578/modapte.parquet", columns=["topics", "title", "body"])
    texts = frame["title"].fillna("") + "\n" + frame["body"].fillna("")
    return Rows(texts.to_numpy(object), np.array([int(topic in topics) for topics in frame["topics"]]), "text")


def ohsumed(category: str) -> Rows:
    """Tell the abstracts of one group of diseases from all others."""
    frame = pd.read_parquet(data_folder() / "ohsumed/ohsumed_single_23.parquet", columns=["category", "text"])
    return Rows(frame["text"].to_numpy(object), (frame["category"] == category).to_numpy(int), "text")


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
