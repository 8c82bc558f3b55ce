"""Plots of the overhead of responses on the wire, and of the limits set by links, packet rates and ports."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, MaxNLocator

from loadcurve.plots._axes import axes_or_new, label_end, log_ticks, name_ends
from loadcurve.plots.style import COLOURS, colours

_BODY, _WHOLE = "Body of the response [bytes]", "Response with its header [bytes]"
# Markers by verdict of `summarise_consistency`: a rate that cannot be sustained gets a different marker.
_MARKER = {"consistent": "o", "inconsistent": "s", "above line rate": "X"}


def plot_overhead_by_size(responses: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot overhead bytes against the size of the response's body: in frames, and on the medium.

    `responses`: ``response_bytes frame_bytes medium_bytes``, sorted by size, such as from `summarise_responses`.

    Examples
    --------
    >>> from loadcurve.models.wire import summarise_responses
    >>> plot_overhead_by_size(summarise_responses([100, 1000, 10_000], 200)).get_xlabel()
    'Body of the response [bytes]'
    """
    ax = axes_or_new(ax, responses=responses)
    names = {"frame_bytes": "in frames", "medium_bytes": "on the medium"}
    palette = colours(names.values())
    for column, name in names.items():
        beyond = responses[column] - responses["response_bytes"]
        ax.plot(responses["response_bytes"], beyond, color=palette[name])
        label_end(ax, responses["response_bytes"].iloc[-1], beyond.iloc[-1], name, palette[name])
    ax.set_ylim(bottom=0)
    ax.set_xlabel(_BODY)
    ax.set_ylabel("Bytes beyond the body")
    return ax


def plot_packets_by_size(packets: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot packets of one request against the size of the response's body, a line for each way of counting.

    `packets`: ``counted`` (name of what is counted), ``response_bytes`` (ascending) and ``frames``.

    Examples
    --------
    >>> packets = pd.DataFrame({"counted": "segments", "response_bytes": [100, 10_000], "frames": [1, 7]})
    >>> plot_packets_by_size(packets).get_ylabel()
    'Packets per request'
    """
    ax = axes_or_new(ax, packets=packets)
    palette = colours(packets["counted"].unique())
    for counted, rows in packets.groupby("counted", sort=False):
        ax.plot(rows["response_bytes"], rows["frames"], color=palette[counted])
        label_end(ax, rows["response_bytes"].iloc[-1], rows["frames"].iloc[-1], str(counted), palette[counted])
    ax.set_ylim(bottom=0)
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel(_BODY)
    ax.set_ylabel("Packets per request")
    return ax


def plot_requests_limit_by_size(limits: pd.DataFrame, observed: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot limits in requests/s set by links (solid lines) and packet rates (dashed lines), and reported rates.

    - `limits`: ``kind`` (link or packets), ``limit`` (its name), ``payload_bytes`` (ascending) and
      ``throughput_rps``, such as from `summarise_limits`.
    - `observed`: ``setup``, ``payload_bytes``, ``throughput_rps`` and ``verdict`` of `summarise_consistency`; may
      be empty.

    Examples
    --------
    >>> limits = pd.DataFrame({"kind": "link", "limit": "10 Gbit/s", "payload_bytes": [100, 10_000],
    ...                        "throughput_rps": [7e6, 1.2e5]})
    >>> observed = pd.DataFrame({"setup": ["nginx"], "payload_bytes": [1000], "throughput_rps": [4e5],
    ...                          "verdict": ["consistent"]})
    >>> plot_requests_limit_by_size(limits, observed).get_legend_handles_labels()[1]
    ['nginx']
    """
    ax = axes_or_new(ax, limits=limits)
    ends = []
    for (kind, limit), rows in limits.groupby(["kind", "limit"], sort=False):
        style, color = ("-", COLOURS["limit"]) if kind == "link" else ("--", COLOURS["law"])
        ax.plot(rows["payload_bytes"], rows["throughput_rps"], style, color=color, linewidth=1.2)
        ends.append((rows["payload_bytes"].iloc[-1], rows["throughput_rps"].iloc[-1], limit, color))
    palette = colours(observed["setup"].unique())
    for (setup, verdict), rows in observed.groupby(["setup", "verdict"], sort=False):
        name = setup if verdict == "consistent" else f"{setup}, {verdict}"
        face = "none" if verdict == "inconsistent" else palette[setup]
        ax.plot(
            rows["payload_bytes"], rows["throughput_rps"], _MARKER[verdict], color=palette[setup],
            markerfacecolor=face, markersize=7, label=name, linestyle="none",
        )  # fmt: skip
    if len(observed):
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), fontsize="small", borderaxespad=0.1)
    _log_log(ax)
    name_ends(ax, ends)
    ax.set_xlabel(_WHOLE)
    ax.set_ylabel("Throughput [requests/s]")
    return ax


def plot_port_limit(limits: pd.DataFrame, wanted: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot connections/s against pairs of addresses and server ports, a line for each TIME_WAIT and port range.

    - `limits`: ``limit`` (its name), ``destinations`` (ascending) and ``connections_per_s``.
    - `wanted`: ``name`` and ``connections_per_s`` of required rates, drawn as dashed lines; may be empty.

    Examples
    --------
    >>> limits = pd.DataFrame({"limit": "60 s", "destinations": [1, 10], "connections_per_s": [470.0, 4700.0]})
    >>> wanted = pd.DataFrame({"name": ["wanted"], "connections_per_s": [1000.0]})
    >>> plot_port_limit(limits, wanted).texts[-1].get_text()
    'wanted'
    """
    ax, ends = axes_or_new(ax, limits=limits), []
    palette = colours(limits["limit"].unique())
    for limit, rows in limits.groupby("limit", sort=False):
        ax.plot(rows["destinations"], rows["connections_per_s"], color=palette[limit])
        end = rows.iloc[-1]
        ends.append((end["destinations"], end["connections_per_s"], str(limit), palette[limit]))
    for row in wanted.itertuples():
        across = limits["destinations"].min(), limits["destinations"].max()
        ax.plot(across, [row.connections_per_s] * 2, "--", color=COLOURS["limit"], linewidth=1.2, zorder=1)
        ends.append((across[1], row.connections_per_s, row.name, COLOURS["limit"]))
    _log_log(ax)
    name_ends(ax, ends)
    ax.set_xlabel("Server addresses and ports")
    ax.set_ylabel("Connections/s")
    return ax


def _log_log(ax: Axes) -> None:
    ax.set_xscale("log")
    ax.set_yscale("log")
    for axis, ends in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        log_ticks(axis, *ends)
        axis.set_major_formatter(EngFormatter(sep=""))
