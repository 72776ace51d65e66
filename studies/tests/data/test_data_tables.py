import io

import numpy as np
import pytest
from packing import gz, put, read, zipped
from scipy.io import savemat

from oddsmith.errors import InvalidInputError
from oddsmith_studies.data import (
    load_a9a,
    load_adult,
    load_cifar10_outputs,
    load_covertype,
    load_indian_pines,
    load_letter,
    load_phishing,
    load_web,
)
from oddsmith_studies.data._integers import parse_integers
from oddsmith_studies.data.adult import read_adult
from oddsmith_studies.data.cifar10 import read_outputs
from oddsmith_studies.data.covertype import read_covertype
from oddsmith_studies.data.indian_pines import GROUND, read_indian_pines
from oddsmith_studies.data.letter import read_letter
from oddsmith_studies.data.svmlight import read_svmlight


def same(one, other):
    np.testing.assert_array_equal(one.X, other.X)
    np.testing.assert_array_equal(one.y, other.y)
    np.testing.assert_array_equal(one.train, other.train)
    assert one.features == other.features
    assert one.digest() == other.digest()


def person(age, work, income):
    return f"{age}, {work}, 5, B, 9, S, ?, H, W, Male, 0, 0, 40, Peru, {income}\n"


TRAIN = person(25, "State", "<=50K") + person(38, "?", ">50K") + "\n"
TEST = "|1x3 Cross validator\n" + person(51, "Private", ">50K.") + "\n"


def test_adult_gzipped_plain_and_zipped(lonely):
    put(lonely, "adult/adult.zip", zipped({"Index": b"", "adult.data": TRAIN, "adult.test": TEST}))
    rows = read(read_adult, "adult", lonely)
    assert rows.y.tolist() == ["<=50K", ">50K", ">50K"]
    assert rows.train.tolist() == [True, True, False]
    assert rows.features[:5] == ("age", "workclass=?", "workclass=Private", "workclass=State", "fnlwgt")
    assert rows.X[:, :5].tolist() == [[25, 0, 0, 1, 5], [38, 1, 0, 0, 5], [51, 0, 1, 0, 5]]
    assert rows.counts()["training rows of class >50K"] == 1
    put(lonely, "adult/adult.data", TRAIN)
    put(lonely, "adult/adult.test", TEST)
    same(read(read_adult, "adult", lonely), rows)
    put(lonely, "adult/adult.data.gz", gz(TRAIN))
    put(lonely, "adult/adult.test.gz", gz(TEST))
    same(read(read_adult, "adult", lonely), rows)
    with pytest.raises(
        InvalidInputError, match=r"adult.data.gz \+ .*adult.test.gz must contain 32,561 training rows; got 2"
    ):
        load_adult(lonely)


def test_a_record_with_a_value_too_few_is_refused(lonely):
    put(lonely, "adult/adult.data", "1, 2, 3\n")
    put(lonely, "adult/adult.test", TEST)
    with pytest.raises(InvalidInputError, match="a record of Adult must have 15 values; got '1, 2, 3'"):
        load_adult(lonely)


def test_svmlight_train_and_test(lonely):
    put(lonely, "adult/a9a.gz", gz("-1 3:1 123:1 \n+1 1:1 \n"))
    put(lonely, "adult/a9a.t.gz", gz("-1 122:1 \n"))
    rows = read(lambda found: read_svmlight(found, ("a9a", "a9a.t"), 123), "a9a", lonely)
    assert rows.X.shape == (3, 123)
    assert np.transpose(rows.X.nonzero()).tolist() == [[0, 2], [0, 122], [1, 0], [2, 121]]
    assert rows.y.tolist() == [-1, 1, -1]
    assert rows.train.tolist() == [True, True, False]
    with pytest.raises(InvalidInputError, match="must contain 32,561 training rows; got 2"):
        load_a9a(lonely)


