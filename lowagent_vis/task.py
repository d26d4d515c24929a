"""Tasks: definitions and intents read from `tasks/`, validated and frozen (`formats.md` 7).

A definition holds what is equal in all languages: slots by id, checks as data, reference actions
at id level. An intent is the sentence of one language. `lowagent_vis.task_build` turns both into
the instance that an episode plays.
"""

import hashlib
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    field_validator,
    model_validator,
)

from lowagent_sites.common.errors import unknown_name
from lowagent_sites.paths import data_dir
from lowagent_sites.registry import site_names
from lowagent_vis.errors import UserError
from lowagent_vis.evaluation.answers import AnswerKind

TaskKind = Literal["info", "state", "unachievable"]
Modality = Literal["text", "visual"]

USER = "U"
"""In a definition, stands for the test account: its id in checks, its credentials in forms."""

ANSWER = "answer"
"""In a reference `stop`, stands for the expected answer as displayed."""

MAX_REFERENCE_SHARE = 0.6
"""A reference takes at most this share of the step budget."""


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RowSlot(_Data):
    """A row that the intent names: `row: [products, sku, P00412]`, shown by one of its columns."""

    row: tuple[str, str, str | int]
    show: str


class FoundSlot(_Data):
    """A row that a query finds and the intent does not name: `find: [products, "SELECT id …"]`."""

    find: tuple[str, str]
    show: str | None = None


class ValueSlot(_Data):
    """A value, shown by the page's own formatter; a phrase is the label of an option code.

    A decimal is written as a text, with the places that the page shows; money is in cents.
    """

    value: int | str
    show: Literal["int", "decimal", "money", "code", "date", "phrase"]


class PhraseSlot(_Data):
    """A text to type, by its key in the site language's `_phrases`."""

    phrase: str


def _slot_form(value: Any) -> str | None:
    keys = value if isinstance(value, Mapping) else vars(value)
    return next((key for key in ("row", "find", "value", "phrase") if key in keys), None)


Slot = Annotated[
    Annotated[RowSlot, Tag("row")]
    | Annotated[FoundSlot, Tag("find")]
    | Annotated[ValueSlot, Tag("value")]
    | Annotated[PhraseSlot, Tag("phrase")],
    Discriminator(
        _slot_form,
        custom_error_type="slot",
        custom_error_message="a slot needs one of row, find, value, phrase",
    ),
]


class Query(_Data):
    """Read-only SQL with bound slots; never evaluated code."""

    sql: str = Field(min_length=1)


class AnswerCheck(_Data):
    """The answer must be the value that `sql` finds, and must not name an excluded one.

    Attributes:
        answer: The type of the answer.
        sql: Finds the value; for a set, one row per member. Money is in cents.
        value: The token of a choice; answers of other types are never typed in.
        options: All tokens of a choice; those that are not right are excluded.
        exclude: Queries for values that make an answer wrong.
        places: Decimal places shown, for a decimal.
    """

    answer: AnswerKind
    sql: str | None = None
    value: str | None = None
    options: tuple[str, ...] = ()
    exclude: tuple[Query, ...] = ()
    places: int = Field(default=1, ge=0, le=4)

    @model_validator(mode="after")
    def _is_computed(self) -> Self:
        if self.answer == "NA":
            if self.sql is not None or self.value is not None or self.exclude:
                raise ValueError("the answer N/A takes no value")
        elif self.answer == "choice":
            if not self.value or self.value not in self.options:
                raise ValueError("a choice needs its value and the options that hold it")
        elif not self.sql or self.value is not None:
            raise ValueError("the expected answer is computed: give sql, no value")
        return self


class StateCheck(_Data):
    """A row that must be new, gone or hold values, judged on what changed since the reset.

    Attributes:
        state: `exists` (exactly one new row), `absent` (rows gone, none left), `values` (exactly
            one changed row).
        where: Column to value; a string that names a slot, or `U`, stands for its id or value.
        values: The columns that must have changed to these values, and no others.
        each: SQL whose every row adds its columns to `where`: one such check per row.
    """

    state: Literal["exists", "absent", "values"]
    table: str
    where: Mapping[str, int | str | Query | None] = Field(min_length=1)
    values: Mapping[str, int | str | Query | None] = {}
    each: str | None = None

    @model_validator(mode="after")
    def _has_values(self) -> Self:
        if (self.state == "values") != bool(self.values):
            raise ValueError("`values` goes with state: values, and only with it")
        return self


