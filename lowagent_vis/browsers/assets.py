"""A local server of what pages load, so that a browser fetches nothing from anywhere else."""

import threading
from types import TracebackType
from typing import Self

from waitress.server import create_server

from lowagent_sites.common.assets_app import create_assets_app

_THREADS = 6


class AssetServer:
    """Serves style sheets, fonts and photos on a free port of 127.0.0.1."""

    def __init__(self) -> None:
        self._server = create_server(
            create_assets_app(), host="127.0.0.1", port=0, threads=_THREADS, ident=None
        )
        self._thread = threading.Thread(target=self._server.run, daemon=True)

    @classmethod
    def start(cls) -> Self:
        """Start a server in a thread of its own."""
        server = cls()
        server._thread.start()
        return server

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        return f"http://127.0.0.1:{self._server.effective_port}"

    def __enter__(self) -> Self:
        """Use the server in a `with` block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the server."""
        self.close()

    def close(self) -> None:
        """Stop the server and its threads."""
        self._server.task_dispatcher.shutdown()
        self._server.close()
