"""The way from a kernel to its session: a socket of our own and a secret for each kernel (7.1)."""

from jupyter_schedule.server.bridge.kernel_socket import KernelSocket

__all__ = ["KernelSocket"]
