"""The server of fairseq-mcts-explore: a page, and translations for it. FastAPI does the rest."""

import threading
from typing import Any

from fairseq_mcts.cli.explore_translator import Translator
from fairseq_mcts.report.page_file import explore_page

LONGEST_TEXT = 2000  # characters
_OWN_NAMES = ("127.0.0.1", "localhost", "[::1]")
_MISSING = "needs FastAPI and uvicorn: pip install 'fairseq_mcts[explore]'"


def make_app(translator: Translator, host: str) -> Any:
    """The application that serves `host`."""
    try:
        from fastapi import FastAPI, Request
        from fastapi.exceptions import RequestValidationError
        from fastapi.responses import HTMLResponse, JSONResponse
        from pydantic import BaseModel, Field
        from starlette.middleware.trustedhost import TrustedHostMiddleware
    except ImportError as error:
        raise ImportError(f"fairseq-mcts-explore {_MISSING} ({error})") from error

    class Wish(BaseModel):
        text: str = Field(max_length=LONGEST_TEXT)
        search: str
        options: dict[str, str] = {}

    # no pages of its own: they would load scripts from elsewhere
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    # a page of another site that has this address under a name of its own is not answered
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=[*_OWN_NAMES, host])
    page = explore_page()
    one_at_a_time = threading.Lock()

    @app.get("/", response_class=HTMLResponse)
    def show_page() -> str:
        return page

    @app.get("/api/decoders")
    def decoders() -> list[dict[str, Any]]:
        return translator.offered

    @app.post("/api/translate")
    def translate(wish: Wish) -> Any:
        try:
            with one_at_a_time:
                return translator.translate(wish.text, wish.search, wish.options)
        except (ValueError, ImportError, OSError) as error:
            return JSONResponse({"error": str(error)}, status_code=400)

    @app.exception_handler(RequestValidationError)
    def explain(_: Request, error: RequestValidationError) -> Any:
        faults = "; ".join(f"{one['loc'][-1]}: {one['msg']}" for one in error.errors())
        return JSONResponse({"error": faults}, status_code=400)

    return app


def make_server(app: Any) -> Any:
    """A uvicorn server, which is given its sockets when it runs."""
    import uvicorn

    return uvicorn.Server(uvicorn.Config(app, log_level="warning"))
