"""A real S3 server on the loopback interface for tests: moto's, as a process, with a bucket for each test."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

_NAMES = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_ENDPOINT_URL_S3")


@pytest.fixture(scope="module")
def s3_server(tmp_path_factory) -> Iterator[str]:
    """URL of the server, which logs to a file: with a pipe that nobody reads it would stop after some hundred lines."""
    log = tmp_path_factory.mktemp("s3") / "log"
    argv = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]
    with log.open("w") as out, subprocess.Popen(argv, stdout=out, stderr=out) as server:
        while not (found := re.search(r"Running on (\S+)\n", log.read_text())):
            assert server.poll() is None, log.read_text()
            time.sleep(0.05)
        yield found[1]
        server.kill()


@pytest.fixture
def s3_settings(s3_server, monkeypatch, tmp_path) -> Iterator[None]:
    """Settings with which this process and its children find the server; nothing of the user's is read."""
    import s3fs

    for name in _NAMES:
        monkeypatch.delenv(name, raising=False)
    for name, value in {
        "AWS_ENDPOINT_URL": s3_server, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1", "AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true", "AWS_MAX_ATTEMPTS": "1", "NO_PROXY": "127.0.0.1",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()
    yield
    s3fs.S3FileSystem.clear_instance_cache()


@pytest.fixture
def bucket(s3_settings, tmp_path) -> str:
    """URL of an empty bucket."""
    import s3fs

    name = f"bucket-{os.getpid()}-{abs(hash(tmp_path))}"
    s3fs.S3FileSystem().mkdir(name)
    return f"s3://{name}"
