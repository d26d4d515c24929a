"""Builds task instances: slots, answers and references of one language, from its own database."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lowagent_sites.common.languages import (
    Language,
    baseline_language,
    get_language,
    selectable_languages,
)
from lowagent_sites.paths import cache_dir, data_dir
from lowagent_vis.errors import UserError
from lowagent_vis.task import (
    ANSWER,
    USER,
    Account,
    AnswerCheck,
    AnswerCriterion,
    FinalPageCheck,
    FinalPageCriterion,
    FoundSlot,
    Intents,
    ReferenceStep,
    RowSlot,
    StateCheck,
    StateCriterion,
    TaskDefinition,
    TaskInstance,
    definition_sha256,
    load_accounts,
    load_intents,
    load_task,
    load_tasks,
)
from lowagent_vis.task_lint import BuiltTask, lint_tasks
from lowagent_vis.task_slots import Bindings, Facts, display, resolve
from lowagent_vis.world import Numerals, QueryError, World

CHECKSUMS = "CHECKSUMS"
_PASSWORD_FIELD = "password"  # noqa: S105 - the name of a form's field
_WESTERN_DIGITS = "0123456789"


@dataclass(frozen=True)
class BuildResult:
    """What a build wrote.

    Attributes:
        count: Number of instances, over all languages.
        folder: Where they lie, one file per site and language.
        shortfalls: One line per task that breaks a rule or differs from `tasks/CHECKSUMS`.
    """

    count: int
    folder: Path
    shortfalls: tuple[str, ...]


def build_instance(
    task: TaskDefinition,
    language: str,
    world: Facts,
    *,
    numerals: Numerals = "local",
    overrides: Mapping[str, int | str] | None = None,
) -> TaskInstance:
    """Return `task` as it is played in `world`.

    Args:
        task: The definition.
        language: BCP 47 code of the world's language.
        world: A world with the task's fixtures, just opened.
        numerals: The numerals that the world's pages show.
        overrides: Other keys or values for some slots; the instance is then a decoy.

    Raises:
        UserError: A precondition does not hold, or a slot or query finds nothing; one line.
    """
    return build_task(task, language, world, numerals=numerals, overrides=overrides).instance


def render_intent(
    task: TaskDefinition,
    *,
    sentence_language: str,
    site_language: str,
    world: Facts | None = None,
    numerals: Numerals = "local",
) -> str:
    """Return the sentence of one language with values as the site of another shows them.

    Args:
        task: The definition.
        sentence_language: Language of the sentence and of the credentials' sentence.
        site_language: Language of the site.
        world: A world of `site_language`; opened for the purpose by default.
        numerals: The numerals that the site's pages show.
    """
    with ExitStack() as stack:
        facts = world or stack.enter_context(
            World.open(task.site, site_language, fixtures=task.fixtures)
        )
        language = get_language(site_language)
        account = _account(task)
        bindings = _bindings(task, facts, language, account, None)
        text = _intent(task, bindings, load_intents(task.site, sentence_language), account)
        return _as_shown(text, language, numerals)


def list_tasks(sites: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """Return id, site, kind, modality, family, login, twin and step budget of each task."""
    names = ("id", "site", "kind", "modality", "family", "login", "twin", "step_budget")
    return [{name: getattr(task, name) for name in names} for task in load_tasks(sites)]


def describe_task(task_id: str, language: str | None = None) -> dict[str, Any]:
    """Return a task in one language (English by default) as plain data.

    Raises:
        UnknownNameError: There is no such task or language.
    """
    task = load_task(task_id)
    code = language or baseline_language().code
    with World.open(task.site, code, fixtures=task.fixtures) as world:
        instance = build_instance(task, code, world)
    return {
        "id": task.id,
        "site": task.site,
        "language": code,
        "kind": task.kind,
        "modality": task.modality,
        "family": task.family,
        "step_budget": task.step_budget,
        "intent": instance.intent,
        "answer": _shown_answer(instance),
        "excluded": [value for answer in instance.answers for value in answer.excluded],
        "checks": [
            *(asdict(state) for state in instance.states),
            *(asdict(page) for page in instance.final_pages),
        ],
        "exclusive": list(instance.exclusive),
        "reference": [dict(step) for step in instance.reference],
    }


def build_tasks(sites: Sequence[str] | None = None, *, check: bool = False) -> BuildResult:
    """Build the instances of all tasks in all languages, lint them and write their hashes.

    The instances go to `tasks/<site>/<lang>.jsonl` in the user's cache, which no agent can read
    through a site; their hashes go to `tasks/CHECKSUMS`.

    Args:
        sites: Names of sites, all by default.
        check: Compare with `tasks/CHECKSUMS` instead of writing it.

    Raises:
        UserError: A file of definitions or intents is not as it must be.
    """
    tasks = load_tasks(sites)
    folder = cache_dir() / "tasks"
    built: list[BuiltTask] = []
    shortfalls: list[str] = []
    for task in tasks:
        for language in selectable_languages():
            try:
                built.append(_build_in_new_world(task, language.code))
            except UserError as error:
                shortfalls.append(f"{language.code}: {error}")
    shortfalls += lint_tasks(tasks, built)
    _write_instances(folder, built)
    checksums = {_name(entry.instance): instance_sha256(entry.instance) for entry in built}
    path = data_dir("tasks") / CHECKSUMS
    if check:
        shortfalls += _compare_checksums(path, checksums, {task.site for task in tasks})
    elif not shortfalls:
        _write_checksums(path, checksums, {task.site for task in tasks})
    return BuildResult(len(built), folder, tuple(shortfalls))


def instance_sha256(instance: TaskInstance) -> str:
    """Return the hash of all that an instance asks, expects and plays."""
    return hashlib.sha256(_to_json(instance).encode()).hexdigest()


def _build_in_new_world(task: TaskDefinition, language: str) -> BuiltTask:
    with World.open(task.site, language, fixtures=task.fixtures) as world:
        return build_task(task, language, world)


def build_task(
    task: TaskDefinition,
    language_code: str,
    facts: Facts,
    *,
    numerals: Numerals = "local",
    overrides: Mapping[str, int | str] | None = None,
) -> BuiltTask:
    """Return an instance with what it was built from, for the rules of `lowagent_vis.task_lint`.

    Raises:
        UserError: As `build_instance`.
    """
    try:
        return _build_with(task, language_code, facts, numerals=numerals, overrides=overrides)
    except QueryError as error:
        raise UserError(f"{task.id}: {error}; correct the query") from error


def _build_with(
    task: TaskDefinition,
    language_code: str,
    facts: Facts,
    *,
    numerals: Numerals,
    overrides: Mapping[str, int | str] | None,
) -> BuiltTask:
    language, intents = get_language(language_code), load_intents(task.site, language_code)
    account = _account(task)
    bindings = _bindings(task, facts, language, account, overrides)
    if overrides is None:
        _check_preconditions(task, bindings, language_code)

    def shown(text: str) -> str:
        return _as_shown(text, language, numerals)

    answers, raw_answers = _answers(task, bindings, language)
    answers = tuple(
        AnswerCriterion(
            kind=answer.kind,
            expected=tuple(map(shown, answer.expected)),
            excluded=tuple(map(shown, answer.excluded)),
        )
        for answer in answers
    )
    instance = TaskInstance(
        site=task.site,
        language=language_code,
        task=task.id,
        family=task.family,
        kind=task.kind,
        modality=task.modality,
        intent=shown(_intent(task, bindings, intents, account)),
        login=account if task.login else None,
        fixtures=task.fixtures,
        step_budget=task.step_budget,
        answers=answers,
        states=tuple(_states(task, bindings)),
        final_pages=tuple(_final_pages(task, bindings)),
        exclusive=task.exclusive,
        user_id=bindings.user_id,
        reference=tuple(
            _reference_step(step, bindings, account, answers, shown) for step in task.reference
        ),
        seed_sha256=facts.seed_sha256,
        task_sha256=definition_sha256(task, intents.sentences.get(task.id, "")),
    )
    return BuiltTask(
        task=task,
        instance=instance,
        intents=intents,
        slots=bindings.slots,
        raw_answers=raw_answers,
        name_collisions=_name_collisions(task, bindings),
    )


def _bindings(
    task: TaskDefinition,
    facts: Facts,
    language: Language,
    account: Account | None,
    overrides: Mapping[str, int | str] | None,
) -> Bindings:
    return resolve(
        task,
        facts,
        language=language,
        intents=load_intents(task.site, language.code),
        username=account.username if account else None,
        overrides=overrides,
    )


def _account(task: TaskDefinition) -> Account | None:
    account = load_accounts(task.site).get(task.modality)
    if account is None and task.login:
        raise UserError(f"{task.id}: accounts.yaml has no account for {task.modality}; add it")
    return account


def _check_preconditions(task: TaskDefinition, bindings: Bindings, language: str) -> None:
    for precondition in task.pre:
        if not bindings.scalar(precondition.sql):
            raise UserError(
                f"{task.id}: does not hold in {language}: {precondition.sql}; "
                "choose other slot values"
            )


def _intent(
    task: TaskDefinition, bindings: Bindings, intents: Intents, account: Account | None
) -> str:
    if task.id not in intents.sentences:
        raise UserError(f"{task.id}: no intent in this language; write its sentence")
    shown = {name: slot.shown for name, slot in bindings.slots.items() if slot.shown is not None}
    try:
        sentence = intents.sentences[task.id].format_map(shown)
    except (KeyError, ValueError) as error:
        raise UserError(f"{task.id}: the intent has a wrong slot ({error}); correct it") from error
    if not (task.login and account):
        return sentence
    return f"{sentence} {intents.login.format_map(account.model_dump())}"


def _answers(
    task: TaskDefinition, bindings: Bindings, language: Language
) -> tuple[tuple[AnswerCriterion, ...], tuple[tuple[Any, ...], ...]]:
    """Return the resolved answer checks, and their values before they were displayed."""
    checks = [check for check in task.checks if isinstance(check, AnswerCheck)]
    raw = tuple(_raw_answer(check, bindings) for check in checks)
    resolved = []
    for check, values in zip(checks, raw, strict=True):
        expected = tuple(
            display(check.answer, value, language=language, places=check.places) for value in values
        )
        excluded = {
            display(check.answer, value, language=language, places=check.places): None
            for query in check.exclude
            for row in bindings.rows(query.sql)
            for value in row.values()
            if value is not None
        }
        rivals = [token for token in (*excluded, *check.options) if token not in expected]
        resolved.append(AnswerCriterion(check.answer, expected, tuple(rivals)))
    return tuple(resolved), raw


def _raw_answer(check: AnswerCheck, bindings: Bindings) -> tuple[Any, ...]:
    if check.answer == "NA":
        return ("N/A",)
    if check.sql is None:
        return (check.value,)
    if check.answer == "set":
        return tuple(next(iter(row.values())) for row in bindings.rows(check.sql))
    return (bindings.scalar(check.sql),)


def _states(task: TaskDefinition, bindings: Bindings) -> list[StateCriterion]:
    resolved = []
    for check in task.checks:
        if not isinstance(check, StateCheck):
            continue
        where = {column: bindings.value(value) for column, value in check.where.items()}
        values = {column: bindings.value(value) for column, value in check.values.items()}
        members: Sequence[Mapping[str, Any]] = bindings.rows(check.each) if check.each else [{}]
        if not members:
            raise UserError(f"{task.id}: `each` finds no row: {check.each}; correct it")
        resolved += [
            StateCriterion(check.state, check.table, {**where, **member}, values)
            for member in members
        ]
    return resolved


def _final_pages(task: TaskDefinition, bindings: Bindings) -> list[FinalPageCriterion]:
    return [
        FinalPageCriterion(
            path=bindings.fill_in(check.final_page),
            query={name: bindings.fill_in(value) for name, value in check.query.items()},
        )
        for check in task.checks
        if isinstance(check, FinalPageCheck)
    ]


def _reference_step(
    step: ReferenceStep,
    bindings: Bindings,
    account: Account | None,
    answers: Sequence[AnswerCriterion],
    shown: Callable[[str], str],
) -> dict[str, Any]:
    if step.goto is not None:
        return {"goto": bindings.fill_in(step.goto)}
    if step.click is not None:
        return {"click": bindings.fill_in(step.click)}
    if step.stop is not None:
        is_answer = step.stop == ANSWER and answers
        return {"stop": ", ".join(answers[0].expected) if is_answer else step.stop}
    resolved: dict[str, Any] = {"fill": step.fill}
    if step.within is not None:
        resolved["label"] = shown(_typed(step.within, "", bindings, account))
    resolved["fields"] = {
        name: shown(_typed(value, name, bindings, account)) for name, value in step.fields.items()
    }
    return resolved


def _typed(value: str, field_name: str, bindings: Bindings, account: Account | None) -> str:
    """Return what a reference types for a value: a slot as shown, an option by its code."""
    if value == USER and account is not None:
        return account.password if field_name == _PASSWORD_FIELD else account.username
    if value in bindings.slots:
        return bindings.slots[value].typed
    return bindings.fill_in(value)


def _name_collisions(task: TaskDefinition, bindings: Bindings) -> tuple[str, ...]:
    """Return the slots whose shown name is another row's too, or part of it (text tasks)."""
    named = {
        name: slot.row[0] if isinstance(slot, RowSlot) else slot.find[0]
        for name, slot in task.slots.items()
        if isinstance(slot, RowSlot | FoundSlot) and slot.show == "name"
    }
    if task.modality != "text":
        return ()
    return tuple(
        name
        for name, table in named.items()
        if bindings.facts.query(
            f'SELECT count(*) AS n FROM "{table}" WHERE instr(name, :shown) > 0',
            {"shown": bindings.slots[name].shown},
        )[0]["n"]
        != 1
    )


