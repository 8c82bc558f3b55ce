"""Whatever stands in a study file, it is a study or a LoadcurveError: no traceback, no process, a bounded time."""

import os
import re
import socket
import subprocess
from dataclasses import fields

import pytest
from examples import examples
from hypothesis import example, given
from hypothesis import strategies as st
from study_texts import HEAD, read, written

from loadcurve.errors import LoadcurveError
from loadcurve.files.yaml_document import yaml_text
from loadcurve.lab.study_file import StudyFile, read_checked
from loadcurve.study import is_place, settled

pytestmark = pytest.mark.slow

# A place for each kind of value, of every section; `settled` puts garbage there, or in place of what is around it.
PLACES = re.findall(
    r"\S+",
    "load.tool load.connections load.threads load.duration_s load.requests load.rate_rps load.keep_alive load.headers "
    "load.method load.body_bytes load.timeout_s load.processes load.path load.headers.Accept "
    "topology.recipe topology.clients topology.servers topology.addresses topology.machines topology.machines.C1.ssh "
    "topology.machines.C1.address hosts.local hosts.S1.cpus hosts.local.open_files hosts.local.cpu_quota "
    "hosts.S1.congestion_control hosts.S1.sysctls hosts.S links.S1 links.S1.mtu links.S1.rate_bps links.S1.delay_s "
    "links.S1.offloads links.LB links.lan.loss_ratio "
    "server.nginx server.nginx.response server.nginx.response.files.sizes_bytes server.nginx.response.delay.delay_ms "
    "server.nginx.response.status server.nginx.process.modules server.nginx.process.cpus server.nginx.process.workers "
    "server.nginx.layout server.nginx.serving.access_log server.apache server.apache.files server.caddy.program "
    "server.haproxy.response server.php.page.wait_ms server.wordpress.children server.url server.port "
    "balancer.nginx_l7.domains.pools balancer.nginx_stream.scheduler balancer.haproxy.mode balancer.nft.services "
    "balancer.ipvs.weights balancer.ipvs.forward monitors.sar monitors.proc monitors.counters "
    "fault.narrow_ports fault.drop_syn fault.lose_packets fault.delay_packets fault.host fault.after_s",
)
TOP = [one.name for one in fields(StudyFile)]
BASES = (
    {},
    {"topology": {"recipe": "client_server"}},
    {"topology": {"recipe": "client_l4_servers"}, "balancer": {"nft": {}}},
    {"topology": {"recipe": "client_proxy_servers"}, "balancer": {"haproxy": {}}, "server": {"apache": {}}},
    {"objective": {"latency_s": 1}, "search": {"capacity": {"lowest": 1, "highest": 8, "final_s": 1}}},
)
words = st.sampled_from(["", "-x", "wrk", "S1", "C1", "rr", "a;b", "..", "/", "\0", "\n", "$(id)", "1e400", "on", "💥"])
numbers = st.one_of(
    st.integers(-2, 3),
    st.sampled_from([10**9, 2**31, 2**63, 2**64, 10**40, -(10**40)]),
    st.floats(),
    st.sampled_from([0.5, 1.5, 1e-320, 1e308]),
)
scalars = st.one_of(st.none(), st.booleans(), numbers, words, st.text(max_size=5), st.dates(), st.binary(max_size=3))
keys = st.one_of(words, st.sampled_from([place.rpartition(".")[2] for place in PLACES]), st.integers(), st.none())
garbage = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4), max_leaves=8
)


@pytest.fixture(scope="module", autouse=True)
def nothing_starts():
    """No process, no connection, no program may be looked for by running it."""

    def started(*args, **kwargs):
        raise AssertionError(f"reading a study started {args}")

    with pytest.MonkeyPatch.context() as patch:
        for owner, name in ((subprocess, "Popen"), (os, "system"), (os, "fork"), (os, "posix_spawn"), (os, "execvp")):
            patch.setattr(owner, name, started)
        patch.setattr(socket.socket, "connect", started)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("garbage")


def outcome(folder, text):
    try:
        read_checked(written(folder, text))
    except LoadcurveError as error:
        for line in str(error).splitlines():
            assert line.startswith(f"{folder}/s/study.yml:"), line
        assert "Traceback" not in str(error)
        return str(error)
    return ""


@examples(150)
@given(base=st.sampled_from(BASES), changes=st.dictionaries(st.sampled_from(PLACES), garbage, max_size=3))
@example(base=BASES[0], changes={"load.connections": float("inf")})
@example(base=BASES[0], changes={"load.timeout_s": float("nan")})
@example(base=BASES[0], changes={"load.headers": {"a\nb": 1}})
@example(base=BASES[1], changes={"links.S1": {"\n": 1}, "hosts.S1": {"sysctls": {"\x1b[2J": "1"}}})
@example(base=BASES[4], changes={"load.threads": 0})
def test_garbage_in_a_section_is_told(folder, base, changes):
    values = {"study": "s", "question": "?"} | settled(base, changes)
    outcome(folder, yaml_text(values))


@examples(100)
@given(base=st.sampled_from(BASES), key=st.sampled_from(TOP), value=garbage)
def test_garbage_in_place_of_a_section_is_told(folder, base, key, value):
    outcome(folder, yaml_text({"study": "s", "question": "?", **base, key: value}))


