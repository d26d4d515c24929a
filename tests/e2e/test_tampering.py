"""What else changes in the database fails a task, and a lost link fails the reference."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jinja2
import pytest

from lowagent_sites.common.app import shared_app
from lowagent_sites.common.tables import select_tables
from lowagent_sites.registry import load_site
from lowagent_vis.actions import Stop, parse_action
from lowagent_vis.agents.base import EpisodeStart
from lowagent_vis.agents.reference import ReferenceAgent
from lowagent_vis.browsers.base import Request
from lowagent_vis.browsers.http import HttpBrowser
from lowagent_vis.evaluation.verdict import judge
from lowagent_vis.executor import execute
from lowagent_vis.page import parse_page
from lowagent_vis.task import TaskInstance
from lowagent_vis.task_build import build_instance
from lowagent_vis.world import World
from tests.e2e.conftest import LANGUAGES, TASKS, Play

pytestmark = pytest.mark.e2e

DRAWS = 200
CODE = LANGUAGES[0]


def play_reference(world: World, instance: TaskInstance) -> str:
    """Play the reference's actions in `world`; return its answer."""
    agent = ReferenceAgent()
    agent.use_script(instance.reference)
    agent.start(EpisodeStart("", "", "", "", "", 0))
    with HttpBrowser(wsgi=world.wsgi, base_url=world.origin) as browser:
        response = browser.send(Request("GET", "/"))
        while True:
            page = parse_page(response.html, url=response.url)
            action = parse_action(agent.next_action(page.to_text()))
            if isinstance(action, Stop):
                return action.answer
            response = execute(action, page, browser)


def other_value(column: Any, value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return value + 1_000_003
    return f"{value}x"


@pytest.mark.parametrize("task", TASKS)
def test_any_other_change_of_a_checked_table_fails_the_task(task: str) -> None:
    """200 draws of one column of one row, each written behind the site's back.

    The times of rows that the task itself writes are no part of its goal and are not drawn.
    """
    draws = random.Random(f"tampering/{task}")
    tables = [table for table in select_tables(load_site("ministore")) if table.name != "carts"]
    with World.open("ministore", CODE, fixtures=TASKS[task].fixtures) as world:
        instance = build_instance(TASKS[task], CODE, world)
        answer = play_reference(world, instance)

        def verdict() -> str:
            return judge(instance, world, answer=answer, ended_by="stop", final_url="/").outcome

        assert verdict() == "success"
        written = {
            (table, entry["key"].get("id"))
            for table, entries in world.diff().items()
            for entry in (*entries.get("added", ()), *entries.get("changed", ()))
        }
        done = 0
        with world.tampering() as connection:
            connection.execute("PRAGMA ignore_check_constraints = ON")
            while done < DRAWS:
                table = draws.choice(tables)
                rows = connection.execute(f'SELECT rowid FROM "{table.name}"').fetchall()
                columns = [c for c in table.columns if not c.primary_key and not c.foreign_keys]
                if not rows or not columns:
                    continue
                column, (rowid,) = draws.choice(columns), draws.choice(rows)
                if column.name.endswith("_at") and (table.name, rowid) in written:
                    continue
                select = f'SELECT "{column.name}" FROM "{table.name}" WHERE rowid = ?'
                (old,) = connection.execute(select, (rowid,)).fetchone()
                update = f'UPDATE OR IGNORE "{table.name}" SET "{column.name}" = ? WHERE rowid = ?'
                connection.execute(update, (other_value(column, old), rowid))
                (new,) = connection.execute(select, (rowid,)).fetchone()
                if new == old:
                    continue
                assert world.diff(), (table.name, column.name)
                assert verdict() == "failure", (table.name, column.name, rowid, old, new)
                connection.execute(update, (old, rowid))
                done += 1
        assert verdict() == "success"


@contextmanager
def template_changed(name: str, old: str, new: str) -> Iterator[None]:
    """Change one template of the shop in this process."""
    environment = shared_app("ministore", CODE, "local").jinja_env
    loader = environment.loader
    assert loader is not None
    source = loader.get_source(environment, name)[0]
    assert old in source
    environment.loader = jinja2.ChoiceLoader(
        [jinja2.DictLoader({name: source.replace(old, new)}), loader]
    )
    assert environment.cache is not None
    environment.cache.clear()
    try:
        yield
    finally:
        environment.loader = loader
        environment.cache.clear()


@pytest.mark.parametrize(
    ("template", "link", "tasks"),
    [
        (
            "ministore/shop.html",
            '<a href="/p/{{ product.sku }}">{{ product.name }}</a>',
            {"MS-T001", "MS-T004", "MS-T011", "MS-T027", "MS-T030", "MS-T071"},
        ),
        (
            "common/layout.html",
            '<a href="{{ link.href }}">{{ link.label }}</a>',
            {"MS-T030"},
        ),
    ],
)
def test_a_link_that_is_gone_fails_exactly_the_tasks_that_use_it(
    template: str, link: str, tasks: set[str], play: Play
) -> None:
    with template_changed(template, link, "{{ '' }}"):
        failed = {
            task
            for task in TASKS
            if play(TASKS[task], CODE, ReferenceAgent()).record.outcome == "failure"
        }
    assert failed == tasks
