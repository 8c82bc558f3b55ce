"""The JSON schema of study files says what `read_checked` says, as far as a schema can."""

import json
import re
from contextlib import suppress

import pytest
from jsonschema import Draft7Validator
from one_test import in_one_test
from study_texts import HEAD, read, said
from test_study_file_rules import RIGHT

from loadcurve.files.yaml_document import read_yaml
from loadcurve.lab.study_file import schema, settings_of
from loadcurve.lab.study_file.json_schema import keys, meaning, sections
from loadcurve.lab.tools.generators import GENERATORS

# What a schema can refuse: words, types, ranges, keys, how many of them.  Rules between keys are `read_checked`'s.
WRONG = [
    "topology: {recipe: star}", "topology: {clients: 0}", "topology: {addresses: 255}", "topology: {hosts: 2}",
    "topology: {machines: {X: {ssh: '', address: 10.0.0.1}}}", "topology: {machines: {C1: {ssh: ''}}}",
    "hosts: {local: {cpus: [-1]}}", "hosts: {local: {open_files: 15}}", "hosts: {local: {cpus: 1}}",
    "hosts: {local: {sysctls: {kernel.panic: 1}}}", "hosts: {local: {sysctls: {net.core.somaxconn: true}}}",
    "links: {S1: {mtu: 67}}", "links: {S1: {delay_s: 10.5}}", "links: {S1: {loss_ratio: -0.1}}",
    "links: {S1: {rate_bps: 7999}}", "links: {S1: {offloads: {tos: true}}}", "links: {S1: {offloads: {tso: 0}}}",
    "server: {nginx: {}, apache: {}}", "server: {}", "server: {ngix: {}}", "server: {nginx: {layout: F}}",
    "server: {nginx: {serving: {access_log: never}}}", "server: {nginx: {process: {workers: 257}}}",
    "server: {nginx: {process: {cpus: [1024]}}}", "server: {nginx: {response: {delay: {}}}}",
    "server: {nginx: {response: {text: {}, delay: {delay_ms: 1}}}}",
    "server: {nginx: {response: {text: {body_bytes: 100001}}}}",
    "server: {apache: {files: {sizes_bytes: [16777217]}}}", "server: {php: {page: {queries: 0}}}",
    "server: {nginx: {}, port: 65536}", "server: {nginx: {}, port: -1}", "server: [nginx]",
    "balancer: {nft: {}, ipvs: {}}", "balancer: {nft: {services: 10001}}", "balancer: {ipvs: {weights: [65536]}}",
    "balancer: {haproxy: {mode: udp}}", "balancer: {haproxy: {process: {threads: 65}}}",
    "load: {tool: wrkk}", "load: {connections: 0}", "load: {connections: '8'}", "load: {conections: 8}",
    "load: {connections: 1.5}", "load: {threads: 1025}", "load: {method: PUSH}", "load: {path: x}",
    "load: {rate_rps: -1}", "load: {keep_alive: yes}", "load: {headers: {A: 1}}", "load: {timeout_s: 0.5}",
    "monitors: {sar: 0.05}", "monitors: {sarr: 1}", "monitors: {proc: 3601}", "monitors: [sar]",
    "fault: {drop_syn: false}", "fault: {drop_syn: true, drop_fin: true}", "fault: {lose_packets: 0}",
    "fault: {narrow_ports: 20001}", "fault: {stop_server: true, after_s: -1}", "fault: {drop_ack: true}",
    "fault: {slow_link: 7999}", "fault: {busy_processors: 0}", "fault: {kill_generator: 0}",
    "server: {nginx: {response: {mixed: {ratio: 1}}}}",
    "objective: {quantile: 1}", "objective: {latency_s: 0}", "objective: {failed_ratio: 1}",
    "search: {}", "search: {capacity: {lowest: 1}}", "search: {capacity: {lowest: 0, highest: 2, final_s: 1}}",
    "search: {capacity: {lowest: 1, highest: 2, final_s: 1, level: 1}}",
    "stop: {quantity: speed}", "stop: {half_width_ratio: 0}", "stop: {most_repeats: 9}",
    "variants: {}", "variants: {-a: {}}", "variants: {a: b}", "factors: {connections: 3}", "factors: {../x: [1]}",
    "points: {connections: 1}", "design: star", "repeats: 0", "repeats: 1.5", "seed: x", "rest_s: -1",
    "warm_up_s: 86401", "allow_targets: a", "question: 7", "kind: of", "study: a b",
]  # fmt: skip


@pytest.fixture(scope="module")
def validator():
    return Draft7Validator(schema())


def test_it_is_a_schema_and_json(validator):
    Draft7Validator.check_schema(validator.schema)
    assert json.loads(json.dumps(validator.schema, allow_nan=False)) == validator.schema
    for part in (validator.schema, *validator.schema["definitions"].values()):
        assert not [key for key, inner in part["properties"].items() if "$ref" in inner], "it hides what is beside"


@in_one_test("text", RIGHT)
def test_what_is_read_is_valid(validator, tmp_path, text):
    (tmp_path / "study.yml").write_text(HEAD + text, "utf-8")
    assert [error.message for error in validator.iter_errors(read_yaml(tmp_path / "study.yml").values)] == []