class FinalPageCheck(_Data):
    """The page at the end: its path, and query parameters that are not at their default."""

    final_page: str = Field(pattern="^/")
    query: Mapping[str, str] = {}


class ExclusiveCheck(_Data):
    """The tables that may change.

    In a state task every changed row of them must be explained by another check. In an info or
    unachievable task the test account's own rows of them are tolerated, nothing else.
    """

    exclusive: tuple[str, ...]


def _check_form(value: Any) -> str | None:
    keys = value if isinstance(value, Mapping) else vars(value)
    forms = ("answer", "state", "final_page", "exclusive")
    return next((key for key in forms if key in keys), None)


Check = Annotated[
    Annotated[AnswerCheck, Tag("answer")]
    | Annotated[StateCheck, Tag("state")]
    | Annotated[FinalPageCheck, Tag("final_page")]
    | Annotated[ExclusiveCheck, Tag("exclusive")],
    Discriminator(
        _check_form,
        custom_error_type="check",
        custom_error_message="a check needs one of answer, state, final_page, exclusive",
    ),
]


class ReferenceStep(_Data):
    """One reference action at id level: exactly one of goto, click, fill, stop.

    Attributes:
        fill: Name of the form. In the file, the other keys of the step are its fields.
        within: Text that the form's accessible label must hold, where a page repeats a form
            (`in` in the file).
    """

    goto: str | None = None
    click: str | None = None
    fill: str | None = None
    stop: str | None = None
    within: str | None = Field(default=None, alias="in")
    fields: Mapping[str, str] = {}

    @model_validator(mode="before")
    @classmethod
    def _gather_fields(cls, step: Any) -> Any:
        if not isinstance(step, Mapping) or "fill" not in step or "fields" in step:
            return step
        own = {key: value for key, value in step.items() if key in ("fill", "in")}
        fields = {key: _as_typed(value) for key, value in step.items() if key not in own}
        return {**own, "fields": fields}

    @model_validator(mode="after")
    def _is_one_action(self) -> Self:
        given = [v for v in (self.goto, self.click, self.fill, self.stop) if v is not None]
        if len(given) != 1:
            raise ValueError("a reference action is one of goto, click, fill, stop")
        return self


