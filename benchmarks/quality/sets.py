"""Real data of two or several classes, read from the original files in the folder that ODDSMITH_DATA names."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from scipy.io import loadmat
from sklearn.datasets import load_breast_cancer, load_digits, load_svmlight_file

Kind = Literal["numeric", "binary", "text"]


class Rows(NamedTuple):
    """What a learner sees: features (texts for ``kind="text"``) and labels."""

    X: np.ndarray
    y: np.ndarray
    kind: Kind
    n_words: int | None = None

    def against(self, *positive: object) -> "Rows":
        """Tell some classes (1) from the others (0)."""
        return self._replace(y=np.isin(self.y, positive).astype(int))


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
    import duckdb

    with duckdb.connect() as connection:
        found = connection.execute(f"SELECT {columns} FROM {source}").fetchnumpy()
    return [np.asarray(column) for column in found.values()]


def _csv(name: str) -> str:
    return f"read_csv('{data_folder() / name}', header = false)"


def _parquet(name: str) -> str:
    return f"read_parquet('{data_folder() / name}')"


def covtype() -> Rows:
    """Return forest cover of seven kinds, 1 to 7."""
    *features, label = _read(_csv("covtype/covtype.data.gz"))
    return Rows(np.column_stack(features).astype(np.float32), label, "numeric")


def letter() -> Rows:
    """Return images of letters, A to Z."""
    label, *features = _read(_csv("letter/letter-recognition.data.gz"))
    return Rows(np.column_stack(features).astype(np.float32), label.astype(str), "numeric")


def indian_pines() -> Rows:
    """Return labelled pixels of sixteen crops, 1 to 16."""
    folder = data_folder() / "indian_pines"
    cube = loadmat(folder / "Indian_pines_corrected.mat")["indian_pines_corrected"]
    truth = loadmat(folder / "Indian_pines_gt.mat")["indian_pines_gt"]
    labelled = truth > 0
    return Rows(cube[labelled].astype(np.float32), truth[labelled], "numeric")


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


def newsgroups() -> Rows:
    """Return the messages of twenty newsgroups, without their headers."""
    text, label = _read(_parquet("20newsgroups/20news-bydate.parquet"), 'text, "group"')
    return Rows(np.array([message.partition("\n\n")[2] for message in text], object), label.astype(str), "text")


def breast_cancer() -> Rows:
    """Return the measurements of tumors that come with scikit-learn; benign is 1."""
    X, y = load_breast_cancer(return_X_y=True)
    return Rows(X, y, "numeric")


def digits() -> Rows:
    """Return the small images of digits that come with scikit-learn."""
    X, y = load_digits(return_X_y=True)
    return Rows(X, y, "numeric")


def reuters(topic: str) -> Rows:
    """Tell the stories of one topic from all others."""
    columns = f"coalesce(title, '') || chr(10) || coalesce(body, ''), list_contains(topics, '{topic}')"
    text, label = _read(_parquet("reuters21578/modapte.parquet"), columns)
    return Rows(text, label.astype(int), "text")


def ohsumed(category: str) -> Rows:
    """Tell the abstracts of one group of diseases from all others."""
    text, label = _read(_parquet("ohsumed/ohsumed_single_23.parquet"), f"text, category = '{category}'")
    return Rows(text, label.astype(int), "text")


#: Sets whose names begin alike, up to the full stop, share their rows and are not independent.
SETS: dict[str, Callable[[], Rows]] = {
    "adult": lambda: _svmlight("adult/a9a.gz", 123),
    "letter.p1": lambda: letter().against("O"),
    "letter.p2": lambda: letter().against(*"ABCDEFGHIJKLM"),
    "phishing": lambda: _svmlight("phishing/phishing.gz", 68),
    "web": lambda: _svmlight("web/w8a.gz", 300),
    "indian_pines": lambda: indian_pines().against(11),  # soybean-mintill
    "covtype": lambda: covtype().against(2),  # the largest class
    "sentiment": sentiment,
    "imdb": imdb,
    "newsgroups": lambda: newsgroups().against("sci.electronics"),
    "reuters.acq": lambda: reuters("acq"),
    "reuters.crude": lambda: reuters("crude"),
    "ohsumed": lambda: ohsumed("C04"),
}

#: Sets that come with scikit-learn, for those who have no others; kept apart: no default is chosen on them.
OWN: dict[str, Callable[[], Rows]] = {
    "breast_cancer": breast_cancer,
    "digits": lambda: digits().against(5, 6, 7, 8, 9),
}

#: The same data, told apart completely.
SEVERAL: dict[str, Callable[[], Rows]] = {
    "letter.all": letter,
    "newsgroups.all": newsgroups,
    "covtype.all": covtype,
    "indian_pines.all": indian_pines,
    "digits.all": digits,
}

#: Scores and labels by the name of what scored.
Scored = dict[str, tuple[np.ndarray, np.ndarray]]


def network_outputs() -> Scored:
    """Return probabilities and labels of two networks on CIFAR-10."""
    found = {}
    for network in ("lenet-5", "wideresnet-16-4"):
        with np.load(data_folder() / f"nn_cifar10/{network}-cifar-10.npz") as stored:
            found[network] = stored["predictions"].astype(float), stored["ground_truth"].ravel()
    return found


def network_scores() -> Scored:
    """Return probabilities of single classes against the rest."""
    classes = {"airplane": 0, "cat": 3, "dog": 5, "ship": 8}
    return {
        f"{network}-{name}": (prob[:, column], (truth == column).astype(int))
        for network, (prob, truth) in network_outputs().items()
        for name, column in classes.items()
    }


def simulated_logits() -> Scored:
    """Return logits of two imagined networks on 100 classes in groups of five: too sure, uneven, biased and noisy."""
    found = {}
    for seed, (name, spread, noise) in enumerate((("good-network", 1.0, 0.5), ("poor-network", 0.8, 1.0))):
        rng = np.random.default_rng(seed)
        k, n, d = 100, 10_000, 48
        groups = np.repeat(rng.normal(size=(k // 5, d)), 5, axis=0)
        centers = spread / 1.9 * (0.8 * groups + 0.75 * rng.normal(size=(k, d)))
        y = rng.integers(0, k, n)
        exact = (centers[y] + rng.normal(size=(n, d))) @ centers.T - (centers**2).sum(axis=1) / 2
        seen = exact * (1 + 0.15 * rng.normal(size=k)) + 0.3 * rng.normal(size=k) + noise * rng.normal(size=(n, k))
        found[name] = 1.8 * seen, y
    return found


#: Scores that are there already, or are drawn.
STORED: dict[str, Callable[[], Scored]] = {"cifar10": network_scores}
STORED_SEVERAL: dict[str, Callable[[], Scored]] = {"cifar10.all": network_outputs, "simulated.all": simulated_logits}
