"""The ledger: the one boundary through which every outside call passes."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter
from types import TracebackType

from ..errors import AccountRefused, CallFailed, HostStop, ReplayMiss, UserError
from .canon import canonical
from .data import FREE, NO_LIMIT, NOTHING, Answer, Budget, Event, Mode, Record, Request, Reserve, Totals, Usage
from .failures import CUT_SHORT, code_of, remake
from .masking import Masker
from .purse import Purse, Spent, unpriced
from .scopes import current_scope
from .store import Row, Store, Stored, fold
from .sums import spent, totals

Do = Callable[[], Awaitable[Answer]]
"""Makes the call. Raises CallFailed or HostStop."""


@dataclass
class _Flight:
    """A call under way that others wait for. ``call`` is its record, once there is one to share."""

    done: asyncio.Event = field(default_factory=asyncio.Event)
    call: int | None = None


class Ledger:
    """Records, caches, replays and pays for outside calls. Made by :meth:`open`; used from one event loop."""

    def __init__(self, store: Store, *, run: str, mode: Mode, masker: Masker, budget: Budget) -> None:
        self.run, self.mode, self.budget = run, mode, budget
        self._store, self._masker = store, masker
        self._run_id = store.run_id(run) if mode is Mode.REPLAY else store.add_run(run)
        self._purse = Purse(budget, Spent() if mode is Mode.REPLAY else spent(store, self._run_id or 0))
        self._memo: dict[str, int] = {}
        self._flights: dict[str, _Flight] = {}
        self._stopping = asyncio.Event()
        self._listeners: list[Callable[[Event], None]] = []
        self._folder: Path | None = None

    @classmethod
    def open(
        cls,
        path: Path | str | None,
        *,
        run: str,
        mode: Mode = Mode.CACHE,
        secrets: Iterable[str] = (),
        budget: Budget = NO_LIMIT,
        patience_s: float = 10.0,
    ) -> Ledger:
        """Open a ledger file, made if missing; ``path`` None: a private temporary file, gone when closed.

        ``secrets`` are masked in everything written. ``patience_s``: how long to wait for a locked file.
        UserError when the file is missing (replay), damaged, foreign, locked, or of a newer version.
        """
        folder = Path(tempfile.mkdtemp(prefix="dream-ledger-")) if path is None else None
        place = folder / "ledger.sqlite" if folder else Path(path or "")
        replay = mode is Mode.REPLAY and folder is None
        try:
            store = Store(place, read_only=replay, patience_s=patience_s)
            ledger = cls(store, run=run, mode=mode, masker=Masker(secrets), budget=budget)
        except BaseException:
            if folder:
                shutil.rmtree(folder, ignore_errors=True)
            raise
        ledger._folder = folder
        return ledger

    @property
    def path(self) -> Path:
        """The ledger's file."""
        return self._store.path

    def close(self) -> None:
        """Close the file; a private one is removed."""
        self._store.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def hide(self, *secrets: str) -> None:
        """Mask these values from now on, in text and bytes."""
        self._masker.hide(secrets)

    def require_price(self, known: bool, subject: str) -> None:
        """UserError when there is a budget in dollars and ``subject`` has no known price; call it at the start."""
        if self.budget.usd is not None and not known:
            raise UserError(unpriced(subject))

    def listen(self, fn: Callable[[Event], None]) -> None:
        """Call ``fn`` at each start, end, reuse, failure and wait, in the thread where it happens."""
        self._listeners.append(fn)

    def wait(self, what: str, seconds: float, reason: str) -> None:
        """Tell listeners that ``what`` waits for so many seconds, and why."""
        reason = self._masker.text(reason)
        self._tell(Event("wait", None, current_scope(), what, seconds=seconds, reason=reason))

    async def pause(self, what: str, seconds: float, reason: str) -> None:
        """Tell listeners and wait. Raises the cause as soon as the run is stopped."""
        self.wait(what, seconds, reason)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)
        self._purse.check()

    def stop(self, cause: HostStop) -> None:
        """End the run cleanly: no further call goes out, and whoever wants one, or waits for the budget or between
        tries, gets ``cause``. Calls in flight finish and are recorded; recorded answers are still given. Call it in
        the ledger's loop."""
        self._purse.stop(cause)
        self._stopping.set()

    @property
    def stopped(self) -> HostStop | None:
        """Why the run was stopped, or None."""
        return self._purse.stopped

    def totals(self, run: str | None = None) -> Totals:
        """Sums over the records of ``run`` (this run when None); all zero for a run that is not in the file."""
        return totals(self._store, self._store.run_id(run or self.run))

    def endpoints(self, prefix: str) -> list[str]:
        """The recorded endpoints that begin with ``prefix``."""
        return self._store.endpoints(prefix)

    def spoil(self, record_id: int, reason: str) -> None:
        """Mark an answer as unusable after all: the next run asks again. Does nothing in replay."""
        if self.mode is not Mode.REPLAY:
            self._store.spoil(record_id, self._masker.text(reason))

    def earlier(self, request: Request) -> Record | None:
        """The newest usable answer on record, in refresh mode too: for asking only whether it still holds.

        Not counted as a use. None in replay, where nothing is asked.
        """
        found = None if self.mode is Mode.REPLAY else self._store.newest_usable(request.key)
        return None if found is None else self._record_of(found)

    async def call(self, request: Request, do: Do, *, reserve: Reserve = NOTHING) -> Record:
        """Give the answer to ``request``: recorded, shared with an equal call under way, or by calling ``do``.

        CallFailed and AccountRefused as ``do`` raised them, or as recorded (replay); ReplayMiss; BudgetReached;
        UserError when a dollar budget meets an unknown price.
        """
        key = request.key
        while True:
            found = self._recorded(key)
            if found is not None:
                return self._reuse(request, found)
            if self.mode is Mode.REPLAY:
                raise ReplayMiss(_missing(request, self.path), key=key, subject=self._masker.text(request.subject))
            flight = self._flights.get(key)
            if flight is None:
                return await self._lead(request, do, reserve)
            await flight.done.wait()
            if flight.call is not None:
                return self._reuse(request, self._store.get(flight.call))

    def _recorded(self, key: str) -> Stored | None:
        if self.mode is Mode.REPLAY:
            return self._replayed(key)
        known = self._memo.get(key)
        if known is not None:
            return self._store.get(known)
        return self._store.newest_usable(key) if self.mode is Mode.CACHE else None

    def _replayed(self, key: str) -> Stored | None:
        if self._run_id is not None:
            own = self._store.used_in(self._run_id, self._masker.text(current_scope()), key)
            own = own or self._store.best_of_run(self._run_id, key)
            if own is not None:
                return own
        return self._store.best(key)

    def _reuse(self, request: Request, found: Stored) -> Record:
        if self.mode is not Mode.REPLAY and self._run_id is not None:
            self._store.use(self._run_id, found.id, self._masker.text(current_scope()))
        if found.state == "failed":
            self._event("failed", request, reason=found.reason, call=found.id)
            raise remake(found.code, found.reason, found.subject, raw=found.answer or "")
        self._memo[found.key] = found.id
        self._event("reused", request, usage=found.usage, call=found.id, foreign=found.run != self._run_id)
        return self._record_of(found)

    def _record_of(self, found: Stored) -> Record:
        blob = self._store.blob(found.blob) if found.blob is not None else None
        body = json.loads(found.answer or "null")
        usable = found.state == "usable"
        return Record(
            found.id, found.key, body, blob, found.usage, usable, found.reason, reused=True, elapsed_s=found.elapsed_s
        )

    async def _lead(self, request: Request, do: Do, reserve: Reserve) -> Record:
        self._purse.check()
        flight = self._flights[request.key] = _Flight()
        try:
            if not self._purse.limited:
                return await self._make(request, do, reserve, flight, Spent())
            await self._purse.reserve(reserve, request.subject)
            used = Spent()
            try:
                return await self._make(request, do, reserve, flight, used)
            finally:
                self._purse.settle(reserve, used.usd, used.tokens)
        finally:
            del self._flights[request.key]
            flight.done.set()

    async def _make(self, request: Request, do: Do, reserve: Reserve, flight: _Flight, used: Spent) -> Record:
        self._event("start", request)
        began = perf_counter()
        try:
            answer = await do()
        except (CallFailed, AccountRefused) as error:
            failed = self._failed(request, code_of(error), error, perf_counter() - began, FREE, reserve)
            flight.call = failed.id
            raise _as_stored(error, failed) from error
        except asyncio.CancelledError as error:
            free = reserve.usd == 0.0
            usage = Usage(cost_usd=0.0 if free else None)
            self._failed(request, CUT_SHORT, error, perf_counter() - began, usage, reserve)
            used.usd = reserve.usd or 0.0
            raise
        record = self._answered(request, answer, perf_counter() - began, reserve)
        used.usd = reserve.usd or 0.0 if answer.usage.cost_usd is None else answer.usage.cost_usd
        used.tokens = answer.usage.tokens
        flight.call = record.id
        self._event("done", request, seconds=record.elapsed_s, usage=record.usage, call=record.id)
        return record

    def _answered(self, request: Request, answer: Answer, elapsed: float, reserve: Reserve) -> Record:
        text = self._masker.text(canonical(answer.body))
        blob = self._masker.blob(answer.blob) if answer.blob is not None else None
        state, reason = "usable" if answer.usable else "unusable", self._masker.text(answer.reason)
        held = reserve.usd if answer.usage.cost_usd is None else None
        call = self._write(request, state, text, blob, reason, "", "", answer.usage, held, elapsed)
        self._memo[request.key] = call
        body = json.loads(text)
        return Record(
            call, request.key, body, blob, answer.usage, answer.usable, reason, reused=False, elapsed_s=elapsed
        )

    def _failed(
        self, request: Request, code: str, error: BaseException, elapsed: float, usage: Usage, reserve: Reserve
    ) -> Stored:
        message = self._masker.text(str(error) or "the call was cut short")
        subject = self._masker.text(getattr(error, "subject", "") or "")
        raw = self._masker.text(getattr(error, "raw", "") or "")
        held = reserve.usd if usage.cost_usd is None else None
        call = self._write(request, "failed", raw, None, message, code, subject, usage, held, elapsed)
        self._event("failed", request, seconds=elapsed, reason=message, call=call)
        return self._store.get(call)

    def _write(
        self,
        request: Request,
        state: str,
        answer: str,
        blob: bytes | None,
        reason: str,
        code: str,
        subject: str,
        usage: Usage,
        held_usd: float | None,
        elapsed_s: float,
    ) -> int:
        body, pieces = fold(dict(request.body), self._masker.text)
        endpoint = self._masker.text(request.endpoint)
        row = Row(
            *(request.key, request.kind.value, endpoint, body, request.sample, state, answer, blob, reason, code),
            *(subject, usage, held_usd, elapsed_s),
        )
        return self._store.add(self._run_id or 0, self._masker.text(current_scope()), row, pieces)

    def _event(
        self,
        phase: str,
        request: Request,
        *,
        seconds: float = 0.0,
        usage: Usage = FREE,
        reason: str = "",
        call: int = 0,
        foreign: bool = False,
    ) -> None:
        if self._listeners:
            subject, endpoint = self._masker.text(request.subject), self._masker.text(request.endpoint)
            part = (request.kind, current_scope(), subject, seconds, usage, reason, endpoint, request.key, call)
            content = partial(self._store.content, call) if call else None
            self._tell(Event(phase, *part, foreign=foreign, content=content))

    def _tell(self, event: Event) -> None:
        for listener in self._listeners:
            listener(event)


def _as_stored(error: CallFailed | AccountRefused, failed: Stored) -> BaseException:
    """The error itself, or when a secret had to be masked in its text, the same error with the stored text."""
    if str(error) == failed.reason and error.subject == failed.subject:
        return error
    return remake(failed.code, failed.reason, failed.subject, raw=failed.answer or "")


def _missing(request: Request, path: Path) -> str:
    return f"replay: {path} has no answer for this {request.kind} ({request.subject[:120]}, key {request.key[:12]}…)"
