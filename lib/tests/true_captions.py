"""Whether a caption is true of the numbers that its figure draws; each number is computed here from the published CSV.

`TRUE` holds for each figure or table a function of its numbers, its words, and the names of the notebook that drew it.
"""

import re

import pytest

SAME = 0.05  # change that sentences call level


def per_cent(text):
    return float(text.replace("−", "-").replace(",", "")) / 100


def count(text):
    return float(text.replace(",", ""))


def part_of(words, curve, numbers):
    """Sentence of one curve: after its name, where several are drawn."""
    if numbers["variant"].nunique() == 1:
        return words
    rest = re.search(rf"\b{re.escape(curve)}: (.+?)(?= \S+: |$)", words)
    assert rest, f"{curve} is drawn and not named: {words}"
    return rest[1]


def means_of(numbers, column):
    known = numbers.dropna(subset=["connections", column])
    return {name: rows.groupby("connections")[column].mean() for name, rows in known.groupby("variant")}


def true_throughput(numbers, words, known):
    if "standard deviation" in words or "No load was repeated" in words:  # the template
        true_scatter(numbers, words)
        return
    for curve, means in means_of(numbers, "throughput_rps").items():
        said = part_of(words.split(" Points are runs")[0], curve, numbers)
        best, last = means.idxmax(), means.index[-1]
        if best == last:
            assert f"highest load, {best:,g} connections" in said
            assert ("still rises" in said) == (means.iloc[-1] / means.iloc[-2] > 1 + SAME)
        else:
            assert f"highest at {best:,g} connections" in said
            fall = 1 - means[best:].min() / means[best]
            assert ("stays within" in said) == (fall <= SAME)
            for percent in re.findall(r"falls by (\d+) %", said):
                assert per_cent(percent) == pytest.approx(1 - means.iloc[-1] / means[best], abs=0.006)


def true_scatter(numbers, said):
    points = numbers.groupby(["variant", "connections"])["throughput_rps"]
    scatter = (points.std() / points.mean()).dropna()
    if scatter.empty:
        assert "No load was repeated" in said
    else:
        variant, at = scatter.idxmax()
        assert f"{at:,g} connections of {variant}" in said
        assert per_cent(re.search(r"(\d+) % of their mean", said)[1]) == pytest.approx(scatter.max(), abs=0.006)


def true_latency(numbers, words, known):
    for curve, means in means_of(numbers, "latency_mean_s").items():
        said = part_of(words.split(" Points are runs")[0], curve, numbers)
        ratio = means.iloc[-1] / means.iloc[0]
        verb = "rises" if ratio > 1 + SAME else "falls" if ratio < 1 - SAME else "stays level"
        assert f"mean response time {verb} from" in said


def true_concurrency(numbers, words, known):
    checked = numbers.dropna(subset=["observed", "expected"])
    inside = (checked["observed"] / checked["expected"]).between(0.9, 1.1)
    for curve, rows in checked.assign(inside=inside).groupby("variant"):
        assert f"{curve}, {rows['inside'].sum()} of {len(rows)} runs" in words


def true_established(numbers, words, known):
    whole = (numbers["established"] >= numbers["connections"]).sum()
    assert f"all requested connections at the server in {whole} of {len(numbers)} runs" in words


def true_cpu(numbers, words, known):
    means = numbers.groupby(["variant", "role", "connections"])["busy_ratio"].mean()
    for (_, role), rows in means.groupby(["variant", "role"]):
        assert f"{role} {rows.max():.0%}".replace("%", " %") in words


def true_formula(numbers, words, known):
    means = numbers.groupby(["law", "connections"])["deviation_ratio"].mean()
    own, least = means["N/R"], means["N/R_min"]
    assert per_cent(re.search(r"within ([\d.]+) % of throughput", words)[1]) == pytest.approx(own.abs().max(), rel=0.01)
    ends = re.findall(r"measured throughput is (\d+) % (below|above)", words)
    assert bool(ends) == bool((least.abs() > 0.03).any())
    if ends:
        assert per_cent(ends[0][0]) == pytest.approx(abs(least.iloc[-1]), abs=0.006)
        assert (ends[0][1] == "below") == (least.iloc[-1] < 0)


def true_bounds(numbers, words, known):
    means = numbers.groupby("connections")["throughput_rps"].mean()
    ceiling = count(re.search(r"ceiling 1/D is ([\d,.]+) requests/s", words)[1])
    assert abs(ceiling / means.max() - 1) < 0.006, "it is rounded to three digits"
    at, share = re.search(r"At ([\d,]+) connections?, nearest to N\*, throughput is (\d+) %", words).groups()
    assert abs(100 * means[count(at)] / means.max() - int(share)) <= 1


def true_gain(numbers, words, known):
    few = numbers[numbers["throughput_rps"] >= 0.9 * numbers["throughput_rps"].max()].iloc[0]
    last = numbers.iloc[-1]
    if few["connections"] == last["connections"]:
        assert f"Only the highest load, {last['connections']:,g} connections" in words
        return
    rate = last["throughput_rps"] / few["throughput_rps"]
    verb = "rises by" if rate > 1 + SAME else "falls by" if rate < 1 - SAME else "stays level"
    assert f"From {few['connections']:,g} to {last['connections']:,g} connections" in words and verb in words
    slower = count(re.search(r"is ([\d.,]+) times as long", words)[1])
    assert slower == pytest.approx(last["latency_by_little_s"] / few["latency_by_little_s"], rel=0.01)


