"""A file edit drops exactly the states that contain the file."""

import asyncio
import hashlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oasis.kv.chain import Segment, Source
from oasis.kv.store import Store
from oasis.kv.watch import check_sources, watch
from oasis.kv.worth import Kind
from tests.kv.slot_work import prompt
from tests.kv.states import HERE, write

FILES = 4
TREES = st.lists(st.tuples(st.integers(0, 30), st.sampled_from([None, *range(FILES)])), min_size=1, max_size=12)


@pytest.fixture
def store(tmp_path: Path):
    store = Store(tmp_path / "kv")
    yield store
    store.close()


def text_file(folder: Path, n: int, text: str = "old") -> Source:
    path = folder / f"{n}.st"
    path.write_text(text)
    return Source(str(path), hashlib.sha256(text.encode()).hexdigest())


@given(TREES, st.sets(st.integers(0, FILES - 1)))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_edit_makes_stale_exactly_the_states_that_contain_the_file(
    tmp_path: Path, store: Store, tree: list[tuple[int, int | None]], edited: set[int]
):
    """Each node of the tree is a state: its parent's segments and one more, which may come from a file."""
    for artifact in store.all():
        store.remove(artifact)
    sources = [text_file(tmp_path, n) for n in range(FILES)]
    paths: list[list[int]] = []
    contains: dict[str, set[int]] = {}
    held: list[set[int]] = []
    for n, (parent, file) in enumerate(tree):
        above = parent % n if n else None
        ids = (paths[above] if above is not None else []) + [n, *prompt(3)]
        files = (held[above] if above is not None else set()) | ({file} if file is not None else set())
        own = [Segment(len(ids), sources[file])] if file is not None else []
        contains[write(store, ids, segments=own).id] = files
        paths.append(ids)
        held.append(files)
    for n in edited:
        text_file(tmp_path, n, "new")
    marked = check_sources(store)
    stale = {a.id for a in store.all() if a.is_stale}
    assert stale == {artifact for artifact, files in contains.items() if files & edited}
    assert marked == len(stale)
    assert {a.id for a in store.make_room()} == stale


def test_a_stale_state_is_never_found(tmp_path: Path, store: Store):
    write(store, prompt(20), Kind.FILES, segments=[Segment(20, text_file(tmp_path, 0))])
    Path(tmp_path / "0.st").unlink()
    assert check_sources(store) == 1
    assert store.find(HERE, prompt(30)) == []


def test_a_file_written_again_with_the_same_text_drops_nothing(tmp_path: Path, store: Store):
    write(store, prompt(20), segments=[Segment(20, text_file(tmp_path, 0))])
    text_file(tmp_path, 0)
    assert check_sources(store) == 0


async def test_the_watcher_sees_an_edit_and_a_replaced_file(tmp_path: Path, store: Store):
    folder = tmp_path / "project"
    folder.mkdir()
    states = [write(store, prompt(20, n), segments=[Segment(20, text_file(folder, n))]) for n in range(3)]
    stop, looked = asyncio.Event(), asyncio.Queue[int]()
    watching = asyncio.create_task(watch(store, stop, looked.put_nowait))
    async with asyncio.timeout(30):
        assert await looked.get() == 0
        text_file(folder, 0, "edited")
        (folder / "new").write_text("replaced")
        (folder / "new").replace(folder / "1.st")
        seen = 0
        while seen < 2:
            seen += await looked.get()
    stop.set()
    await watching
    assert {a.id for a in store.all() if a.is_stale} == {states[0].id, states[1].id}