def test_covertype_gzipped_and_zipped_twice(lonely):
    lines = ["".join(f"{value}," for value in (2596, -51, *range(52))) + f"{kind}\n" for kind in (5, 2)]
    put(lonely, "covtype/covertype.zip", zipped({"covtype.info": b"", "covtype.data.gz": gz("".join(lines))}))
    rows = read(read_covertype, "covtype", lonely)
    assert rows.X[0].tolist() == [2596, -51, *range(52)]
    assert rows.y.tolist() == [5, 2]
    assert len(rows.features) == 54
    put(lonely, "covtype/covtype.data.gz", gz("".join(lines)))
    same(read(read_covertype, "covtype", lonely), rows)
    with pytest.raises(InvalidInputError, match="must contain 581,012 training rows; got 2"):
        load_covertype(lonely)


def test_letter_gzipped_and_plain(lonely):
    line = ",".join(map(str, range(16)))
    put(lonely, "letter/letter-recognition.data", f"T,{line}\r\nI,{line}\r\n")
    rows = read(read_letter, "letter", lonely)
    assert rows.y.tolist() == ["T", "I"]
    assert rows.X.tolist() == [list(range(16))] * 2
    put(lonely, "letter/letter-recognition.data.gz", gz(f"T,{line}\nI,{line}\n"))
    same(read(read_letter, "letter", lonely), rows)


def test_integers_in_blocks_of_any_size(monkeypatch):
    table = np.arange(-300, 300, dtype=np.int16).reshape(-1, 3)
    raw = b"\n".join(",".join(map(str, row)).encode() for row in table.tolist()) + b"\n"
    for block in (1, 7, 100, 10**6):
        monkeypatch.setattr("oddsmith_studies.data._integers._BLOCK", block)
        np.testing.assert_array_equal(parse_integers(raw, 3, "x"), table)
    assert parse_integers(b"", 3, "x").shape == (0, 3)


@pytest.mark.parametrize("raw", [b"1,2\n3\n", b"1,2\n3,x\n", b"1,2\n3,4,5\n", b"1,2\n3,40000\n", b"1,2\n3.5,4\n"])
def test_lines_that_are_no_integers_are_refused(raw):
    with pytest.raises(InvalidInputError, match="x must contain 2 small integers a line; got lines such as"):
        parse_integers(raw, 2, "x")


def mat(**arrays):
    packed = io.BytesIO()
    savemat(packed, arrays)
    return packed.getvalue()


def test_indian_pines_keeps_labelled_pixels(lonely):
    cube = np.arange(24, dtype=np.uint16).reshape(2, 3, 4)
    truth = np.array([[0, 11, 0], [2, 0, 16]], np.uint8)
    put(lonely, "indian_pines/Indian_pines_corrected.mat", mat(indian_pines_corrected=cube))
    put(lonely, "indian_pines/Indian_pines_gt.mat", mat(indian_pines_gt=truth))
    rows = read(read_indian_pines, "indian_pines", lonely)
    assert rows.X.tolist() == [[4, 5, 6, 7], [12, 13, 14, 15], [20, 21, 22, 23]]
    assert rows.y.tolist() == ["Soybean-mintill", "Corn-notill", "Stone-Steel-Towers"]
    put(lonely, "indian_pines/Indian_pines_gt.mat", mat(indian_pines_gt=truth[:, :2]))
    with pytest.raises(InvalidInputError, match=r"the same pixels, in 16 classes; got \(2, 3, 4\) and \(2, 2\)"):
        load_indian_pines(lonely)
    put(lonely, "indian_pines/Indian_pines_gt.mat", mat(paviau_gt=truth))
    with pytest.raises(InvalidInputError, match=r"Indian_pines_gt.mat must contain indian_pines_gt; got .*paviau_gt"):
        load_indian_pines(lonely)


