"""What the audit and the models say: `findings`, `fits`."""

import pandera.pandas as pa

from loadcurve.schemas.declare import count, name, number, ratio

FINDINGS = pa.DataFrameSchema(
    {
        "study": name("Study the finding is about; missing outside a study."),
        "run_id": name("Run it is about; missing where it is about the study."),
        "source": name("Raw file it is about: what names a run without a record."),
        "rule": name("Audit rule; each has a page in the handbook.", required=True),
        "severity": name("ok, warning or error.", required=True),
        "observed": number("", "What the rule measured, in the rule's own unit."),
        "expected": number("", "What it should be."),
        "evidence": name("The numbers in a sentence."),
        "advice": name("What to do next; empty where nothing is wrong."),
    },
    description="What the audit says of each run: a verdict only from a check that ran.",
)

FITS = pa.DataFrameSchema(
    {
        "study": name("Study the data come from; missing outside a study."),
        "variant": name("Variant of the system under test."),
        "law": name("Model, such as usl.", required=True),
        "parameter": name("Parameter or derived quantity.", required=True),
        "value": number("", "Estimate."),
        "lo": number("", "Lower end of the interval."),
        "hi": number("", "Upper end of the interval."),
        "level_ratio": ratio("Confidence level of the interval."),
        "method": name("How the interval was made."),
        "points": count("Points the fit used."),
        "r_squared": number("", "Share of the variance the fit explains; negative where it is worse than the mean."),
        "warnings": name("What weakens the fit, separated by semicolons."),
    },
    description="Parameters of fitted laws with their intervals.",
)
