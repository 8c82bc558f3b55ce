"""Tables of the audit and the models: `findings`, `fits`."""

from loadcurve.tables.schemas.declare import Table, count, name, number, ratio

FINDINGS = Table(
    {
        "study": name("Study the finding is about; missing outside a study."),
        "run_id": name("Run the finding is about; missing if the finding is about all runs together."),
        "source": name("Raw file the finding is about; it identifies a run without a record."),
        "rule": name("Audit rule; each has a page in the handbook.", required=True),
        "severity": name("ok, warning, error, unchecked or ignored.", required=True),
        "observed": number("What the rule measured, in the rule's own unit."),
        "expected": number("Expected value of the measurement."),
        "evidence": name("The numbers in a sentence."),
        "meaning": name("What the finding means for the measurement; missing if nothing is wrong."),
        "advice": name("What to do next; empty if nothing is wrong."),
    },
    description="Findings of the audit for each run; only checks that could run give a verdict.",
)

FITS = Table(
    {
        "study": name("Study the data come from; missing outside a study."),
        "variant": name("Variant of the system under test."),
        "law": name("Model, such as usl.", required=True),
        "parameter": name("Parameter or derived quantity.", required=True),
        "value": number("Estimate."),
        "lo": number("Lower end of the interval."),
        "hi": number("Upper end of the interval."),
        "level_ratio": ratio("Confidence level of the interval."),
        "method": name("Method by which the interval was computed."),
        "points": count("Points the fit used."),
        "r_squared": number("Share of the variance the fit explains; negative if the fit is worse than the mean."),
        "warnings": name("Reasons to trust the fit less, separated by semicolons."),
    },
    description="Parameters of fitted laws with their intervals.",
)
