"""A chat template, rendered as Hugging Face and llama.cpp render it, with the clock frozen."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence, Sized
from types import GeneratorType
from typing import Any, cast

from jinja2 import TemplateError, TemplateSyntaxError, nodes
from jinja2.ext import Extension
from jinja2.meta import find_undeclared_variables
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment

from oasis.dialect.clock import Moment, strftime
from oasis.errors import DialectFault

MOMENTS = frozenset({"datetime", "now", "today", "current_date", "current_time", "current_datetime"})
GIVEN = frozenset({"messages", "tools", "functions", "add_generation_prompt", "bos_token", "eos_token"})


class Refused(Exception):
    """The template raised, or could not render the messages it was given."""


class _Generation(Extension):
    """`{% generation %}` marks what a trainer learns from; it renders as its body."""

    tags = {"generation"}  # noqa: RUF012 (jinja2's own declaration)

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _plain(value: object) -> object:
    return list(cast("Iterator[object]", value)) if isinstance(value, GeneratorType) else str(value)


def _tojson(
    value: object,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys, default=_plain
    )


def _raise(message: str) -> None:
    raise TemplateError(message)


_LARGEST_FACTOR = 100_000


class _Bounded(SandboxedEnvironment):
    """A template comes with a downloaded model: what it multiplies stays small."""

    intercepted_binops = frozenset({"*", "**"})

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if any(_size(side) > _LARGEST_FACTOR for side in (left, right)):
            raise TemplateError("it multiplies by more than a prompt could hold")
        return super().call_binop(context, operator, left, right)


def _size(side: object) -> float:
    if isinstance(side, Sized):
        return len(side)
    return abs(side) if isinstance(side, int | float) else 0


def _environment() -> SandboxedEnvironment:
    made = _Bounded(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols", _Generation])
    made.filters["tojson"] = _tojson
    offered = cast("dict[str, Any]", made.globals)
    offered.update(raise_exception=_raise, strftime_now=strftime)
    return made


def _own_variables(tree: nodes.Template) -> set[str]:
    """What the template sets for itself: assigned somewhere and never asked whether the caller gave it."""
    assigned = {name.name for name in tree.find_all(nodes.Name) if name.ctx == "store"}
    tests: list[nodes.Test | nodes.Filter] = [*tree.find_all(nodes.Test), *tree.find_all(nodes.Filter)]
    asked = {t.node.name for t in tests if t.name in _ASKING and isinstance(t.node, nodes.Name)}
    return assigned - asked


_ASKING = frozenset({"defined", "undefined", "default", "d"})


class Template:
    """One template with its bos and eos texts.

    variables   what it reads and nobody sets: what a caller may pass as chat_template_kwargs
    literals    its own text, outside expressions and as string constants
    Raises DialectFault when it is no jinja.
    """

    def __init__(self, source: str, bos: str, eos: str) -> None:
        environment = _environment()
        self.source, self.bos, self.eos = source, bos, eos
        try:
            tree = environment.parse(source)
            data = [n.data for n in tree.find_all(nodes.TemplateData)]
            constants = [n.value for n in tree.find_all(nodes.Const) if isinstance(n.value, str)]
            self.literals = (*data, *constants)
            undeclared = find_undeclared_variables(tree)
            self._template = environment.from_string(tree)
        except TemplateSyntaxError as error:
            raise DialectFault(
                f"The chat template is not valid jinja (line {error.lineno}: {error.message}).\n"
                "Oasis cannot tell how this model writes a conversation.\n"
                "The chat lane is used: the server renders the messages."
            ) from error
        self.variables = frozenset(undeclared) - _own_variables(tree) - frozenset(environment.globals) - GIVEN

    @property
    def digest(self) -> str:
        return hashlib.sha256("\0".join([self.source, self.bos, self.eos]).encode()).hexdigest()

    def render(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]],
        is_open: bool,
        kwargs: Mapping[str, Any],
    ) -> str:
        """The prompt for the messages; `is_open` adds the generation prompt. Raises Refused."""
        values: dict[str, Any] = {name: Moment() for name in MOMENTS & self.variables}
        as_text = json.dumps(tools, ensure_ascii=False)
        values.update(
            messages=json.loads(json.dumps(messages, ensure_ascii=False)),
            tools=json.loads(as_text) if tools else None,
            functions=as_text if tools else None,
            add_generation_prompt=is_open,
            bos_token=self.bos,
            eos_token=self.eos,
        )
        values.update(kwargs)
        try:
            return self._template.render(values)
        except Exception as error:  # a template may fail in any way jinja and its filters can
            raise Refused(f"{type(error).__name__}: {error}") from error
