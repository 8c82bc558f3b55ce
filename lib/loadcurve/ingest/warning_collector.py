"""Warnings that many lines share."""


class WarningCollector:
    """Warnings, of which many lines can share one.

    Examples
    --------
    >>> warnings = WarningCollector()
    >>> warnings.add("sum", 4, "wrong")
    >>> warnings.add("sum", 9, "wrong")
    >>> warnings.sentences()
    ['line 4: wrong (and 1 line more)']
    """

    def __init__(self) -> None:
        self._first: dict[str, tuple[int, str]] = {}
        self._count: dict[str, int] = {}

    def add(self, kind: str, line: int, sentence: str, count: int = 1) -> None:
        """Add a warning about `count` lines from `line` on; only the first sentence of a kind is kept."""
        self._first.setdefault(kind, (line, sentence))
        self._count[kind] = self._count.get(kind, 0) + count

    def sentences(self) -> list[str]:
        """One sentence for each kind, in the order of the lines."""
        shown = []
        for kind, (line, sentence) in sorted(self._first.items(), key=lambda entry: entry[1][0]):
            more = self._count[kind] - 1
            shown.append(f"line {line}: {sentence}" + (f" (and {more} line{'s' * (more > 1)} more)" if more else ""))
        return shown
