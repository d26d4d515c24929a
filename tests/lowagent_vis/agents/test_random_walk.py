"""The agent that acts at random does the same in every repetition and something else elsewhere."""

import itertools

from lowagent_sites.common.languages import baseline_language
from lowagent_vis.agents.base import EpisodeStart
from lowagent_vis.agents.random_walk import RandomWalkAgent
from lowagent_vis.observation import Observation
from lowagent_vis.page import parse_page

PAGE = parse_page(
    b"""<!doctype html><html><head><title>Shop</title></head>
    <body><p>Welcome <a href="/">Home</a> <a href="/cart">Cart</a></p>
    <form id="search" method="post" action="/search"><label>Words <input name="q"></label>
    <button>Search</button></form></body></html>""",
    url="/",
)


def actions(*, episode: str, seed: bytes, count: int = 40) -> list[str]:
    agent = RandomWalkAgent()
    agent.start(
        EpisodeStart(
            episode=episode,
            site="ministore",
            language=baseline_language().code,
            intent="Find it.",
            system="",
            step_budget=30,
            seed=seed,
        )
    )
    seen = Observation(PAGE, PAGE.to_text(), step=0, steps_left=30)
    return [agent.act(seen).text for _ in range(count)]


def test_the_same_episode_and_seed_give_the_same_actions() -> None:
    assert actions(episode="a", seed=b"0") == actions(episode="a", seed=b"0")


def test_another_seed_or_episode_gives_other_actions() -> None:
    walks = [actions(episode=e, seed=s) for e, s in itertools.product("ab", (b"0", b"1"))]
    assert len({tuple(walk) for walk in walks}) == 4


def test_every_link_and_form_and_stopping_come_up() -> None:
    drawn = set(actions(episode="a", seed=b"0", count=400))
    assert drawn == {"click 1", "click 2", "fill 1", "stop"}
