"""Describe what a launch would do: each command of each point, its host, and the duration of the whole study."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from loadcurve.errors import LabError
from loadcurve.lab.hosts import capabilities
from loadcurve.lab.hosts.host import pinned
from loadcurve.lab.run.allowed_targets import check_targets
from loadcurve.lab.run.deployment import Deployment, argvs, processors, warm_ups
from loadcurve.lab.run.obstacles import deployments, first_points, list_obstacles
from loadcurve.lab.run.own_programs import describe_own, quoted
from loadcurve.lab.schedule.order import max_points
from loadcurve.lab.schedule.points import repeats_of
from loadcurve.lab.study_file import StudyFile, check_study, settings_of
from loadcurve.lab.tools.balancers.functions import DURATION_S
from loadcurve.study import Study

# Time of a run in s besides its load: starts, the monitors' lead time, ends.  `make bench CASES=launcher` measures it.
_OVERHEAD_S = 0.45
# Time in s that each host in a namespace adds: creating links, starting and stopping monitors.  Measured with two to
# five hosts on two processors.
_HOST_S = 0.25
_ROLES = {"generator": "C1", "warm_up": "C1", "server": "S1", "balancer": "LB"}


def describe(study: Study) -> Iterator[str]:
    """Return lines that describe what would run, without starting a process or creating a network.

    After the number of runs come the programs that the study brings and the hosts of others that it loads, if any.
    Every command runs under ``setpriv --pdeathsig`` and ``timeout`` in the namespace of its host; ports on loopback
    differ between launches.

    Parameters
    ----------
    study : Study
        Study to describe.

    Raises
    ------
    LoadcurveError
        With one line for each error in the study.

    Examples
    --------
    >>> lines = list(describe(Study("s", "?", factors={"connections": (1, 2)}, repeats=1)))
    >>> lines[0]
    's: 2 runs of 5 s, 11 s in all'
    >>> lines[1]
    'c0001-r1'
    """
    check_study(study)
    settings = settings_of(study)
    yield _head(study, settings)
    yield from describe_own(study)
    if settings.search is not None:
        goal, factor = settings.search.goal, settings.search.factor
        yield (
            f"  each run sets {factor} from {goal.lowest:g} to {goal.highest:g} and lasts {goal.initial_s:g} to "
            f"{goal.final_s:g} s: below are the longest at the lowest"
        )
        level = int(goal.lowest) if float(goal.lowest).is_integer() else goal.lowest
        trial = {factor: level, "load.duration_s": goal.final_s}
        study = replace(study, variants={name: {**own, **trial} for name, own in study.variants.items()})
    run_ids = [point.run_id for point in first_points(study)]
    points = dict(zip(run_ids, deployments(study, capabilities.ASSUMED), strict=True))
    for run_id, (of_point, deployment) in points.items():
        yield run_id
        if deployment.fault is not None:
            yield f"  {deployment.faulty:<5} {'fault':<10} {deployment.fault.name}"
        for host, role, argv in _commands(study, of_point, deployment):
            cpus = processors(of_point, deployment.slots, host, _ROLES[role]) if role in _ROLES else ()
            before = (*pinned(cpus), *deployment.wrap(host, role))
            yield f"  {host:<5} {role:<10} {' '.join(map(quoted, (*before, *argv)))}"
        if deployment.balanced is not None:
            yield f"  {deployment.balancer:<5} {'shares':<10} {_shares(deployment.balanced.expected)}"


def describe_obstacles(study: Study, *, public: bool = False) -> Iterator[str]:
    """Return the reasons why `study` cannot be launched on this machine now, without sending any load.

    Parameters
    ----------
    study : Study
        As for `describe`.
    public : bool
        Whether targets that the study names may be public addresses.

    Examples
    --------
    >>> study = Study("s", "?", load={"duration_s": 1}, server={"url": "http://192.0.2.1/"})
    >>> [line.partition(":")[0] for line in describe_obstacles(study)][-1]
    'cannot be launched'
    """
    for row in list_obstacles(study).itertuples():
        yield f"cannot be launched here: {row.obstacle}: {row.remedy}"
    try:
        check_targets(study, public=public, ask=False)
    except LabError as error:
        yield f"cannot be launched: {error}"


def _shares(expected: Mapping[str, float]) -> str:
    """Return the expected share of each server as text."""
    shares = ", ".join(f"{server} {share:.1%}" for server, share in expected.items())
    return shares or "depend on the connections that each server has"


def _commands(study: Study, settings: StudyFile, made: Deployment) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield the commands of a deployment; the warm-up commands come before the generators."""
    warm = warm_ups(study.warm_up_s, settings, made) if study.warm_up_s else ()
    for host, role, argv in argvs(made):
        if role == "generator":
            yield from ((loader.host, "warm_up", loader.generator.argv) for loader in warm)
            warm = ()
        yield host, role, argv


def _head(study: Study, settings: StudyFile) -> str:
    runs = max_points(study, settings)
    seconds = settings.load.seconds
    if not seconds:
        return f"{study.study}: {runs} runs of {settings.load.requests} requests each"
    longest = settings.search.goal.final_s if settings.search else seconds
    hosts = len(settings.topology.names) if settings.topology.recipe != "loopback" else 0
    overhead = _OVERHEAD_S + _HOST_S * hosts
    total = runs * (longest + study.warm_up_s + overhead) + (runs - 1) * study.rest_s
    for point in first_points(study):
        if name := point.settings["functions"].get("balancer"):
            times = min(repeats_of(study, point.variant, dict(point.levels)), study.repeats)
            total += times * (DURATION_S[name] - longest - study.warm_up_s - overhead)
    at_most = "at most " if settings.search or settings.stop else ""
    each = f"{at_most and 'up to '}{longest:g} s"
    return f"{study.study}: {at_most}{runs} runs of {each}, {at_most}{_duration(total)} in all"


def _duration(seconds: float) -> str:
    """Return a duration in hours, minutes and seconds.

    Examples
    --------
    >>> _duration(90), _duration(7200), _duration(12.3)
    ('1 min 30 s', '2 h 0 min', '12 s')
    """
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
