import pytest

from loadcurve.errors import LabError
from loadcurve.lab import nginx


def config(recipe, **changes):
    settings = {"port": 8080, "body_bytes": 616, "connections": 512, "echo_module": "/m.so"} | changes
    return nginx.configuration(recipe, **settings)


def test_the_private_nginx_keeps_to_itself():
    text = config("cpu")
    assert "listen 127.0.0.1:8080 " in text
    assert "daemon off" in text
    assert "/etc" not in text and "/var" not in text
    assert "load_module" not in text, "a variant that does not wait needs no module"
    assert f'"{"x" * 616}"' in text


def test_a_delay_waits_on_a_timer():
    assert "echo_sleep 0.010;" in config("delay 10ms")
    assert "load_module /m.so;" in config("delay 10ms")


@pytest.mark.parametrize("recipe", ["", "delay", "delay 10", "delay 1s", "cpu; root /"])
def test_an_unknown_recipe_is_refused(recipe):
    with pytest.raises(LabError, match="recipe must be 'cpu', 'delay Nms' or an http:// URL"):
        config(recipe)


@pytest.mark.parametrize("size", [0, -1, 3001])
def test_a_body_that_does_not_fit_is_refused(size):
    with pytest.raises(LabError, match=f"response_bytes must be 1 to 3000, got {size}"):
        config("cpu", body_bytes=size)
