"""Chat templates for tests: small ones of each kind, and the real ones where they are at hand."""

from functools import cache
from pathlib import Path

import pytest

from oasis.dialect.dialect import Dialect
from oasis.dialect.infer import infer
from oasis.errors import DialectFault

REAL = Path(__file__).parents[3] / "shared" / "inputs" / "templates"

HERMES = (
    "{%- if tools %}<|im_start|>system\n# Tools{% for t in tools %}\n{{ t | tojson }}{% endfor %}<|im_end|>\n{% endif %}"
    "{%- for m in messages %}{{ '<|im_start|>' + m.role + '\n' }}"
    "{%- if m.reasoning_content %}{{ '<think>\n' + m.reasoning_content + '\n</think>\n\n' }}{% endif %}"
    "{{- m.content or '' }}"
    "{%- for c in m.tool_calls or [] %}"
    "{{ '\n<tool_call>\n{\"name\": \"' + c.function.name + '\", \"arguments\": ' + (c.function.arguments | tojson) + '}\n</tool_call>' }}"
    "{%- endfor %}{{ '<|im_end|>\n' }}{% endfor %}"
    "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
"""JSON between tags; everything kept; the reasoning is opened by the model."""

PARAMETERS = (
    "{%- if tools %}{{ '<|im_start|>system\n' }}{% for t in tools %}{{ t | tojson }}\n{% endfor %}{{ '<|im_end|>\n' }}{% endif %}"
    "{%- for m in messages %}{{ '<|im_start|>' + m.role + '\n' }}"
    "{%- if m.role == 'assistant' %}{{ '<think>\n' + (m.reasoning_content or '') + '\n</think>\n\n' }}{% endif %}"
    "{{- (m.content or '') | trim }}"
    "{%- for c in m.tool_calls or [] %}{{ '\n<tool_call>\n<function=' + c.function.name + '>\n' }}"
    "{%- for k, v in c.function.arguments.items() %}"
    "{{ '<parameter=' + k + '>\n' + (v if v is string else v | tojson) + '\n</parameter>\n' }}"
    "{%- endfor %}{{ '</function>\n</tool_call>' }}{% endfor %}{{ '<|im_end|>\n' }}{% endfor %}"
    "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\n<think>\n' }}{% endif %}"
)
"""Parameters in tags; the prompt opens the reasoning; outputs and texts are trimmed."""

BRACKETS = (
    "{{ bos_token }}{% for m in messages %}"
    "{%- if m.role == 'system' %}{{ '[SYSTEM_PROMPT]' + m.content + '[/SYSTEM_PROMPT]' }}"
    "{%- elif m.role == 'user' %}"
    "{%- if loop.last and tools or (tools and messages[loop.index0:] | selectattr('role', 'equalto', 'user') | list | length == 1) %}"
    "{{ '[AVAILABLE_TOOLS]' + (tools | tojson) + '[/AVAILABLE_TOOLS]' }}{% endif %}"
    "{{ '[INST]' + m.content + '[/INST]' }}"
    "{%- elif m.role == 'tool' %}"
    "{%- if m.tool_call_id | length != 9 %}{{ raise_exception('call ids have nine letters') }}{% endif %}"
    "{{ '[TOOL_RESULTS]' + m.tool_call_id + '[TOOL_CONTENT]' + m.content + '[/TOOL_RESULTS]' }}"
    "{%- elif m.tool_calls %}{% for c in m.tool_calls %}"
    "{{ '[TOOL_CALLS]' + c.function.name + '[CALL_ID]' + c.id + '[ARGS]' + (c.function.arguments | tojson) }}{% endfor %}{{ eos_token }}"
    "{%- else %}{{ m.content + eos_token }}{% endif %}{% endfor %}"
)
"""The tools stand before the last user message; ids of nine letters; no generation prompt."""

COUNTED = (
    "{%- set ns = namespace(n=0) %}"
    "{%- if tools %}{{ '<|system|>' + (tools | tojson) + '<|end|>' }}{% endif %}"
    "{%- for m in messages %}{{ '<|' + m.role + '|>' + (m.content or '') }}"
    "{%- for c in m.tool_calls or [] %}"
    "{{ '<|call|>functions.' + c.function.name + ':' + ns.n | string + '<|args|>' + (c.function.arguments | tojson) + '<|call_end|>' }}"
    "{%- set ns.n = ns.n + 1 %}{% endfor %}"
    "{%- if m.role == 'tool' %}{{ '#' + ns.n | string }}{% endif %}{{ '<|end|>' }}{% endfor %}"
    "{%- if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)
"""A counter that runs through the whole conversation."""

FORGETFUL = HERMES.replace(
    "{%- if m.reasoning_content %}",
    "{%- if m.reasoning_content and (keep_thoughts or not loop.index0 < ns.last) %}",
).replace(
    "{%- for m in messages %}",
    "{%- set ns = namespace(last=0) %}{% for m in messages %}{% if m.role == 'user' %}{% set ns.last = loop.index0 %}{% endif %}{% endfor %}"
    "{%- for m in messages %}",
    1,
)
"""Drops the reasoning of earlier turns, unless keep_thoughts is set."""

PLAIN = (
    "{% for m in messages %}{% if m.role not in ['user', 'assistant'] %}{{ raise_exception('only user and assistant') }}{% endif %}"
    "{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}"
    "{{ '<start_of_turn>' + ('model' if m.role == 'assistant' else 'user') + '\n' + m.content | trim + '<end_of_turn>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}"
)
"""No system, no tools, roles alternate."""

DATED = "{{ '<|date|>' + strftime_now('%A, %d %B %Y') + '<|end|>' }}" + HERMES

MOVING = HERMES + "{{ '<|im_start|>system\n' + 'Answer with a list of actions. ' * 20 + '<|im_end|>\n' }}"
"""A block of instructions after the last message."""

WRITTEN = {
    "hermes": HERMES,
    "parameters": PARAMETERS,
    "brackets": BRACKETS,
    "counted": COUNTED,
    "forgetful": FORGETFUL,
    "plain": PLAIN,
    "dated": DATED,
}


@cache
def dialect(name: str) -> Dialect:
    """The dialect of a written template, or of a real one by its file's stem."""
    source = WRITTEN.get(name) or (REAL / f"{name}.jinja").read_text(encoding="utf-8")
    return infer(source)


@cache
def every() -> dict[str, Dialect]:
    """Every dialect that can be inferred, written and real, by name."""
    found: dict[str, Dialect] = {}
    for name in [*WRITTEN, *sorted(path.stem for path in REAL.glob("*.jinja"))]:
        try:
            found[name] = dialect(name)
        except DialectFault:
            continue
    return found


def real(name: str) -> Dialect:
    """The dialect of a real template; the test is skipped where the folder is absent."""
    if not (REAL / f"{name}.jinja").exists():
        pytest.skip(f"no {name}.jinja at hand")
    return dialect(name)
