"""Templates render as Hugging Face and llama.cpp render them, on every day alike."""

import os
import subprocess
import sys

import pytest

from oasis.dialect.clock import strftime
from oasis.dialect.infer import infer
from oasis.dialect.template import Refused, Template
from oasis.errors import DialectFault


def render(source: str, **values: object) -> str:
    kwargs = {k: v for k, v in values.items() if k not in ("messages", "tools")}
    return Template(source, "<s>", "</s>").render(values.get("messages", []), values.get("tools", []), True, kwargs)


def test_blocks_are_trimmed_and_stripped() -> None:
    assert render("a\n  {% if true %}\nb\n  {% endif %}\nc") == "a\nb\nc"


def test_lists_may_be_appended_to() -> None:
    assert render("{% set _ = messages.append({'role': 'x'}) %}{{ messages | length }}") == "1"


def test_loops_may_break() -> None:
    assert render("{% for i in range(9) %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% endfor %}") == "01"


def test_generation_blocks_render_as_their_body() -> None:
    assert render("{% generation %}{{ eos_token }}{% endgeneration %}") == "</s>"


def test_tojson_keeps_unicode_and_angle_brackets() -> None:
    assert render("{{ x | tojson }}", x={"ä": "<b>&'"}) == '{"ä": "<b>&\'"}'


def test_a_template_that_raises_is_refused_with_its_words() -> None:
    with pytest.raises(Refused, match="roles must alternate"):
        render("{{ raise_exception('roles must alternate') }}")


def test_no_tools_are_none() -> None:
    assert render("{{ tools is none }}") == "True"


def test_a_broken_template_says_where() -> None:
    with pytest.raises(DialectFault, match="line 2"):
        Template("a\n{% if %}", "", "")


def test_a_template_cannot_reach_the_system() -> None:
    with pytest.raises(Refused):
        render("{{ ''.__class__.__mro__[1].__subclasses__() }}")


def test_the_clock_stands_still() -> None:
    assert strftime("%A, %d %B %Y %H:%M, %b %-d, %y, %j, %%") == "Wednesday, 01 January 2025 12:00, Jan 1, 25, 001, %"


@pytest.mark.parametrize("source", ["{{ datetime }}", "{{ now() }}", "{{ datetime.now().strftime('%Y-%m-%d') }}"])
def test_other_date_variables_stand_still(source: str) -> None:
    assert render(source) == "2025-01-01"


def test_a_date_the_caller_gives_is_used() -> None:
    assert render("{{ date_string }}", date_string="26 Jul 2024") == "26 Jul 2024"


def test_variables_are_what_a_caller_may_set() -> None:
    source = "{% set a = 1 %}{{ a }}{{ keep }}{% set old = old | default(false) %}{{ old }}{{ bos_token }}{{ strftime_now('%d') }}"
    assert Template(source, "", "").variables == {"keep", "old"}


def test_a_head_is_the_same_in_another_zone_locale_and_hash_seed() -> None:
    code = (
        "from tests.dialect.templates import DATED, infer\n"
        "from tests.dialect.conversations import PREFIX\n"
        "d = infer(DATED); print(d.digest, repr(d.head(PREFIX)))"
    )
    shown = set()
    for seed, zone, tongue in (("0", "UTC", "C.UTF-8"), ("7", "Asia/Tokyo", "de_DE.UTF-8")):
        env = {**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": tongue, "PYTHONPATH": os.getcwd()}
        run = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
        shown.add(run.stdout)
    assert len(shown) == 1
    assert "Wednesday, 01 January 2025" in shown.pop()


def test_a_template_cannot_multiply_itself_out_of_memory() -> None:
    with pytest.raises(DialectFault, match="multiplies"):
        infer('{{ "a" * 10**9 }}')
