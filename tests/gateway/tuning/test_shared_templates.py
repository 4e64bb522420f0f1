"""A template that is chosen at one gateway is that of the others: two pools over one store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.asked_pool import AskedPool

from duologue.errors import Unavailable, Unsupported
from duologue.gateway.tuning.shared_templates import FOLDER, MOST, ChosenTemplate, SharedTemplates

pytestmark = pytest.mark.anyio

TERSE = ChosenTemplate("terse", "{{ terse }}")


class Rows:
    """The stored objects."""

    def __init__(self) -> None:
        self.values: dict[str, dict[str, Any]] = {}

    async def get(self, name: str) -> dict[str, Any]:
        return self.values.get(name, {})

    async def change(self, name: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
        self.values[name] = change(self.values.get(name, {}))
        return self.values[name]


class TunedPool(AskedPool):
    """Remembers the choice, as a pool does. `ready`: whether a worker can be asked."""

    def __init__(self) -> None:
        super().__init__()
        self.ready = True

    async def use_template(self, model: str, path: str, source: str) -> None:
        if not self.ready:
            raise Unavailable("No worker is ready.")
        await super().use_template(model, path, source)
        self.tuning.use_template("m", path)

    @property
    def sources(self) -> list[str]:
        return [source for _, _, source in self.templates]


class Two:
    def __init__(self, folder: Path) -> None:
        self.rows, self.told = Rows(), 0
        self.pools = TunedPool(), TunedPool()
        self.folders = folder / "one", folder / "two"
        self.templates = tuple(
            SharedTemplates(pool, each) for pool, each in zip(self.pools, self.folders, strict=True)
        )
        for templates in self.templates:
            templates.setting.use(self.rows)
            templates.setting.on_stored = self._count

    def _count(self) -> None:
        self.told += 1


async def test_a_choice_holds_at_the_other_gateway_which_has_no_such_file_until_it_is_taken_back_at_either(
    tmp_path: Path,
) -> None:
    two = Two(tmp_path)
    one, other = two.templates
    await one.choose("m", TERSE)
    assert (two.pools[0].sources, two.told) == (["{{ terse }}"], 1)
    await other.reload()
    [(_, path, source)] = two.pools[1].templates
    assert (Path(path).name, source) == ("terse.jinja", "{{ terse }}")
    assert list((tmp_path / "two" / FOLDER).rglob("terse.jinja")) == [Path(path)]
    assert (tmp_path / "two" / FOLDER) in Path(path).parents
    await other.choose("m", None)
    await one.reload()
    assert two.pools[0].sources == ["{{ terse }}", ""]
    assert two.rows.values["chat_templates"] == {}


async def test_what_is_in_use_already_is_not_sent_again(tmp_path: Path) -> None:
    two = Two(tmp_path)
    await two.templates[0].choose("m", TERSE)
    for _ in range(2):
        for templates in two.templates:
            await templates.reload()
    assert [pool.sources for pool in two.pools] == [["{{ terse }}"], ["{{ terse }}"]]


async def test_a_model_without_a_ready_worker_gets_its_template_with_a_later_look(tmp_path: Path) -> None:
    two = Two(tmp_path)
    await two.templates[0].choose("m", TERSE)
    two.pools[1].ready = False
    await two.templates[1].reload()
    assert two.pools[1].sources == []
    two.pools[1].ready = True
    await two.templates[1].reload()
    assert two.pools[1].sources == ["{{ terse }}"]


async def test_a_template_that_is_refused_is_not_stored_and_one_that_only_another_gateway_takes_is_tried_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    two = Two(tmp_path)
    broken = ChosenTemplate("broken", "broken")
    with pytest.raises(Unsupported):
        await two.templates[0].choose("m", broken)
    assert (two.rows.values, two.told) == ({}, 0)
    two.rows.values["chat_templates"] = {"m": {"name": "broken", "source": "broken"}}
    for _ in range(3):
        await two.templates[1].reload()
    assert caplog.text.count("is not used") == 1


async def test_models_that_are_elsewhere_only_and_rows_of_other_versions_are_passed_over(
    tmp_path: Path,
) -> None:
    two = Two(tmp_path)
    two.rows.values["chat_templates"] = {"other": {"name": "terse", "source": "x"}, "m": 1}
    await two.templates[0].reload()
    assert two.pools[0].templates == []


async def test_choices_are_bounded_and_names_are_no_paths(tmp_path: Path) -> None:
    two = Two(tmp_path)
    two.rows.values["chat_templates"] = {f"m{number}": {"name": "n", "source": "s"} for number in range(MOST)}
    await two.templates[0].choose("m", ChosenTemplate("../../evil", "{{ x }}"))
    assert len(two.rows.values["chat_templates"]) == MOST
    assert "m" in two.rows.values["chat_templates"]
    [(_, path, _)] = two.pools[0].templates
    assert ".." not in Path(path).parts
    assert (tmp_path / "one" / FOLDER) in Path(path).parents


async def test_without_a_shared_database_the_file_itself_is_used(tmp_path: Path) -> None:
    pool = TunedPool()
    templates = SharedTemplates(pool, tmp_path)
    await templates.choose("m", TERSE, tmp_path / "terse.jinja")
    await templates.reload()
    await templates.choose("m", None)
    assert pool.templates == [("m", str(tmp_path / "terse.jinja"), "{{ terse }}"), ("m", "", "")]
