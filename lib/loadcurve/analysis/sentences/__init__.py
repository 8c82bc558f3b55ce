"""Captions and alt texts, computed from results, so that they hold for any data.

| module       | sentences about |
|--------------|---|
| `levels`     | the levels of one curve |
| `curve`      | the figures of one `Curve` |
| `runs`       | figures over the runs of several curves |
| `quality`    | the quality of a measurement |
| `models`     | bounds, laws, knees, capacity and utilisation of a curve |
| `comparison` | two loads or servers |
| `open_loop`  | an open loop beside a closed loop |
"""

from loadcurve.analysis.bottlenecks import bottlenecks_caption
from loadcurve.analysis.sentences.comparison import blocks_caption, coverage_caption, ratios_caption
from loadcurve.analysis.sentences.curve import (
    highest_statistic,
    latency_alt,
    latency_caption,
    statistics,
    throughput_alt,
    throughput_caption,
    throughput_key,
    usage_alt,
    usage_caption,
)
from loadcurve.analysis.sentences.models import (
    bounds_caption,
    capacity_caption,
    gain_caption,
    intervals_caption,
    knees_caption,
    law_caption,
    residuals_caption,
    usage_of_curve_caption,
)
from loadcurve.analysis.sentences.open_loop import correction_caption, rates_caption
from loadcurve.analysis.sentences.quality import (
    busy_caption,
    concurrency_caption,
    deviation_caption,
    established_caption,
)
from loadcurve.analysis.sentences.runs import curves_alt, curves_caption, missing_sentences, of_curve, scatter_caption

__all__ = [
    "blocks_caption",
    "bottlenecks_caption",
    "bounds_caption",
    "busy_caption",
    "capacity_caption",
    "concurrency_caption",
    "correction_caption",
    "coverage_caption",
    "curves_alt",
    "curves_caption",
    "deviation_caption",
    "established_caption",
    "gain_caption",
    "highest_statistic",
    "intervals_caption",
    "knees_caption",
    "latency_alt",
    "latency_caption",
    "law_caption",
    "missing_sentences",
    "of_curve",
    "rates_caption",
    "ratios_caption",
    "residuals_caption",
    "scatter_caption",
    "statistics",
    "throughput_alt",
    "throughput_caption",
    "throughput_key",
    "usage_alt",
    "usage_caption",
    "usage_of_curve_caption",
]