def _as_typed(value: Any) -> str:
    """Return a YAML scalar as a field's text: unquoted `on` arrives as a boolean."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


class TaskDefinition(_Data):
    """A task in all languages, as its file defines it."""

    id: str = Field(pattern=r"^[A-Z]{2}-[TV]\d{3}$")
    site: str
    revision: int = Field(ge=1)
    family: str
    kind: TaskKind
    modality: Modality
    difficulty: int = Field(ge=1, le=3)
    login: bool
    fixtures: tuple[str, ...] = ()
    branch: Literal["first", "otherwise"] | None = None
    twin: str | None = None
    step_budget: int = Field(ge=1)
    slots: Mapping[str, Slot] = {}
    pre: tuple[Query, ...] = ()
    checks: tuple[Check, ...] = Field(min_length=1)
    reference: tuple[ReferenceStep, ...] = Field(min_length=1)
    decoys: tuple[Mapping[str, int | str], ...] = ()

    @field_validator("slots")
    @classmethod
    def _keep_names_apart(cls, slots: Mapping[str, Slot]) -> Mapping[str, Slot]:
        if taken := {USER, ANSWER} & set(slots):
            raise ValueError(f"{', '.join(sorted(taken))} is no name for a slot")
        return slots

    @model_validator(mode="after")
    def _is_judged(self) -> Self:
        """Refuse criteria that an agent could meet without the task."""
        answers = [check for check in self.checks if isinstance(check, AnswerCheck)]
        states = [check for check in self.checks if isinstance(check, StateCheck)]
        exclusives = [check for check in self.checks if isinstance(check, ExclusiveCheck)]
        is_na = [check.answer == "NA" for check in answers]
        if self.kind == "info" and (not answers or any(is_na) or states):
            raise ValueError("an info task is checked by an answer other than N/A, not by state")
        if self.kind == "unachievable" and (is_na != [True] or states):
            raise ValueError("an unachievable task is checked by answer: NA alone")
        if self.kind == "state" and (not states or any(is_na)):
            raise ValueError("a state task needs a state check and no answer: NA")
        if len(exclusives) > 1 or (self.kind == "state" and not exclusives):
            raise ValueError("give `exclusive` once: the tables that may change")
        if unlisted := {check.table for check in states} - set(self.exclusive):
            raise ValueError(f"add {', '.join(sorted(unlisted))} to `exclusive`")
        return self

    @model_validator(mode="after")
    def _ends_in_time(self) -> Self:
        stops = [index for index, step in enumerate(self.reference) if step.stop is not None]
        if stops != [len(self.reference) - 1]:
            raise ValueError("the reference ends with its only `stop`")
        if len(self.reference) > MAX_REFERENCE_SHARE * self.step_budget:
            raise ValueError("the reference takes more than 60 % of the step budget")
        return self

    @property
    def exclusive(self) -> tuple[str, ...]:
        """The tables that may change."""
        found = (check.exclusive for check in self.checks if isinstance(check, ExclusiveCheck))
        return next(found, ())


class Account(_Data):
    """Credentials of a test account."""

    username: str
    password: str


class Intents(_Data):
    """The sentences of one site in one language.

    Attributes:
        sentences: Task id to sentence with slots in braces.
        login: The sentence that gives the credentials.
        phrases: Labels of option codes, texts to type, and the fixed phrases that say how to
            answer (`name_only`, `code_only`, `set_only`).
    """

    sentences: Mapping[str, str]
    login: str
    phrases: Mapping[str, str]


@dataclass(frozen=True)
class AnswerCriterion:
    """A resolved answer check; `expected` and `excluded` as displayed."""

    kind: AnswerKind
    expected: tuple[str, ...]
    excluded: tuple[str, ...] = ()


@dataclass(frozen=True)
class StateCriterion:
    """A resolved state check: column to value."""

    state: Literal["exists", "absent", "values"]
    table: str
    where: Mapping[str, int | str | None]
    values: Mapping[str, int | str | None]


@dataclass(frozen=True)
class FinalPageCriterion:
    """A resolved final page: path and query parameters."""

    path: str
    query: Mapping[str, str]


@dataclass(frozen=True)
class TaskInstance:
    """A task in one language, ready to be played and judged.

    Attributes:
        task: The definition's id.
        intent: The sentence, with the credentials' sentence where the task needs an account.
        login: The account, or None.
        exclusive: Tables that may change.
        user_id: Id of the test account's row, or None without one.
        reference: Actions as `{"goto": …}`, `{"click": …}`, `{"fill": form, "label": …,
            "fields": {…}}`, `{"stop": …}`.
    """

    site: str
    language: str
    task: str
    family: str
    kind: TaskKind
    modality: Modality
    intent: str
    login: Account | None
    fixtures: tuple[str, ...]
    step_budget: int
    answers: tuple[AnswerCriterion, ...]
    states: tuple[StateCriterion, ...]
    final_pages: tuple[FinalPageCriterion, ...]
    exclusive: tuple[str, ...]
    user_id: int | None
    reference: tuple[Mapping[str, Any], ...]
    seed_sha256: str
    task_sha256: str


def load_tasks(sites: Sequence[str] | None = None) -> tuple[TaskDefinition, ...]:
    """Return the tasks of `sites` (all by default), in the order of their files.

    Raises:
        UserError: A file is not as it must be; one line with the file, the task and the remedy.
        UnknownNameError: There is no such site.
    """
    return tuple(
        task for site in (site_names() if sites is None else sites) for task in _site_tasks(site)
    )


def load_task(task_id: str) -> TaskDefinition:
    """Return the task `task_id`.

    Raises:
        UnknownNameError: No site has it.
    """
    tasks = {task.id: task for task in load_tasks()}
    if task_id not in tasks:
        raise unknown_name("task", task_id, tasks)
    return tasks[task_id]


def load_subset(name: str) -> tuple[str, ...]:
    """Return the task ids of `tasks/subsets/<name>.txt`, one a line, `#` starts a comment."""
    folder = data_dir("tasks") / "subsets"
    known = {path.stem: path for path in folder.glob("*.txt")}
    if name not in known:
        raise unknown_name("subset", name, known)
    try:
        lines = known[name].read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise UserError(f"{known[name]} is not UTF-8; correct it") from error
    ids = (line.partition("#")[0].strip() for line in lines)
    named = tuple(task_id for task_id in ids if task_id)
    if not named:
        raise UserError(f"{known[name]} names no task; write one id a line")
    return named


@cache
def _site_tasks(site: str) -> tuple[TaskDefinition, ...]:
    if site not in site_names():
        raise unknown_name("site", site, site_names())
    folder = data_dir("tasks") / site
    paths = [path for name in ("text", "visual") if (path := folder / f"{name}.yaml").exists()]
    return tuple(task for path in paths for task in read_definitions(path, site=site))


def read_definitions(path: Path, *, site: str) -> tuple[TaskDefinition, ...]:
    """Read the definitions of one file.

    Raises:
        UserError: One line that names the file, the task and the remedy.
    """
    entries = _read_yaml(path)
    if not isinstance(entries, list) or not entries:
        raise UserError(f"{_shown(path)}: expected a list of tasks; start each with `- id:`")
    tasks = []
    for entry in entries:
        name = entry.get("id", "a task without id") if isinstance(entry, Mapping) else entry
        try:
            if not isinstance(entry, Mapping):
                raise UserError(f"{_shown(path)}: {name!r} is no task; start it with `- id:`")
            tasks.append(TaskDefinition.model_validate({**entry, "site": site}))
        except ValidationError as error:
            raise UserError(f"{_shown(path)}: {name}: {_first_problem(error)}") from error
    ids = [task.id for task in tasks]
    if twice := sorted({task_id for task_id in ids if ids.count(task_id) > 1}):
        raise UserError(f"{_shown(path)}: {', '.join(twice)} occurs twice; give each its own id")
    return tuple(tasks)


@cache
def load_accounts(site: str) -> Mapping[str, Account]:
    """Return the test accounts of a site by modality (`tasks/<site>/accounts.yaml`)."""
    path = data_dir("tasks") / site / "accounts.yaml"
    entries = _read_yaml(path)
    try:
        return {modality: Account.model_validate(entry) for modality, entry in entries.items()}
    except (ValidationError, AttributeError) as error:
        remedy = "give each modality a username and a password"
        raise UserError(f"{_shown(path)}: {remedy}") from error


def load_intents(site: str, language: str) -> Intents:
    """Return the sentences of a site in a language (`tasks/intents/<lang>/<site>.yaml`).

    Raises:
        UserError: The file is missing or is no mapping of texts.
    """
    return read_intents(data_dir("tasks") / "intents" / language / f"{site}.yaml")


@cache
def read_intents(path: Path) -> Intents:
    """Read one file of intents.

    Raises:
        UserError: One line that names the file and the remedy.
    """
    entries = _read_yaml(path)
    if not isinstance(entries, dict):
        raise UserError(f"{_shown(path)}: expected task ids with sentences")
    try:
        return Intents(
            login=entries.get("_login", ""),
            phrases=entries.get("_phrases") or {},
            sentences={key: text for key, text in entries.items() if not key.startswith("_")},
        )
    except ValidationError as error:
        raise UserError(f"{_shown(path)}: {_first_problem(error)}") from error


def placeholders(sentence: str) -> tuple[str, ...]:
    """Return the slots that a sentence names, in order.

    Raises:
        ValueError: A brace is not closed.
    """
    return tuple(name for _, name, _, _ in string.Formatter().parse(sentence) if name is not None)


def definition_sha256(task: TaskDefinition, sentence: str) -> str:
    """Return the hash of a definition with its sentence in one language."""
    text = f"{task.model_dump_json(by_alias=True)}\n{sentence}"
    return hashlib.sha256(text.encode()).hexdigest()


def _read_yaml(path: Path) -> Any:
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UserError(f"{_shown(path)} is missing; write it or leave the language out") from error
    except (RecursionError, UnicodeDecodeError) as error:
        raise UserError(f"{_shown(path)} is no YAML in UTF-8; correct it") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" line {mark.line + 1}" if mark else ""
        raise UserError(f"{_shown(path)}:{line} is no YAML; correct it") from error


def _shown(path: Path) -> str:
    root = data_dir("tasks").parent
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def _first_problem(error: ValidationError) -> str:
    """Return the first problem as `place: what; remedy`."""
    problem = error.errors()[0]
    place = ".".join(str(part) for part in problem["loc"]) or "the task"
    remedy = {
        "extra_forbidden": "remove it or correct its name",
        "missing": "add it",
    }.get(problem["type"], "correct it")
    count = error.error_count() - 1
    more = f" (and {count} more)" if count else ""
    message = problem["msg"].removeprefix("Value error, ")
    return f"{place}: {message}; {remedy}{more}"
