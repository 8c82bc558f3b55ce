"""What a caller knows of a raw text that the text does not say."""

from dataclasses import dataclass

from loadcurve.ingest.size import MAX_BYTES


@dataclass(frozen=True)
class Hints:
    """Options of `loadcurve ingest` about its files."""

    tool: str | None = None  # `TOOL` or `TOOL:VARIANT`; found from each text when it is None
    timezone: str = "UTC"  # IANA name of the zone of local times in the texts
    # Format of access logs, as the servers' configuration gives it; empty when they show it themselves.
    log_format: str = ""
    max_bytes: int = MAX_BYTES  # Largest text of a file, unpacked
    follow: bool = False  # Whether links are read that lead out of a folder

    def __post_init__(self) -> None:
        if self.timezone != "UTC":
            from loadcurve.ingest.sysstat.clock import zone_named

            zone_named(self.timezone)
