"""The rules of the audit: each module holds the constant `RULE` and the function that finds its findings."""
