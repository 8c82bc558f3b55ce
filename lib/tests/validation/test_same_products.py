"""Two builds are compared cell by cell: what differs is named with both values, and what may differ is not."""

import pandas as pd

from validation.same_products import compare


def test_each_difference_is_one_line(tmp_path):
    builds = [tmp_path / "old", tmp_path / "new"]
    for build, rate in zip(builds, (1.0, 2.0), strict=True):
        for name in ("tidy/s", "figures/40_x"):
            (build / name).mkdir(parents=True)
        pd.DataFrame({"run_id": ["r1", "r2"], "throughput_rps": [5.0, rate]}).to_parquet(build / "tidy/s/runs.parquet")
        (build / "figures/40_x/values.json").write_text(f'{{"peak": {{"value": {rate}}}, "commit": "{rate}"}}')
        (build / "figures/40_x/fit.csv").write_text(f"connections,fit\n1,{rate}\n")
    assert list(compare(builds[0], builds[0])) == []
    assert list(compare(*builds)) == [
        "figures/40_x/fit.csv: column fit, row 0: '1.0' became '2.0'",
        "figures/40_x/values.json: /peak/value: 1.0 became 2.0",
        "tidy/s/runs.parquet: column throughput_rps, row 1: 1.0 became 2.0",
    ]
    (builds[1] / "tidy/s/runs.parquet").unlink()
    assert list(compare(*builds))[-1] == f"{builds[1]}/tidy/s/runs.parquet: missing, but the other build has it"