@examples(100)
@given(
    base=st.sampled_from(BASES),
    variants=st.dictionaries(
        st.sampled_from(["a", "b"]), st.dictionaries(st.sampled_from(PLACES), garbage, max_size=2)
    ),
    factors=st.dictionaries(st.sampled_from(PLACES), st.lists(garbage, max_size=3), max_size=2),
    design=st.sampled_from(["grid", "one_at_a_time"]),
)
def test_garbage_in_variants_and_levels_is_told(folder, base, variants, factors, design):
    values = {"study": "s", "question": "?", "design": design, **base, "variants": variants, "factors": factors}
    outcome(folder, yaml_text(values))


@examples(50)
@given(points=st.lists(st.dictionaries(st.sampled_from(PLACES), garbage, max_size=2), max_size=3))
def test_garbage_in_listed_points_is_told(folder, points):
    outcome(folder, yaml_text({"study": "s", "question": "?", "points": points}))


@given(text=st.text(max_size=60))
def test_any_text_is_told(folder, text):
    outcome(folder, HEAD + text.replace("\ud800", ""))


@given(content=st.binary(max_size=40))
def test_any_bytes_are_told(folder, content):
    (folder / "s").mkdir(exist_ok=True)
    (folder / "s" / "study.yml").write_bytes(HEAD.encode() + content)
    try:
        read_checked(folder / "s")
    except LoadcurveError as error:
        assert "study.yml:" in str(error)


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        # Nine to the eleventh values in 700 bytes ("billion laughs").
        (
            "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
            + "".join(f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12)),
            3,
            "at most 200000 values",
        ),
        ("load: &a {x: [*a]}", 3, "values nested at most 20 deep|one of the keys"),
        ("load: " + "[" * 21 + "]" * 21, 3, "values nested at most 20 deep"),
        ("load: " + "{a: " * 500, 3, "values nested at most 20 deep"),
        ("load: {1: 2}", 3, "a key that is a word, got '1'"),
        ("~: 1", 3, "a key that is a word, got '~'"),
        ("? [a, b]\n: 1", 3, "a key that is a word"),
        ("load: {headers: {1: a, '1': b}}", 3, "a key that is a word"),
        ('load: {path: "\\ud800"}', 3, "text of whole characters"),
        ("seed: " + "9" * 5000, 3, "a number of at most 300 digits"),
        ("seed: 0x_", 3, "a number of at most 300 digits, got '0x_'"),
        # Three lines that would be 30 GB of text, and a file of 200 KB that would be 18 million keys.
        ("a: &a " + "x" * 500_000 + "\nb: [" + ", ".join(["*a"] * 60_000) + "]", 3, "at most 1048576 characters"),
        (
            "m0: &m0 {k0: 0}\n" + "".join(f"m{i}: &m{i} {{<<: *m{i - 1}, k{i}: 0}}\n" for i in range(1, 6000)),
            605,
            "at most 200000 values",
        ),
        ("load: &a {<<: *a}", 0, "values nested at most 20 deep"),
        ("load: {<<: [1]}", 3, "a mapping to merge, got '1'"),
        ("load: !!python/object/apply:os.system [id]", 3, "a value without a YAML tag"),
        ("---\nstudy: t", 3, "YAML, got 'but found another document'"),
        ("a: " + "x" * (1 << 20), 0, "at most 1048576 bytes"),
        ("load: {path: *nowhere}", 3, "YAML"),
        ("factors: {connections: [" + ", ".join(map(str, range(1, 10_002))) + "]}", 3, "at most 10000 points"),
        (
            "factors: {" + ", ".join(f"p{i}: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]" for i in range(30)) + "}",
            3,
            "at most 10000 points in all",
        ),
        ("repeats: 1000000000000", 3, "repeats to be a whole number of 1 to 10000"),
    ],
)
def test_files_that_would_take_for_ever_are_a_line(tmp_path, text, line, says):
    with pytest.raises(LoadcurveError, match=says) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path}/s/study.yml:{line or ''}")
    assert "\n" not in str(caught.value)


def test_a_study_file_is_a_file(tmp_path):
    file = written(tmp_path, HEAD) / "study.yml"
    links = (lambda: file.symlink_to(file), lambda: file.symlink_to("/dev/zero"))
    for make in (file.mkdir, *links, lambda: os.mkfifo(file)):
        file.rmdir() if file.is_dir() else file.unlink()
        make()
        with pytest.raises(LoadcurveError, match=r"study.yml: expected a (study.yml|file of this folder .*), got "):
            read_checked(file)
        with pytest.raises(LoadcurveError, match="expected a study.yml|expected a "):
            read_checked(file.parent)


def test_a_link_to_a_study_file_is_read_within_its_folder(tmp_path):
    folder = written(tmp_path, HEAD)
    kept = (folder / "study.yml").rename(folder / "kept.yml")
    (folder / "study.yml").symlink_to(kept)
    assert read_checked(folder).study == "s"
    kept.rename(tmp_path / "elsewhere.yml")
    kept.symlink_to(tmp_path / "elsewhere.yml")
    with pytest.raises(LoadcurveError, match="study.yml: expected a file of this folder .*, got 'a link that leads"):
        read_checked(folder)


def test_every_place_is_one():
    assert all(is_place(place) for place in PLACES)
