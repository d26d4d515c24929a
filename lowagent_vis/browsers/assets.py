"""A local server of what pages load, so that a browser fetches nothing from anywhere else."""

import logging
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from waitress import create_server, wasyncore  # type: ignore[import-untyped]

from lowagent_sites.common.assets_app import create_assets_app

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

_THREADS = 6
# Six requests of one page wait for each other by design; that is nothing to warn of.
logging.getLogger("waitress.queue").setLevel(logging.ERROR)
_STOP_DEADLINE_S = 5.0


class AssetServer:
    """Serves style sheets, fonts and photos on a free port of 127.0.0.1.

    Args:
        app: What it serves; by default the assets of all sites.
    """

    def __init__(self, app: "WSGIApplication | None" = None) -> None:
        self._sockets: dict[int, Any] = {}
        self._server = create_server(
            app or create_assets_app(),
            host="127.0.0.1",
            port=0,
            threads=_THREADS,
            ident=None,
            map=self._sockets,
        )
        self._thread = threading.Thread(target=self._server.run, name="assets", daemon=True)

    @classmethod
    def start(cls, app: "WSGIApplication | None" = None) -> Self:
        """Start a server in a thread of its own."""
        server = cls(app)
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
        """Stop the server and its threads; a second call does nothing."""
        if not self._thread.is_alive():
            return
        # Sockets are closed by the thread that polls them; from here it would poll closed ones.
        self._server.trigger.pull_trigger(
            lambda: wasyncore.close_all(self._sockets, ignore_all=True)
        )
        self._thread.join(timeout=_STOP_DEADLINE_S)
        self._server.task_dispatcher.shutdown()
