"""Binary recordings of sysstat as text."""

from loadcurve.errors import LabError, ParseError
from loadcurve.files.runtime import temporary_folder
from loadcurve.ingest import files


def recording_text(raw: bytes) -> str:
    """Return what `sadf -j` of this machine prints of a binary `sa` file."""
    from loadcurve.lab.tools.monitors.sadf import text_of

    with temporary_folder() as folder:
        recording = folder / "recording"  # sadf requires a file, and the original may be compressed
        recording.write_bytes(raw)
        try:
            return text_of(recording)
        except LabError as error:
            reason = str(error).removeprefix(f"{recording}: ")
            raise ParseError(0, files.TEXT_OF_RECORDING, reason) from None


files.text_of_recording = recording_text
