"""Finding the server, or saying in one sentence why there is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jupyter_schedule.kernel.address import (
    check_ipykernel,
    find_address,
    read_address,
    secret_file,
)
from jupyter_schedule.kernel.errors import SessionNotLive
from tests.kernel.stub import StubServer


def test_the_secret_file_lies_beside_the_connection_file() -> None:
    connection_file = Path("/run/user/1/jupyter/kernel-1b9d-77.json")
    assert secret_file(connection_file) == Path("/run/user/1/jupyter/schedule-1b9d-77.json")


def test_an_address_is_read_and_hides_its_secret(stub: StubServer) -> None:
    address = read_address(stub.secret_file)
    assert address.secret == stub.secret
    assert stub.secret not in repr(address)


def test_without_a_server_extension_one_sentence_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(SessionNotLive, match="pip install jupyter-schedule"):
        read_address(tmp_path / "schedule-1.json")


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"protocol": 1}', '{"server_version": "1"}'])
def test_a_damaged_secret_file_is_named_as_such(tmp_path: Path, text: str) -> None:
    file = tmp_path / "schedule-1.json"
    file.write_text(text)
    with pytest.raises(SessionNotLive, match="cannot be read"):
        read_address(file)


@pytest.mark.parametrize(
    ("protocol", "side"), [(0, "server"), (2, "kernel"), (99, "kernel"), ("1", "server")]
)
def test_another_protocol_names_the_side_to_upgrade(
    stub: StubServer, protocol: object, side: str
) -> None:
    stub.write_secret_file(protocol=protocol)
    with pytest.raises(SessionNotLive, match=f"in the {side}'s environment and restart the {side}"):
        read_address(stub.secret_file)


@pytest.mark.parametrize("version", ["7.0.0", "7.4.0", "8.0.0a1", "12.1"])
def test_ipykernel_7_and_later_are_taken(version: str) -> None:
    check_ipykernel(version)


@pytest.mark.parametrize("version", ["6.31.0", "5.5.6", "6", "unknown", ""])
def test_an_older_ipykernel_is_refused_in_one_sentence(version: str) -> None:
    """Trial A04: ipykernel 6 runs requests of several clients in no order (contract 6.5)."""
    with pytest.raises(SessionNotLive, match="ipykernel>=7") as refused:
        check_ipykernel(version)
    assert refused.value.message.count(". ") == 0


def test_outside_of_a_kernel_there_is_no_address() -> None:
    with pytest.raises(SessionNotLive, match="a Jupyter server started"):
        find_address()


def test_a_tcp_address_is_read_too(tmp_path: Path) -> None:
    """On Windows there is no Unix socket (contract 7.1)."""
    file = tmp_path / "schedule-1.json"
    fields = {"protocol": 1, "server_version": "1", "secret": "s", "socket": None}
    file.write_text(json.dumps({**fields, "host": "127.0.0.1", "port": 1234}))
    address = read_address(file)
    assert (address.socket, address.host, address.port) == (None, "127.0.0.1", 1234)
