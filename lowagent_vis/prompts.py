"""The prompts, which are files in `assets/prompts` so that a run's record can name their hash."""

from functools import cache

from lowagent_sites.paths import data_dir


@cache
def _template(name: str) -> str:
    return (data_dir("assets") / "prompts" / f"{name}.txt").read_text("utf-8")


def system_prompt(*, grammar: str, step_budget: int) -> str:
    """Return the system prompt: the grammar of the actions and the rules of an episode."""
    return _template("system").format(grammar=grammar.strip(), step_budget=step_budget).strip()