@in_one_test("text", WRONG)
def test_what_is_refused_is_not(validator, tmp_path, text):
    lines = HEAD.splitlines()
    key = text.partition(":")[0]
    kept = "".join(f"{line}\n" for line in lines if not line.startswith(f"{key}:"))
    (tmp_path / "study.yml").write_text(kept + text, "utf-8")
    assert not validator.is_valid(read_yaml(tmp_path / "study.yml").values)
    assert said(tmp_path, text) if key not in ("study", "question") else True


def test_on_and_off_are_true_and_false_but_where_they_are_words(tmp_path):
    """YAML 1.2 reads them as words, and so people write them for both."""
    words = settings_of(
        read(tmp_path, "load: {keep_alive: off}\nserver: {nginx: {serving: {access_log: on, gzip: on}}}")
    )
    plain = settings_of(
        read(tmp_path, "load: {keep_alive: false}\nserver: {nginx: {serving: {access_log: on, gzip: true}}}")
    )
    assert words == plain
    assert (words.load.keep_alive, words.server.nginx.serving.access_log) == (False, "on")
    study = read(tmp_path, "factors: {keep_alive: [on, off]}")
    levels = [settings_of(study, {"load.keep_alive": level}).load.keep_alive for level in study.factors["keep_alive"]]
    assert levels == [True, False]


def test_every_section_and_key_says_what_it_means(validator):
    parts = {"StudyFile": validator.schema, **validator.schema["definitions"]}
    assert set(parts) == set(sections())
    for name, part in parts.items():
        assert part["description"] and part.get("additionalProperties") is False, name
        for key, inner in part["properties"].items():
            # A sentence or at least a few words: a range alone is no meaning.
            assert len(re.findall(r"[A-Za-z]{2,}", inner["description"])) >= 2, f"{name}.{key}: {inner['description']}"
            assert inner["description"][0].isupper() or inner["description"][0] == "`", f"{name}.{key}"
            assert "`Attributes`" not in inner["description"] and " : " not in inner["description"]
            assert "As of" not in inner["description"], f"{name}.{key}"


def test_keys_are_told_apart():
    """A description that two keys share says nothing of either."""
    for section in sections().values():
        meanings = [key.meaning for key in keys(section)]
        assert len(set(meanings)) == len(meanings), section
        assert meaning(section)


def test_tools_and_words_are_those_of_the_rules(validator):
    load = validator.schema["definitions"]["LoadSection"]["properties"]
    assert load["tool"]["enum"] == list(GENERATORS)
    assert set(load["method"]["enum"]) == {method for rules in GENERATORS.values() for method in rules.methods}


def bounded():
    """Every number of the schema that has an end: its section, its key, the value at the end and one beyond it."""
    whole = schema()
    for name, part in {"StudyFile": whole, **whole["definitions"]}.items():
        for key, inner in part.get("properties", {}).items():
            of_list = inner.get("type") == "array"
            for number in [inner, *inner.get("anyOf", ()), inner["items"] if of_list else {}]:
                step = 1 if number.get("type") == "integer" else 0.001
                for end, sign in (("minimum", -1), ("maximum", 1), ("exclusiveMinimum", -1), ("exclusiveMaximum", 1)):
                    if end in number:
                        inside = number[end] - (sign * step if "exclusive" in end else 0)
                        beyond = number[end] + (0 if "exclusive" in end else sign * step)
                        yield name, key, of_list, inside, beyond, end


# What a section needs besides, so that the value at each end of a range is right: one of these.
NEEDED = {
    "TopologySection": [{"recipe": "client_l4_servers"}],
    "ServerSection": [{"url": "http://127.0.0.1/"}],
    "Delay": [{"delay_ms": 1}],
    "Burn": [{"steps": 1}],
    "Mixed": [{"ratio": 0.5}],
    "FaultSection": [{}, {"lasts_s": 0.0005}],
    "Domains": [{"count": 2}],
    "LoadSection": [
        {"connections": 1024}, {"tool": "hey"}, {"tool": "wrk2", "rate_rps": 1}, {"tool": "ab", "method": "POST"}
    ],
    "Capacity": [{"lowest": 1, "highest": 9, "final_s": 9}],
    "SaturatingSize": [{"lowest": 1, "highest": 9, "final_s": 9}],
    "StudyFile": [{"study": "s", "question": "?"}],
}  # fmt: skip


@pytest.mark.slow
def test_ranges_are_those_of_the_rules():
    """Each end of a range in the schema is the end of what the section takes."""
    section = sections()

    def taken(name, key, of_list, value):
        for needed in NEEDED.get(name, [{}]):
            with suppress(ValueError):
                return section[name](**{**needed, key: (value,) if of_list else value})
        return None

    wrong, ends = [], list(bounded())
    for name, key, of_list, inside, beyond, end in ends:
        if taken(name, key, of_list, inside) is None or taken(name, key, of_list, beyond) is not None:
            wrong.append(f"{name}.{key}.{end}: {inside} or {beyond}")
    assert len(ends) > 150 and wrong == []
