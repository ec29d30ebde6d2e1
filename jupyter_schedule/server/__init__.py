"""The server half: owners of live sessions, carriers, the kernel socket, routes."""
