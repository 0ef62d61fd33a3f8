"""Every compiled piece of the program: what is in it, from which lines, how large, how often it ran, on which shapes.

SOT finishes a piece first and then decides whether to keep it. A piece with no statement is nothing and is not
recorded (ids have gaps). Parameters are no inputs of a piece.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from time import perf_counter_ns
from types import CodeType
from typing import Any

from sotprobe.model import SourceSite
from sotprobe.paddle_compat.hooks.access import module, simulated_stack, tensor_class
from sotprobe.paddle_compat.hooks.breaks import Breaks
from sotprobe.paddle_compat.hooks.flow import Flow
from sotprobe.paddle_compat.hooks.frames import Frames
from sotprobe.paddle_compat.hooks.session import Session
from sotprobe.paddle_compat.hooks.watch import Watch

_SITE = "_sotprobe_site"
_TEXT_LIMIT = 200


def _dtype(value: object) -> str:
    return str(value).removeprefix("paddle.")


def _ir_shape(meta: Any) -> list[int]:
    """The shape SOT compiled for; a symbolic dimension is -1."""
    return [int(size) if type(size) is int else -1 for size in meta.shape]


def _border(symbols: Iterable[Any], metas: Mapping[str, Any]) -> list[dict[str, object]]:
    described = []
    for symbol in symbols:
        meta = metas.get(symbol.name)
        meta = getattr(meta, "meta", meta)  # wrapped in MetaInfoOrNull since Paddle 3.2
        described.append(
            {
                "name": symbol.name,
                "ir_shape": None if meta is None else _ir_shape(meta),
                "dtype": None if meta is None else _dtype(meta.dtype),
            }
        )
    return described


def _tensors(values: Iterable[Any]) -> list[list[object]]:
    return [[list(value.shape), _dtype(value.dtype), bool(value.stop_gradient)] for value in values]


class Piece:
    """A subgraph as far as it is known; times are nanoseconds."""

    __slots__ = (
        "build_ns",
        "code",
        "count",
        "dropped",
        "dynamic",
        "emitted",
        "first_run_ns",
        "forward_ns",
        "ops",
        "output_metas",
        "shapes",
        "taken",
        "translation",
        "wrapper",
    )

    def __init__(self, wrapper: Any, code: CodeType | None, translation: int):
        self.wrapper = wrapper
        self.code = code
        self.translation = translation
        self.ops: int | None = None
        self.output_metas: dict[str, Any] = {}
        self.build_ns: int | None = None
        self.first_run_ns: int | None = None
        self.dropped: str | None = None
        self.emitted = False
        self.dynamic = False
        self.shapes: set[object] = set()
        self.taken: frozenset[str] = frozenset()  # by the statement that breaks the graph behind it
        self.count = 0
        self.forward_ns = 0


class Subgraphs:
    """Emits ``subgraph``, ``subgraph-shapes`` and, at the end of a step, ``subgraph-runs`` and ``subgraph-flow`` records."""

    def __init__(self, session: Session, watch: Watch, frames: Frames, breaks: Breaks):
        self._session = session
        self._watch = watch
        self._frames = frames
        self._breaks = breaks
        self._flow: Flow | None = None
        self._translations = 0  # up to the last step
        self._pieces: dict[str, Piece] = {}
        self._pending: list[Piece] = []
        frames.when_given_up(self._discard)

    def install(self) -> None:
        cache, executor = module("compile_cache"), module("opcode_executor")
        self._watch.replace(module("statement_ir").StatementIR, "add_statement", self._add_statement)
        self._watch.replace(cache.CompileSIRCache, "value_fn", self._built)
        self._watch.replace(cache.FallbackWrapper, "graph_size", self._graph_size)
        self._watch.replace(cache.FallbackWrapper, "__call__", self._run)
        self._watch.replace(executor, "need_fallback", self._kept_or_dropped)
        self._flow = Flow(self._session, tensor_class())

    def called(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """The program calls something that is to_static, from outside of any other."""
        if self._flow is not None:
            self._watch.observe(self._flow.called, args, kwargs)

    def end_step(self, index: int) -> None:
        """Emit the runs since the last step, and the pieces that were kept but did not run."""
        for piece in self._pending:
            if not piece.emitted:
                self._emit(piece)
        self._pending.clear()
        ran = [(name, piece) for name, piece in self._pieces.items() if piece.count]
        if ran:
            runs = [{"name": name, "count": piece.count, "forward_ns": piece.forward_ns} for name, piece in ran]
            self._session.emit("subgraph-runs", step=index, runs=runs)
        for _, piece in ran:
            piece.count = piece.forward_ns = 0
        translations, self._translations = self._translations, self._frames.translations
        if self._flow is not None:
            self._flow.end_step(index, [name for name, _ in ran], translated=translations != self._translations)

    def _add_statement(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def add_statement(piece: Any, statement: Any) -> Any:
            self._watch.observe(self._locate, statement)
            return original(piece, statement)

        return add_statement

    def _locate(self, statement: Any) -> None:
        for frame in reversed(simulated_stack()):
            if self._session.is_user(frame.site.path):
                setattr(statement, _SITE, frame.site)
                return

    def _built(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def value_fn(cache: Any, *args: Any, **kwargs: Any) -> Any:
            wrapper = original(cache, *args, **kwargs)
            self._watch.observe(self._register, wrapper)
            return wrapper

        return value_fn

    def _register(self, wrapper: Any) -> Piece:
        piece = self._pieces[wrapper.SIR.name] = Piece(wrapper, self._frames.translating, self._frames.translations)
        piece.taken = self._breaks.taken
        self._pending.append(piece)
        return piece

    def _graph_size(self, original: Callable[..., int]) -> Callable[..., int]:
        def graph_size(wrapper: Any) -> int:
            started = perf_counter_ns()
            ops = original(wrapper)
            piece = self._pieces.get(wrapper.SIR.name)
            if piece is not None and piece.ops is None:
                piece.ops = ops
                piece.build_ns = perf_counter_ns() - started
            return ops

        return graph_size

    def _kept_or_dropped(self, original: Callable[..., bool]) -> Callable[..., bool]:
        def need_fallback(result: Any) -> bool:
            dropped = original(result)
            self._watch.observe(self._finished, result[1], dropped)
            return dropped

        return need_fallback

    def _finished(self, described: tuple[Any, ...], dropped: bool) -> None:
        # (statement_ir, inputs, outputs); parameters are third of four since Paddle 3.2
        sir, outputs = described[0], described[-1]
        piece = self._pieces.get(sir.name)
        if piece is None:
            return  # no statement: nothing was built
        piece.output_metas = {output.get_symbol().name: output.meta for output in outputs}
        if not dropped:
            return
        smallest = module("opcode_executor").ENV_MIN_GRAPH_SIZE.get()
        piece.dropped = "too-small" if piece.ops is not None and piece.ops < smallest else "forced"
        self._emit(piece)

    def _discard(self) -> None:
        """The translation under way came to nothing, and with it the pieces it had finished."""
        self._pending = [piece for piece in self._pending if piece.translation != self._frames.translations]

    def _run(self, original: Callable[..., Any]) -> Callable[..., Any]:
        pieces = self._pieces

        def run(wrapper: Any, *args: Any, **kwargs: Any) -> Any:
            piece = pieces.get(wrapper.SIR.name)
            if piece is None or piece.wrapper is not wrapper:
                piece = self._register(wrapper)
            flow = self._flow
            recording = flow is not None and flow.recording and args
            if recording:
                self._watch.observe(flow.before, wrapper.SIR.name, args[0])
            started = perf_counter_ns()
            try:
                outputs = original(wrapper, *args, **kwargs)
            finally:
                wall = perf_counter_ns() - started
                piece.count += 1
                piece.forward_ns += wall
                if piece.first_run_ns is None:
                    piece.first_run_ns = wall
                    self._watch.observe(self._emit, piece)
            if recording:
                self._watch.observe(flow.after, wrapper.SIR.name, outputs)
            if piece.dynamic or not piece.shapes:
                self._watch.observe(self._shapes, piece, args, outputs)
            return outputs

        return run

    def _shapes(self, piece: Piece, args: tuple[Any, ...], outputs: Iterable[Any]) -> None:
        inputs = args[0] if args else ()
        key = tuple(tuple(value.shape) for value in inputs)
        if key in piece.shapes:
            return
        piece.shapes.add(key)
        self._session.event(
            "subgraph-shapes",
            name=piece.wrapper.SIR.name,
            inputs=_tensors(inputs),
            outputs=_tensors(outputs),
        )

    def _emit(self, piece: Piece) -> None:
        if piece.emitted:
            return
        piece.emitted = True
        sir = piece.wrapper.SIR
        inputs = _border(sir.inputs, {symbol.name: meta for symbol, meta in sir.symbol_meta_map.items()})
        piece.dynamic = any(-1 in (border["ir_shape"] or ()) for border in inputs)
        times = [time for time in (piece.build_ns, piece.first_run_ns) if time is not None]
        self._session.event(
            "subgraph",
            name=sir.name,
            code=None if piece.code is None else self._session.code_id(piece.code),
            statements=[self._statement(statement) for statement in sir.statements],
            ops=piece.ops,
            inputs=inputs,
            outputs=[
                {**border, "at_break": border["name"] in piece.taken} for border in _border(sir.outputs, piece.output_metas)
            ],
            compile_ns=sum(times) if times else None,
            dropped=piece.dropped,
            params=self._parameters(piece),
        )

    def _statement(self, statement: Any) -> dict[str, object]:
        site: SourceSite | None = getattr(statement, _SITE, None)
        fields = None if site is None else self._session.user_site(site)
        text = " ".join(str(statement).split())
        return {"text": text[:_TEXT_LIMIT], **(fields or {"path": None, "line": None, "function": None})}

    def _parameters(self, piece: Piece) -> int | None:
        program = piece.wrapper.partial_program
        parameters = getattr(program, "_params", None)
        return None if parameters is None else len(parameters)
