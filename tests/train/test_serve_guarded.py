"""``gym-memory serve`` answers those alone who know its token, and mistakes in one line."""

from __future__ import annotations

import http.client
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from served import TOKEN, serving

pytestmark = pytest.mark.slow

openenv = pytest.importorskip("openenv")
pytest.importorskip("uvicorn")


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Yield the port of a server for the fake house."""
    cwd = tmp_path_factory.mktemp("serve")
    plugin = "from gym_memory.testing.fake_env import register_fake\nregister_fake()\n"
    (cwd / "house_plugin.py").write_text(plugin)
    words = ("-m", "gym_memory", "serve", "-e", "FakeHouse", "--import", "house_plugin")
    with serving(*words, cwd=cwd) as number:
        yield number


def ask(port: int, path: str, body: bytes = b"", **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    given = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", **headers}
    connection.request("POST" if body else "GET", path, body or None, given)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def test_host_origin_and_token_are_checked(port: int) -> None:
    assert ask(port, "/health")[0] == 200
    assert ask(port, "/health", Host=f"evil.example:{port}")[0] == 403
    assert ask(port, "/health", Origin="http://evil.example")[0] == 403
    for wrong in ("", "Bearer ", "Bearer wrong", TOKEN[:-1]):
        status, text = ask(port, "/health", Authorization=wrong)
        assert (status, text) == (403, "Refused: expected the token that gym-memory printed.\n")


def client(port: int, **headers: Any) -> Any:
    return openenv.GenericEnvClient(base_url=f"http://127.0.0.1:{port}", headers=headers).sync()


def test_a_client_plays_with_the_token_alone(port: int) -> None:
    with client(port, Authorization=f"Bearer {TOKEN}") as game:
        assert game.reset(seed=0).observation["text"]
    for headers in ({}, {"Authorization": "Bearer wrong"}):
        with pytest.raises(ConnectionError), client(port, **headers):
            pass


def test_mistakes_are_one_line(port: int) -> None:
    status, text = ask(port, "/FakeHouse/num_tasks", b'{"split": "nowhere"}')
    assert status == 422
    assert text.startswith("unknown split 'nowhere': expected one of")
    assert len(text.splitlines()) == 1
    assert ask(port, "/FakeHouse/num_tasks", b'{"split": "train"}')[0] == 200


def test_long_bodies_are_refused(port: int) -> None:
    body = b'{"split": "' + b"x" * (1 << 20) + b'"}'
    assert ask(port, "/FakeHouse/num_tasks", body) == (
        413,
        "Refused: expected a body of at most 1048576 bytes.\n",
    )


def test_openenvs_own_check_passes_with_the_token_alone(port: int) -> None:
    openenv = Path(sys.executable).with_name("openenv")
    for password, status in ((TOKEN, 0), ("wrong", 1)):
        url = f"http://:{password}@127.0.0.1:{port}"
        words = [str(openenv), "validate", "--url", url, "--timeout", "60"]
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == status, done.stdout
