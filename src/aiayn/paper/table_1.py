"""Table 1: complexity, sequential operations and path length per layer type, as formulas only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LayerRow:
    """A row of table 1: formulas in TeX."""

    name: str
    complexity: str
    sequential_operations: str
    maximum_path_length: str


ABOUT = (
    "What a layer costs and how far a signal must travel. n is the sequence length, d the width, k "
    "the kernel size of convolutions, r the neighborhood of restricted self-attention."
)
ROWS = {
    "self_attention": LayerRow("Self-Attention", r"O(n^2 \cdot d)", "O(1)", "O(1)"),
    "recurrent": LayerRow("Recurrent", r"O(n \cdot d^2)", "O(n)", "O(n)"),
    "convolutional": LayerRow("Convolutional", r"O(k \cdot n \cdot d^2)", "O(1)", r"O(\log_k(n))"),
    "restricted": LayerRow(
        "Self-Attention (restricted)", r"O(r \cdot n \cdot d)", "O(1)", "O(n/r)"
    ),
}
NOTES = {
    "convolutional.maximum_path_length": (
        "A convolution's path: of dilated ones; of contiguous kernels O(n/k) (section 4)."
    )
}
