"""Fixtures of the kernel's half."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from jupyter_schedule.kernel.address import read_address
from jupyter_schedule.kernel.attachment import Attachment
from jupyter_schedule.kernel.bridge import Bridge
from tests.kernel.real_kernel import StubbedKernel
from tests.kernel.stub import StubServer


@pytest.fixture
def stub() -> Iterator[StubServer]:
    """A stub server of this test's own."""
    with StubServer() as server:
        yield server


@pytest.fixture
def bridge(stub: StubServer) -> Bridge:
    """A bridge to the stub, as the kernel of its secret file has it."""
    return Bridge(lambda: read_address(stub.secret_file), answer_seconds=2.0)


@pytest.fixture
def attachment(bridge: Bridge) -> Attachment:
    """An attachment that is attached."""
    made = Attachment(bridge)
    made.attach()
    return made


@pytest.fixture
def kernel(stub: StubServer) -> Iterator[StubbedKernel]:
    """A fresh kernel without our extension."""
    running = StubbedKernel(stub)
    yield running
    running.close()


@pytest.fixture
def attached(kernel: StubbedKernel) -> StubbedKernel:
    """A fresh kernel with our extension loaded."""
    kernel.execute("%load_ext jupyter_schedule")
    return kernel


@pytest.fixture(scope="module")
def shared_attached() -> Iterator[StubbedKernel]:
    """One attached kernel with its own stub, for the cases of a table."""
    with StubServer() as server:
        running = StubbedKernel(server)
        running.execute("%load_ext jupyter_schedule")
        yield running
        running.close()
