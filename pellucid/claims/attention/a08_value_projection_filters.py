"""A8: W_V filters."""

import torch
from torch import Tensor

from pellucid.claims.activations import Activations
from pellucid.claims.attention.a07_learning_to_match import marked
from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.evidence import Evidence, Figure, difference, mean_over_seeds
from pellucid.claims.rules import Rule, at_least
from pellucid.claims.texts import SEEDS
from pellucid.claims.toy_tasks import train_on_task

__all__ = ["CLAIM", "measure", "share_told_by"]


def share_told_by(rows: Tensor, labels: Tensor) -> float:
    """Return the share of the rows' variance that lies between the means of their labels."""
    means = torch.stack([rows[labels == label].mean(0) for label in labels])
    total = (rows - rows.mean(0)).square().sum()
    return float((means - rows.mean(0)).square().sum() / total)


def measure(budget: Budget, seed: int) -> Evidence:
    """Train recall, where the value is wanted and the key is not, and see which of them fills the value vectors."""
    found: dict[tuple[str, str], list[float]] = {}
    tokens = torch.arange(1, 25)
    attributes = {"wanted (value)": (tokens - 1) % 4, "not wanted (key)": (tokens - 1) // 4}
    for number in budget.every_seed(seed):
        for when, steps in (("before", 0), ("after", budget.steps)):
            model, _ = train_on_task(marked, number, steps, positions="none", batch=128)
            activations = Activations()
            with torch.no_grad():
                model(tokens[:, None], activations)
            spaces = {
                "X": activations["decoder.0.residual.input"][:, 0],
                "V": activations["decoder.0.self_attention.value"][:, :, 0].flatten(1),
            }
            for space, rows in spaces.items():
                for name, labels in attributes.items():
                    found.setdefault((f"{space} {when}", name), []).append(share_told_by(rows, labels))
    records = []
    for (space, name), values in found.items():
        mean = mean_over_seeds(values)
        records.append({"space": space, "attribute": name, **mean.columns("share")})

    def ratio(space: str) -> list[float]:
        wanted, unwanted = found[space, "wanted (value)"], found[space, "not wanted (key)"]
        return [a - b for a, b in zip(wanted, unwanted, strict=True)]

    titles = {
        "space": Text("space", "空间"),
        "share": Text("share of the variance", "方差份额"),
        "attribute": Text("attribute", "属性"),
    }
    numbers = {
        "lead_of_wanted_in_v": mean_over_seeds(ratio("V after")),
        "lead_in_v_over_lead_in_x": difference(ratio("V after"), ratio("X after")),
        "lead_of_wanted_in_v_before": mean_over_seeds(ratio("V before")),
    }
    return Evidence(numbers, records, Figure("bar", "space", "share", "attribute", titles))


CLAIM = Claim(
    id="A8",
    statement=Text(
        "W_V filters: it hands on what is needed and leaves the rest.", "W_V 起过滤作用：传递所需，滤去其余。"
    ),
    equation="V = X W_V",
    measured=Text(
        "associative recall, where a token's value is asked for and its key only serves to find it: share of the "
        "variance of "
        "X and of V that tells the value, less the share that tells the key, after training",
        "联想回忆中，词元的值是所问，键只用来寻找：训练后 X 与 V 的方差中说明值的份额减去说明键的份额",
    ),
    rule=Rule(
        (
            at_least("lead_of_wanted_in_v", 0.1, SEEDS, fails_at=0.0),
            at_least(
                "lead_in_v_over_lead_in_x",
                0.05,
                Text(
                    "V must be fuller of it than X is, or it is the embedding that filters",
                    "V 必须比 X 更偏向所需，否则过滤的是嵌入",
                ),
                fails_at=0.0,
            ),
        )
    ),
    reading=Text(
        "Filtering is by degree: a linear map that is shorter along some directions. What it takes is settled "
        "together with "
        "W_O, for only their product reaches the stream, and many heads write along few directions (Elhage et al. "
        "2021). That a probe "
        "finds something in V does not say that it is used (Belinkov 2022), hence shares of variance here, and no "
        "probe.",
        "过滤是程度问题：线性映射在某些方向上更短。取舍由它与 W_O 共同决定，因为到达流中的只有两者之积，许多头只沿少数"
        "方向写入（Elhage 等 2021）。"
        "探针在 V 中找到某物并不说明它被使用（Belinkov 2022），所以这里看方差份额而不用探针。",
    ),
    sources=("Elhage et al. 2021", "Belinkov 2022, Probing Classifiers"),
    run=measure,
    effort=Effort(Budget(seeds=3, steps=250), Budget(seeds=8, steps=1_000)),
)
