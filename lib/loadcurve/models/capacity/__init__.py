"""From curves to decisions: knee, capacity under an objective, bottleneck, and scale-out."""

from loadcurve.models.capacity.bottleneck import summarise_demands
from loadcurve.models.capacity.knee import (
    find_curvature_knee,
    find_kneedle_knee,
    find_power_knee,
    find_power_level,
    kneedle,
    summarise_knees,
)
from loadcurve.models.capacity.objective import Objective, find_capacity, overload_latency_s, summarise_objectives
from loadcurve.models.capacity.ranking import bottleneck_verdict, summarise_bottlenecks
from loadcurve.models.capacity.scale_out import summarise_overlap, summarise_projection, summarise_scale_out

__all__ = [
    "Objective",
    "bottleneck_verdict",
    "find_capacity",
    "find_curvature_knee",
    "find_kneedle_knee",
    "find_power_knee",
    "find_power_level",
    "kneedle",
    "overload_latency_s",
    "summarise_bottlenecks",
    "summarise_demands",
    "summarise_knees",
    "summarise_objectives",
    "summarise_overlap",
    "summarise_projection",
    "summarise_scale_out",
]
