import re
from collections import Counter

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from oddsmith.errors import InvalidInputError
from oddsmith_studies.data import COURSE_STOP_WORDS, STOP_WORDS, best_words, count_words
from oddsmith_studies.data.reuters import TEN_CATEGORIES
from oddsmith_studies.data.text_choices import information_gain

TEXTS = [
    "Tin's UP 5% -- tin, caf\xe9 \xc9LAN!",
    "",
    "a I x 1986/87 o'clock",
    "na\xefve\x85ROW\tcol\u2019umn tin_tin \u0161koda",
]


def test_counts_are_those_of_a_plain_loop():
    counts = count_words(TEXTS, {"up", "lan"})
    for row, text in enumerate(TEXTS):
        latin = "".join(character if ord(character) < 256 else " " for character in text.lower())
        wanted = Counter(word for word in re.findall(r"[^\W\d_]{2,}", latin) if word not in {"up", "lan"})
        found = dict(zip(counts.words, counts.X[[row]].toarray()[0], strict=True))
        assert {word: number for word, number in found.items() if number} == wanted
    assert counts.words.tolist() == sorted(counts.words.tolist())
    assert counts.X.indices.dtype == np.int32


def test_no_texts_and_no_words():
    assert count_words([]).X.shape == (0, 0)
    assert count_words(["1", "?"]).X.shape == (2, 0)


def test_frequencies_of_some_rows():
    counts = count_words(["tin tin lead", "tin", "zinc"])
    assert counts.occurrences().tolist() == [1, 3, 1]
    assert counts.documents().tolist() == [1, 2, 1]
    assert counts.documents(np.array([False, True, True])).tolist() == [0, 1, 1]
    assert counts.occurrences(np.array([True, False, False])).tolist() == [1, 2, 0]
    kept = counts.keep(counts.documents() > 1)
    assert (kept.words.tolist(), kept.X.toarray().tolist()) == (["tin"], [[2], [1], [0]])


def test_best_words_come_first_and_equals_in_order():
    counts = count_words(["tin up", "tin up", "zinc", "lead"])
    best = best_words(counts.X, [1, 1, 0, 0], k=3)
    assert counts.words[best].tolist() == ["tin", "up", "lead"]
    assert len(best_words(counts.X, [1, 1, 0, 0], k=99)) == 4
    with pytest.raises(InvalidInputError, match="k must be an integer ≥ 1"):
        best_words(counts.X, [1, 1, 0, 0], k=0)


def test_stop_words_name_no_subject():
    assert {"the", "of", "with", "whereupon"} <= STOP_WORDS
    assert not STOP_WORDS & {"interest", "bill", "inc", "co", "earn", "trade", "ship", "corn"}
    assert len(COURSE_STOP_WORDS) == 11


def test_real_reuters_features(real):
    ten = real("reuters21578").only(tuple(TEN_CATEGORIES))
    counts = count_words(ten.texts, STOP_WORDS)
    pattern = r"(?u)[^\W\d_]{2,}"
    other = CountVectorizer(token_pattern=pattern, stop_words=sorted(STOP_WORDS)).fit(ten.texts[:2_000])
    mine = count_words(ten.texts[:2_000], STOP_WORDS)
    assert mine.words.tolist() == other.get_feature_names_out().tolist()
    assert (mine.X != other.transform(ten.texts[:2_000])).nnz == 0
    often = counts.keep(counts.documents(ten.train) >= 3)
    words = often.words[best_words(often.X[ten.train], ten.positive("wheat")[ten.train], k=300)]
    assert words[0] == "wheat"
    gain = information_gain(often.X[ten.train], ten.positive("interest")[ten.train])
    assert often.words[gain.argmax()] in {"interest", "rate", "rates"}


def test_digits_and_single_letters_count_where_asked():
    counts = count_words(["B-52s flew 3 days", "flew 3"], {"days"}, digits=True)
    assert counts.words.tolist() == ["3", "52s", "b", "flew"]
    assert counts.X.toarray().tolist() == [[1, 1, 1, 1], [1, 0, 0, 1]]
