"""From measured tables to an answer, for recorded studies and for any folder of raw files alike.

| module      | holds |
|-------------|---|
| `answer`    | `analyse` and `Analysis`: verdict, curves, findings, next steps |
| `curve`     | `Curve` and `Result`: what is known about one variant |
| `models_of_curve` | results of a curve: bounds, Universal Scalability Law, capacity, bottleneck |
| `sources`   | several folders and files as one set of tables |
| `levels`    | quantiles and errors of each run, the table of levels, curves and loads by what was measured |
| `reruns`    | what a rerun of a published experiment shows, run by run |
| `timeline`  | samples of all monitors on one clock |
| `open_loop` | an open loop beside a closed loop of the same server |
| `objective` | objectives as people write them: ``p99=200ms``; gates, limits on a ratio |
| `advice`    | what to measure next |
| `compare`   | one measurement against another: which loads, their ratio, as a table and as text |
| `history`   | one metric over dates, and where it changed |
| `bottlenecks` | the bottleneck report: utilisation of each resource, and its conclusion |
| `cells`     | levels, results and settings as texts with units |
| `sentences` | captions and alt texts of figures (a package) |
"""

from loadcurve.analysis.answer import Analysis, analyse
from loadcurve.analysis.bottlenecks import summarise_processors
from loadcurve.analysis.cells import changes_of_settings, label_settings
from loadcurve.analysis.compare import Comparison, compare
from loadcurve.analysis.curve import Curve, Result
from loadcurve.analysis.history import Change, History, common_variants, compare_over_time
from loadcurve.analysis.levels import add_quantiles, choose_curves, choose_levels
from loadcurve.analysis.objective import Gate, check_measured, parse_gate, parse_objective, parse_objectives
from loadcurve.analysis.open_loop import find_closed_capacity, split_loops, summarise_overload, summarise_rates
from loadcurve.analysis.reruns import count_disturbed, undisturbed
from loadcurve.analysis.timeline import summarise_timeline
from loadcurve.audit import Verdict

__all__ = [
    "Analysis",
    "Change",
    "Comparison",
    "Curve",
    "Gate",
    "History",
    "Result",
    "Verdict",
    "add_quantiles",
    "analyse",
    "changes_of_settings",
    "check_measured",
    "choose_curves",
    "choose_levels",
    "common_variants",
    "compare",
    "compare_over_time",
    "count_disturbed",
    "find_closed_capacity",
    "label_settings",
    "parse_gate",
    "parse_objective",
    "parse_objectives",
    "split_loops",
    "summarise_overload",
    "summarise_processors",
    "summarise_rates",
    "summarise_timeline",
    "undisturbed",
]
