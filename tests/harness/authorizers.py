"""Authorizers for servers whose users may not do everything."""

from __future__ import annotations

from typing import Any

from jupyter_server.auth.authorizer import Authorizer


class DenyOurs(Authorizer):
    """A user who is known and may use Jupyter, but nothing of ours."""

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        """Refuse our routes."""
        return not type(handler).__module__.startswith("jupyter_schedule.")


class ReadOnly(Authorizer):
    """A user who may look and change nothing."""

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        """Allow reading."""
        return action == "read"
