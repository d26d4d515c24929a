"""The episodes of a run: their ids, their order, what they derive from."""

from lowagent_vis.runs.config import EpisodePlan, RunConfig


def test_an_episode_id_names_observation_disruption_factors_and_repeat() -> None:
    plan = EpisodePlan(
        site="ministore",
        task="MS-V003",
        language="bn",
        repeat=2,
        visual=True,
        disrupted=True,
        factors=(("ad", "every-click"), ("numerals", "western")),
    )
    assert plan.id == "ministore.bn.MS-V003.visual.disrupted.ad-every-click.numerals-western.r2"


def test_a_plain_first_repeat_has_the_short_id() -> None:
    assert EpisodePlan(site="ministore", task="MS-T017", language="bn").id == "ministore.bn.MS-T017"


def test_text_and_vision_derive_their_tokens_from_the_same_name() -> None:
    text = EpisodePlan(site="ministore", task="MS-T017", language="bn")
    vision = EpisodePlan(site="ministore", task="MS-T017", language="bn", visual=True)
    assert text.seed_name == vision.seed_name == "ministore.bn.MS-T017.r1"


def test_defaults_are_no_factors() -> None:
    assert RunConfig(sites=("ministore",), languages=("en",), tasks=("MS-T001",)).factors == {}


def test_each_changed_setting_is_a_factor() -> None:
    config = RunConfig(
        sites=("ministore",),
        languages=("en",),
        tasks=("MS-T001",),
        ad_every_click=True,
        page_text=False,
        link_targets=False,
        screenshot_only=True,
        numerals="western",
    )
    assert config.factors == {
        "ad": "every-click",
        "page-text": "off",
        "link-targets": "off",
        "screenshot": "only",
        "numerals": "western",
    }
