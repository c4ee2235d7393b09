"""Table 4: English constituency parsing, F1 on section 23 of the Wall Street Journal (6.3)."""

from __future__ import annotations

from dataclasses import dataclass

from aiayn.paper.printed import EvaluationSet, Printed, cells


@dataclass(frozen=True)
class ParserRow:
    """A row of table 4.

    The Transformer's rows name the `run` of ours that may stand beside them, and the
    `training_corpora` that it needs for that. Two of the semi-supervised row's are not public.
    """

    name: str
    training: str
    f1: Printed
    run: str | None = None
    training_corpora: tuple[str, ...] = ()


ABOUT = "English constituency parsing, F1 on section 23 of the Wall Street Journal."
TEST_SET = EvaluationSet(("wsj-23",), 2416)
MODEL = cells({"N": "4", "d_model": "1024"})
DECODING = cells({"beam": "21", "alpha": "0.3", "extra_length": "300"})
WSJ_ONLY = "WSJ only, discriminative"
ROWS = {
    "vinyals_wsj": ParserRow("Vinyals & Kaiser et al. (2014)", WSJ_ONLY, Printed("88.3")),
    "petrov": ParserRow("Petrov et al. (2006)", WSJ_ONLY, Printed("90.4")),
    "zhu_wsj": ParserRow("Zhu et al. (2013)", WSJ_ONLY, Printed("90.4")),
    "dyer_wsj": ParserRow("Dyer et al. (2016)", WSJ_ONLY, Printed("91.7")),
    "transformer_wsj": ParserRow(
        "Transformer (4 layers)", WSJ_ONLY, Printed("91.3"), "parsing.parser", ("wsj-02-21",)
    ),
    "zhu_semi": ParserRow("Zhu et al. (2013)", "semi-supervised", Printed("91.3")),
    "huang": ParserRow("Huang & Harper (2009)", "semi-supervised", Printed("91.3")),
    "mcclosky": ParserRow("McClosky et al. (2006)", "semi-supervised", Printed("92.1")),
    "vinyals_semi": ParserRow("Vinyals & Kaiser et al. (2014)", "semi-supervised", Printed("92.1")),
    "transformer_semi": ParserRow(
        "Transformer (4 layers)",
        "semi-supervised",
        Printed("92.7"),
        "parsing-semi.parser",
        ("wsj-02-21", "high-confidence corpus", "BerkeleyParser corpus"),
    ),
    "luong": ParserRow("Luong et al. (2015)", "multi-task", Printed("93.0")),
    "dyer_generative": ParserRow("Dyer et al. (2016)", "generative", Printed("93.3")),
}
