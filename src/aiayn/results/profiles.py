"""Costs of the layers of table 1 and of models: profiles/layers.json and profiles/models.json.

They are counted, so they are the same on every machine; times are run metadata.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from aiayn.config import LayerSizes
from aiayn.errors import ProfileError
from aiayn.results.json_files import JsonFile, Sourced, file_error
from aiayn.validation import Items, StrictModel

LAYERS_FORMAT = 1
MODELS_FORMAT = 1


class Fitted(Sourced):
    """A fitted number with its standard error."""

    value: float
    standard_error: float


class Counted(LayerSizes, Sourced):
    """Forward FLOPs of one sentence: of table 1's term alone, and of the whole layer of h heads."""

    h: int
    term: int
    layer: int


class Exponent(StrictModel):
    """The exponent of a size in the FLOPs of table 1's term, and in those of the whole layer."""

    term: Fitted
    layer: Fitted


class Counts(StrictModel):
    """FLOPs of a layer type: points by size (n10_d512...), fitted exponents and the paper's."""

    points: Mapping[str, Counted]
    exponents: Mapping[str, Exponent]
    paper: Mapping[str, int]


class Chain(StrictModel):
    """The longest chain of operations by length (n4...), and the fitted line."""

    operations: Mapping[str, int]
    intercept: Fitted
    slope: Fitted


class PathPoint(Sourced):
    """Layers until the last of n positions depends on the first. k: kernel, r: neighbourhood."""

    n: int
    k: int | None = None
    r: int | None = None
    layers: int

    @property
    def size(self) -> int | None:
        """The kernel or neighbourhood; None if the layer has neither."""
        return self.r if self.k is None else self.k


class Paths(StrictModel):
    """Path lengths of a type of stack; exponents, fitted and the paper's, by the quantities of
    profiling.layer_types.GROWS_WITH."""

    points: Mapping[str, PathPoint]
    exponents: Mapping[str, Fitted]
    paper: Mapping[str, int]


class Maps(StrictModel, extra="allow"):
    """Dependence relations: for each type of stack, by number of layers (layers1...), rows of 0 and
    1: which outputs depend on which inputs. `k` is the kernel, `r` the neighbourhood."""

    k: int
    r: int
    __pydantic_extra__: dict[str, Mapping[str, Items[str]]] = Field(init=False)

    @property
    def stacks(self) -> Mapping[str, Mapping[str, Items[str]]]:
        """Relations by type of stack and number of layers."""
        return self.__pydantic_extra__


class LayersProfile(StrictModel):
    """Table 1, measured. Mappings are by layer type or type of stack. `fixed` are the values of the
    other sizes while one varies."""

    heads: int
    fixed: LayerSizes
    counts: Mapping[str, Counts]
    chains: Mapping[str, Chain]
    paths: Mapping[str, Paths]
    maps: Maps


class Sides(StrictModel):
    """FLOPs per source piece and per target piece."""

    source: int
    target: int


class PairFlops(StrictModel):
    """FLOPs of a sentence pair: forward, and forward plus backward."""

    forward: int
    training: int


class ModelCost(Sourced):
    """Parameters, FLOPs per piece and FLOPs per pair of a model over `vocabulary` pieces."""

    vocabulary: int
    parameters: int
    forward_flops: Sides
    training_flops: Sides
    pair_flops: PairFlops


class ModelsProfile(StrictModel):
    """`models` by name and task, `paper` by row of table 3; for sentences of `sentence_pieces`."""

    sentence_pieces: int
    models: Mapping[str, Mapping[str, ModelCost]]
    paper: Mapping[str, ModelCost]


_file_error = file_error(ProfileError, lambda path: f"profile_{path.stem}")
_LAYERS = JsonFile(LayersProfile, _file_error, indent=1)
_MODELS = JsonFile(ModelsProfile, _file_error, indent=1)
write_layers, read_layers = _LAYERS.write, _LAYERS.read
write_models, read_models = _MODELS.write, _MODELS.read