@pytest.mark.parametrize(
    ("load", "files"),
    [
        (load_web, {"web/w8a": b"1 x:y\n", "web/w8a.t": b""}),
        (load_letter, {"letter/letter-recognition.data.gz": b"no gzip"}),
        (load_phishing, {"phishing/phishing.gz": gz("1 1:1\n" * 99)[:-9]}),
        (load_adult, {"adult/adult.zip": b"no zip"}),
        (load_adult, {"adult/adult.data": person("old", "State", "<=50K"), "adult/adult.test": TEST}),
        (
            load_indian_pines,
            {"indian_pines/Indian_pines_corrected.mat": b"no mat" * 99, "indian_pines/Indian_pines_gt.mat": b""},
        ),
        (
            lambda folder: load_cifar10_outputs("lenet-5", folder),
            {f"nn_cifar10/{net}-cifar-10.npz": zipped({"x.npy": b""}) for net in ("wideresnet-16-4", "lenet-5")},
        ),
    ],
)
def test_damaged_files_are_refused(lonely, load, files):
    for path, raw in files.items():
        put(lonely, path, raw)
    with pytest.raises(InvalidInputError, match=rf"{path.split('/')[-1]} must be whole and readable; got \w+: .*get"):
        load(lonely)


def test_network_outputs(lonely):
    for network, p in (("wideresnet-16-4", 0.9), ("lenet-5", 0.6)):
        packed = io.BytesIO()
        np.savez(packed, predictions=np.array([[p, 1 - p]], np.float32), ground_truth=np.array([[1]]))
        put(lonely, f"nn_cifar10/{network}-cifar-10.npz", packed.getvalue())
    rows = read(lambda found: read_outputs(found, "lenet-5"), "nn_cifar10", lonely)
    assert rows.X.round(1).tolist() == np.array([[0.6, 0.4]], np.float32).tolist()
    assert rows.y.tolist() == [1]
    with pytest.raises(
        InvalidInputError, match="network must be one of 'wideresnet-16-4', 'lenet-5'; got network='vgg'"
    ):
        load_cifar10_outputs("vgg", lonely)


def test_real_adult_in_both_codings(real):
    raw, coded = real("adult"), real("a9a")
    np.testing.assert_array_equal(raw.y == ">50K", coded.y == 1)
    np.testing.assert_array_equal(raw.train, coded.train)
    assert set(np.unique(coded.X.data)) == {1}
    # The two codings of one row say the same: a9a has one feature for sex and so has the raw table.
    women = raw.X[:, raw.features.index("sex=Female")] == 1
    assert any(np.array_equal(coded.X[:, [column]].toarray().ravel() == 1, women) for column in range(60, 80))


def test_real_svmlight(real):
    web, phishing = real("web"), real("phishing")
    assert web.X.shape == (64_700, 300)
    assert set(np.unique(web.X.data)) == {1}
    assert phishing.X.shape == (11_055, 68)
    assert set(phishing.y.tolist()) == {0, 1}


def test_real_letter(real):
    rows = real("letter")
    assert (rows.X.min(), rows.X.max()) == (0, 15)
    assert (rows.y <= "M").sum() == 9_940


def test_real_covertype(real):
    rows = real("covtype")
    assert rows.X.shape == (581_012, 54)
    assert rows.X[0, :10].tolist() == [2596, 51, 3, 258, 0, 510, 221, 232, 148, 6279]
    assert (rows.X[:, 10:14].sum(axis=1) == 1).all()
    assert (rows.X[:, 14:].sum(axis=1) == 1).all()


def test_real_indian_pines(real):
    rows = real("indian_pines")
    assert rows.X.shape == (10_249, 200)
    assert rows.X.dtype == np.uint16
    assert rows.X.min() >= 955
    assert rows.X.max() <= 9604
    assert sum(GROUND.values()) == 10_249


@pytest.mark.parametrize(("network", "accuracy"), [("wideresnet-16-4", 0.911), ("lenet-5", 0.531)])
def test_real_network_outputs(where, network, accuracy):
    where("nn_cifar10")
    rows = load_cifar10_outputs(network)
    assert (rows.X.argmax(axis=1) == rows.y).mean() == pytest.approx(accuracy, abs=5e-4)
    np.testing.assert_allclose(rows.X.sum(axis=1), 1, atol=1e-5)