def true_law(numbers, words, known):
    misses = (numbers["throughput_rps"] / numbers.filter(regex="^measured").iloc[:, 0] - 1).abs()
    near, levels, worst = re.search(r"of (\d+) of (\d+) levels .* its largest miss is ([\d.]+) %", words).groups()
    assert (int(near), int(levels)) == ((misses <= 0.1).sum(), len(misses))
    assert per_cent(worst) == pytest.approx(misses.max(), rel=0.02)


def true_residuals(numbers, words, known):
    for sign, side in ((1, "high"), (-1, "low")):
        most = (sign * numbers["miss_ratio"]).max()
        said = re.search(rf"up to (\d+) % too {side}", words)
        assert bool(said) == (most > 0) and (not said or per_cent(said[1]) == pytest.approx(most, abs=0.006))


def true_intervals(numbers, words, known):
    known = numbers.dropna(subset=["lo", "hi"])
    width = (known["hi"] - known["lo"]) / known["value"]
    for method, rows in known.groupby("method"):
        widest = known["quantity"][width[rows.index].idxmax()].removesuffix("_rps").replace("_", " ")
        assert f"{method}, {widest}, " in words


def true_capacity(numbers, words, known):
    kept = numbers["latency_p99_s"] <= known["promised_s"]
    upper = re.search(r"up to ([\d,]+) connection", words)
    assert not upper or kept[numbers["connections"] <= count(upper[1])].all()
    broken = re.search(r"no run at ([\d,]+) connections? does", words)
    failed = numbers["error_ratio"] > known["errors_most"]
    assert not broken or not (kept & ~failed)[numbers["connections"] == count(broken[1])].any()
    assert bool(broken) != ("no measured upper end" in words)


def true_knees(numbers, words, known):
    knees = numbers.dropna(subset=["definition"]).set_index("definition")["connections"]
    ends = re.search(r"is between ([\d.,]+) \((.+?)\) and ([\d.,]+) connections \((.+?)\), depending", words).groups()
    assert count(ends[0]) == pytest.approx(knees.min(), rel=0.01) and ends[1] == knees.idxmin()
    assert count(ends[2]) == pytest.approx(knees.max(), rel=0.01) and ends[3] == knees.idxmax()
    for name in knees.index[knees.isna()]:
        assert name in words.split("none by")[1]


def true_utilisation(numbers, words, known):
    means = numbers.groupby(["resource", "connections"])["utilisation_ratio"].mean()
    resource, at = means.idxmax()
    assert re.search(rf"is {resource}, [\d.]+ % busy at {at:,g} connection", words)
    assert ("no resource saturates" in words) == (means.max() < 0.9)


def true_bottlenecks(numbers, words, known):
    allows = numbers["saturation_rps"]
    if allows.isna().all():
        assert "is not known" in words and "busy with other work" in words
        return
    tightest = numbers.loc[allows.idxmin()]
    said = re.search(r"is (.+), which allows ([\d.,]+) ", words)
    assert (said[1], count(said[2])) == (tightest["resource"], pytest.approx(allows.min(), rel=0.01))
    assert ("no plateau yet" in words) == numbers["plateau_rps"].isna().all()


def true_blocks(numbers, words, known):
    if numbers["repeat"].nunique() == 1:
        assert "Each load was run once" in words
        return
    for load, rows in numbers.sort_values("repeat").groupby("connections"):
        ratio = rows["throughput_rps"].iloc[-1] / rows["throughput_rps"].iloc[0]
        verb = "rises" if ratio > 1 + SAME else "falls" if ratio < 1 - SAME else "stays level"
        assert re.search(rf"at {load:,g} connections? (it )?{verb}", words)


def true_ratios(numbers, words, known):
    low = count(re.search(r"ratio of A to B of ([\d.,]+)", words)[1])
    assert low == pytest.approx(numbers["ratio"].min(), rel=0.01)
    closed = numbers.dropna(subset=["lo", "hi"])
    outside = ((closed["lo"] > 1) | (closed["hi"] < 1)).sum()
    assert (f"{outside} of {len(closed)} intervals" if len(closed) else "no method has an interval") in words


def true_coverage(numbers, words, known):
    worst = numbers.dropna(subset=["coverage_ratio"]).groupby(["runs", "method"])["coverage_ratio"].min()
    for runs in (worst.index[0][0], worst.index[-1][0]):
        least, most = (f"{end:.0%}".replace("%", " %") for end in (worst[runs].min(), worst[runs].max()))
        assert re.search(rf"{least} \([^)]+\) to {most} \([^)]+\) (of the simulations )?with {runs} runs", words)


TRUE = {
    "throughput": true_throughput,
    "latency": true_latency,
    "effective_concurrency": true_concurrency,
    "established": true_established,
    "cpu": true_cpu,
    "formula": true_formula,
    "bounds": true_bounds,
    "gain.table": true_gain,
    "usl": true_law,
    "fit": true_law,
    "residuals": true_residuals,
    "pattern": true_residuals,
    "intervals": true_intervals,
    "capacity": true_capacity,
    "knees": true_knees,
    "utilisation": true_utilisation,
    "utilisation_waiting": true_utilisation,
    "bottlenecks": true_bottlenecks,
    "blocks": true_blocks,
    "ratios": true_ratios,
    "coverage": true_coverage,
}
