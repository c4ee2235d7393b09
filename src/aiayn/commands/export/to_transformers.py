"""Export to Hugging Face's transformers (MarianMT), and translation with it.

MarianMT's sinusoids have all sines before all cosines, so the d_model dimension of every weight is
permuted into that order, which computes the same function. The epsilon of LayerNorm cannot be set:
it is 1e-5 there, 1e-6 here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import sentencepiece
import torch
from torch import Tensor
from transformers import GenerationConfig, MarianConfig, MarianMTModel, MarianTokenizer

from aiayn.commands.export.engine import BATCH, NEVER, POSITIONS, EngineSearch
from aiayn.config import Model
from aiayn.data.tokens.special import END, PAD, START, UNK
from aiayn.model.transformer import Transformer

ATTENTIONS = {"w_q": "q_proj", "w_k": "k_proj", "w_v": "v_proj", "w_o": "out_proj"}
NORMS = {
    "self_attention_residual": "self_attn_layer_norm",
    "cross_attention_residual": "encoder_attn_layer_norm",
    "feed_forward_residual": "final_layer_norm",
}


def write(model: Transformer, row: Model, bpe: Path, search: EngineSearch, folder: Path) -> None:
    """Write a model and a tokenizer for `from_pretrained`; `generate` searches as in `search`."""
    processor = sentencepiece.SentencePieceProcessor(model_file=str(bpe))
    pieces = [processor.id_to_piece(n) for n in range(processor.get_piece_size())]
    marian = MarianMTModel(_config(row, len(pieces)))
    positions = {k: v for k, v in marian.state_dict().items() if "embed_positions" in k}
    marian.load_state_dict({**_weights(model, row), **positions})
    marian.generation_config = GenerationConfig(
        num_beams=search.beam,
        length_penalty=search.alpha,
        max_length=search.longest + 1,  # includes the start symbol
        decoder_start_token_id=START,
        eos_token_id=END,
        forced_eos_token_id=END,
        pad_token_id=PAD,
    )
    marian.save_pretrained(folder)
    ids = folder / "vocab.json"
    ids.write_text(json.dumps({piece: n for n, piece in enumerate(pieces)}), encoding="utf-8")
    tokenizer = MarianTokenizer(
        source_spm=str(bpe), target_spm=str(bpe), vocab=str(ids), unk_token=pieces[UNK],
        eos_token=pieces[END], pad_token=pieces[PAD], model_max_length=POSITIONS,
    )  # fmt: skip
    tokenizer.save_pretrained(folder)


def translate(folder: Path, sentences: Sequence[str], search: EngineSearch) -> list[str]:
    """The best hypothesis for each sentence, by the search parameters stored in the folder."""
    model = MarianMTModel.from_pretrained(folder).eval()
    tokenizer = MarianTokenizer.from_pretrained(folder)
    order = sorted(range(len(sentences)), key=lambda n: -len(sentences[n]))
    outputs = [""] * len(sentences)
    for first in range(0, len(order), BATCH):
        numbers = order[first : first + BATCH]
        batch = tokenizer([sentences[n] for n in numbers], return_tensors="pt", padding=True)
        with torch.inference_mode():
            found = model.generate(**batch)
        texts = tokenizer.batch_decode(found, skip_special_tokens=True)
        for n, text in zip(numbers, texts, strict=True):
            outputs[n] = text
    return outputs


def _config(row: Model, vocabulary: int) -> MarianConfig:
    return MarianConfig(
        vocab_size=vocabulary,
        d_model=row.d_model,
        encoder_layers=row.N,
        decoder_layers=row.N,
        encoder_attention_heads=row.h,
        decoder_attention_heads=row.h,
        encoder_ffn_dim=row.d_ff,
        decoder_ffn_dim=row.d_ff,
        dropout=row.P_drop,
        activation_function="relu",
        scale_embedding=True,
        max_position_embeddings=POSITIONS,
        pad_token_id=PAD,
        eos_token_id=END,
        forced_eos_token_id=END,
        bos_token_id=START,
        decoder_start_token_id=START,
    )


def _weights(model: Transformer, row: Model) -> Mapping[str, Tensor]:
    """The weights by MarianMT's names, permuted to sines before cosines."""
    columns = torch.arange(row.d_model)
    order = torch.cat((columns[0::2], columns[1::2]))
    bias = torch.zeros(1, len(model.embedding))
    bias[0, [PAD, START]] = NEVER
    embedding = model.embedding.detach()[:, order]
    names = ("model.shared", "model.encoder.embed_tokens", "model.decoder.embed_tokens", "lm_head")
    weights = {f"{name}.weight": embedding for name in names}
    weights["final_logits_bias"] = bias
    for side in ("encoder", "decoder"):
        for name, weight in getattr(model, side).state_dict().items():
            layer, _, own_name = name.partition(".")
            renamed = _renamed(own_name, weight, order)
            prefix = f"model.{side}.layers.{layer}"
            weights |= {f"{prefix}.{name}": tensor for name, tensor in renamed.items()}
    return weights


def _renamed(name: str, weight: Tensor, order: Tensor) -> dict[str, Tensor]:
    """A layer's weight by MarianMT's name; for attention also a zero bias, which ours lacks."""
    module, part, kind = name.split(".")
    if part == "norm":
        return {f"{NORMS[module]}.{kind}": weight[order]}
    if module == "feed_forward":
        if part == "w_1":
            return {f"fc1.{kind}": weight[:, order] if kind == "weight" else weight}
        return {f"fc2.{kind}": weight[order]}
    theirs = f"{'self' if module == 'self_attention' else 'encoder'}_attn.{ATTENTIONS[part]}"
    permuted = weight[order] if part == "w_o" else weight[:, order]
    return {f"{theirs}.weight": permuted, f"{theirs}.bias": torch.zeros(len(permuted))}
