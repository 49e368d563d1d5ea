"""A Llama of a few thousand weights that were never trained, with a token for every byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

TEMPLATE = "{% for m in messages %}<s>{{ m['role'] }}\n{{ m['content'] }}</s>{% endfor %}<s>"


def save_tiny_llama(folder: Path, *, spread: float = 3.0, room: int = 4096) -> str:
    """Write weights and tokenizer as transformers reads them.

    Args:
        folder: Where to.
        spread: Factor on the weights; 0 makes every next token equally likely.
        room: Tokens of the context.

    Returns:
        The folder.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = ["<unk>", "<s>", "</s>", *letters, "an", "ap", "ok", "Ġt", "Ġa"]
    merges = [("a", "n"), ("a", "p"), ("o", "k"), ("Ġ", "t"), ("Ġ", "a")]
    tokenizer: Any = Tokenizer(models.BPE({word: at for at, word in enumerate(words)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return save_llama(folder, tokenizer, TEMPLATE, 16, 24, room, spread)


def save_llama(
    folder: Path, words: Any, template: str | None, hidden: int, between: int, room: int,
    spread: float = 3.0,
) -> str:  # fmt: skip
    """Write random weights for a tokenizer; ``spread`` makes answers differ."""
    import torch
    import transformers

    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, unk_token="<unk>", bos_token="<s>", eos_token="</s>"
    )
    fast.chat_template = template
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=words.get_vocab_size(),
        hidden_size=hidden,
        intermediate_size=between,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=room,
        bos_token_id=1,
        eos_token_id=2,
    )
    model = transformers.LlamaForCausalLM(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(spread)
    model.save_pretrained(folder)
    return str(folder)
