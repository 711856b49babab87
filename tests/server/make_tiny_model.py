"""Writes a language model of a few hundred kilobytes that has learned nothing: `make_tiny_model.py FOLDER`.

Its tokenizer is trained on the standard library's sources, its weights are random, always the same. Runs in the server's environment, which has
transformers; needs no network."""

import sys
import sysconfig
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

WORDS = 2000
FILES = 60
CONTEXT = 8192
_TEMPLATE = "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}assistant: "


def tokenizer() -> PreTrainedTokenizerFast:
    """Byte-level BPE: it knows every text."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    sources = sorted(str(path) for path in Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))[:FILES]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=WORDS, special_tokens=["<s>", "</s>"], initial_alphabet=alphabet, show_progress=False
    )
    made.train(sources, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=made, bos_token="<s>", eos_token="</s>")
    fast.chat_template = _TEMPLATE
    return fast


def main(folder: str) -> None:
    """Writes model and tokenizer."""
    words = tokenizer()
    words.save_pretrained(folder)
    torch.manual_seed(0)
    shape = LlamaConfig(
        vocab_size=len(words),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=CONTEXT,
        bos_token_id=0,
        eos_token_id=1,
    )
    LlamaForCausalLM(shape).save_pretrained(folder)


if __name__ == "__main__":
    main(sys.argv[1])
