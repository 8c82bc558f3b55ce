"""The version in a record is that of the very program that ran, asked on its host."""

import os
from pathlib import Path

import pytest

from loadcurve.lab import programs, tools
from loadcurve.lab.hosts import LOCAL
from loadcurve.lab.places import LocalPlace
from loadcurve.lab.versions import version_at


@pytest.fixture
def old_nginx(tmp_path) -> Path:
    """A program that says what nginx 1.18 says of itself, on the stream on which it says so."""
    program = tmp_path / "nginx-old"
    program.write_text("#!/bin/sh\necho 'nginx version: nginx/1.18.0' >&2\n")
    program.chmod(0o755)
    return program


def test_a_program_by_path_is_asked_itself(tmp_path, old_nginx):
    place = LocalPlace(LOCAL, tmp_path)
    assert version_at(place, "nginx", str(old_nginx)) == "1.18.0"
    assert version_at(place, "nginx", "nginx") == tools.version("nginx")


def test_what_an_old_nginx_does_not_know_is_not_asked_of_it(old_nginx):
    """``-e`` came with 1.19.5 (nginx CHANGES)."""
    assert programs.here().nginx_takes_early_errors(str(old_nginx)) is False


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012 Will Glozer", "4.1.0"),
        ("HAProxy version 2.6.12-1+deb12u2 2025/04/18 - https://haproxy.org/", "2.6.12"),
        ("This is ApacheBench, Version 2.3 <$Revision: 1923142 $>", "2.3"),
        ("ss utility, iproute2-6.1.0", "6.1.0"),
        ("no number here", ""),
    ],
)
def test_the_first_number_with_a_dot(words, said):
    assert tools.version_in(words) == said


def test_a_program_that_is_not_there_has_none(tmp_path):
    assert version_at(LocalPlace(LOCAL, tmp_path), "nginx", os.fspath(tmp_path / "none")) == ""