def _as_shown(text: str, language: Language, numerals: Numerals) -> str:
    """Map digits as the page does when it is served with western numerals."""
    if numerals == "local":
        return text
    return text.translate(str.maketrans(language.digits, _WESTERN_DIGITS))


def _shown_answer(instance: TaskInstance) -> str | list[str] | None:
    if not instance.answers:
        return None
    answer = instance.answers[0]
    return list(answer.expected) if answer.kind == "set" else answer.expected[0]


def _to_json(instance: TaskInstance) -> str:
    data = asdict(instance) | {"login": instance.login and instance.login.model_dump()}
    del data["seed_sha256"]  # the seed has its own hash; only what it shows here counts
    return json.dumps(data, ensure_ascii=False, sort_keys=True)


def _name(instance: TaskInstance) -> str:
    return f"{instance.site}.{instance.language}.{instance.task}"


def _write_instances(folder: Path, built: Sequence[BuiltTask]) -> None:
    lines: dict[Path, list[str]] = {}
    for entry in built:
        path = folder / entry.instance.site / f"{entry.instance.language}.jsonl"
        lines.setdefault(path, []).append(_to_json(entry.instance))
    for path, texts in lines.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(texts) + "\n", encoding="utf-8")


def _read_checksums(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    pairs = (line.split() for line in path.read_text(encoding="utf-8").splitlines())
    return {name: checksum for checksum, name in pairs}


def _write_checksums(path: Path, checksums: Mapping[str, str], sites: set[str]) -> None:
    others = {
        name: checksum
        for name, checksum in _read_checksums(path).items()
        if name.partition(".")[0] not in sites
    }
    lines = [f"{value}  {name}\n" for name, value in sorted({**others, **checksums}.items())]
    path.write_text("".join(lines), encoding="utf-8")


def _compare_checksums(path: Path, checksums: Mapping[str, str], sites: set[str]) -> list[str]:
    known = {
        name: value
        for name, value in _read_checksums(path).items()
        if name.partition(".")[0] in sites
    }
    return [
        f"{name}: {'is not in' if name not in known else 'differs from'} tasks/{CHECKSUMS}; "
        "look at the change, then run: lowagent-vis tasks build"
        for name in sorted(checksums)
        if known.get(name) != checksums[name]
    ] + [
        f"{name}: is in tasks/{CHECKSUMS} and was not built; run: lowagent-vis tasks build"
        for name in sorted(set(known) - set(checksums))
    ]
