"""Labels as files write them: whatever the spellings, alike ones are never on different sides."""

import numpy as np
import pytest

from oddsmith.errors import InvalidInputError
from oddsmith.files._labels import label_census, read_labels

SPELLINGS = {
    "yes": ["yes", "Yes", "YES", " yes", "yes  "],
    "no": ["no", "No", "no "],
    "one": ["1", "1.0", " 1", "01"],
    "maybe": ["maybe", "Maybe"],
}
KIND = {text: kind for kind, texts in SPELLINGS.items() for text in texts}


@pytest.mark.parametrize("seed", range(10))
def test_alike_labels_are_on_one_side_or_refused(seed):
    rng = np.random.default_rng(seed)
    refused = accepted = 0
    for _ in range(50):
        texts = rng.choice(list(KIND), rng.integers(1, 6), replace=False).tolist()
        chosen = rng.choice(texts, rng.integers(1, len(texts) + 1), replace=False).tolist()
        counts, given = dict.fromkeys(texts, 3), ",".join(chosen)
        if {KIND[text] for text in texts if text not in chosen} & {KIND[text] for text in chosen}:
            if not set(chosen) <= set(SPELLINGS["one"]):  # the same number is the same label where all are numbers
                with pytest.raises(InvalidInputError, match=r"differ by case or blanks only.*Hint: pass positive="):
                    read_labels(counts, given)
                refused += 1
            continue
        meant, (negative, positive) = read_labels(counts, given)
        accepted += 1
        assert set(chosen) <= set(meant)
        kinds = [{KIND[text] for text in part} for part in (meant, set(texts) - set(meant))]
        assert not kinds[0] & kinds[1]
        assert negative != positive
    assert refused > 5
    assert accepted > 5


@pytest.mark.parametrize("seed", range(10))
def test_the_hint_of_a_refusal_is_accepted(seed):
    rng = np.random.default_rng(100 + seed)
    followed = 0
    for _ in range(50):
        texts = rng.choice(list(KIND), rng.integers(2, 6), replace=False).tolist()
        try:
            read_labels(dict.fromkeys(texts, 3), texts[0])
        except InvalidInputError as error:
            hint = str(error).partition("positive='")[2].partition("' (--")[0]
            meant, _ = read_labels(dict.fromkeys(texts, 3), hint)
            assert {KIND[text] for text in meant} == {KIND[texts[0]]}
            followed += 1
    assert followed > 5


def test_the_census_of_many_labels_is_short():
    counts = {f"c{i:02}": 100 - i for i in range(30)}
    assert label_census(counts, ["c29"]).endswith("c09 91, 20 more; positive: c29")
