"""A launch: each run with its environment, session and record, until the study is finished."""
