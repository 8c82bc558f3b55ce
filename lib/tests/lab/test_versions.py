"""The version in a record is that of the very program that ran, asked on its host."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from launched_runs import launched

from loadcurve.errors import LabError
from loadcurve.lab.hosts import capabilities, tools
from loadcurve.lab.hosts.executor import LocalExecutor
from loadcurve.lab.hosts.host import LOCAL
from loadcurve.lab.known_tools import tool_named
from loadcurve.lab.run.session import version_at


@pytest.fixture
def old_nginx(tmp_path) -> Path:
    """A program that says what nginx 1.18 says of itself, on the stream on which it says so."""
    program = tmp_path / "nginx-old"
    program.write_text("#!/bin/sh\necho 'nginx version: nginx/1.18.0' >&2\n")
    program.chmod(0o755)
    return program


def test_a_program_by_path_is_asked_itself(tmp_path, old_nginx):
    executor = LocalExecutor(LOCAL, tmp_path)
    assert version_at(executor, tool_named("nginx"), str(old_nginx)) == "1.18.0"
    assert version_at(executor, tool_named("nginx"), "nginx") == tools.version(tool_named("nginx"))


@pytest.fixture
def by_name(tmp_path, monkeypatch):
    """Two programs of other names on the path of all tools."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, said in {"openresty": "nginx version: openresty/1.21.4.1", "my-httpd": "Apache/2.2.34"}.items():
        (folder / name).write_text(f"#!/bin/sh\necho '{said}' >&2\n")
        (folder / name).chmod(0o755)
    monkeypatch.setattr(tools, "SEARCH_PATH", f"{folder}:{tools.SEARCH_PATH}")
    return folder


def test_a_program_by_name_is_asked_itself(tmp_path, by_name):
    executor = LocalExecutor(LOCAL, tmp_path)
    assert version_at(executor, tool_named("nginx"), "openresty") == "1.21.4.1"
    assert version_at(executor, tool_named("nginx"), "no-such-openresty") == "", "not that of the usual one"
    assert version_at(executor, tool_named("php-fpm"), "php-fpm") == tools.version(tool_named("php-fpm")), (
        "Debian has its version in the name"
    )


@pytest.mark.lab
def test_a_program_that_is_started_by_another_one_is_asked_itself(tmp_path):
    """Root's apache is, by unshare."""
    program = tmp_path / "my-httpd"
    program.write_text('#!/bin/sh\ntest "$1" = -v && echo Apache/2.2.34 && exit\nexec /usr/sbin/apache2 "$@"\n')
    program.chmod(0o755)
    made = launched(tmp_path / "s", server={"apache": {"program": str(program)}})
    assert [command.version for command in made.commands("server")] == ["2.2.34"]


def test_what_an_old_nginx_does_not_know_is_not_asked_of_it(old_nginx):
    """``-e`` came with 1.19.5 (nginx CHANGES)."""
    assert capabilities.here().nginx_takes_early_errors(str(old_nginx)) is False


def test_a_machine_by_ssh_is_asked_what_this_one_is(tmp_path, old_nginx):
    """Asked in both ways, a machine says the same of itself, be it that something is lacking."""

    def said(ask, *words):
        try:
            return ask(*words)
        except LabError as error:
            return str(error).removeprefix("S1: ")

    here, there = capabilities.here(), capabilities.there(LocalExecutor(replace(LOCAL, name="S1"), tmp_path))
    for module in (here.ECHO, here.STREAM):
        assert said(there.module, module) == said(here.module, module)
    assert said(there.php) == said(here.php)
    assert there.is_root == here.is_root
    for nginx in ("nginx", str(old_nginx)):
        assert there.nginx_takes_early_errors(nginx) == here.nginx_takes_early_errors(nginx)
    assert there.nginx_takes_early_errors(str(old_nginx)) is False


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
    assert version_at(LocalExecutor(LOCAL, tmp_path), tool_named("nginx"), os.fspath(tmp_path / "none")) == ""
