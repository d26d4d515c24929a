"""Rules that a task must keep to measure what it says; the ids are those of `docs/validity.md`."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import regex

from lowagent_vis.evaluation.answers import AnswerKind, compare_answer
from lowagent_vis.evaluation.normalize import answer_languages, normalize_text, normalize_words
from lowagent_vis.evaluation.values import find_numbers
from lowagent_vis.evaluation.vocabulary import vocabulary
from lowagent_vis.task import (
    AnswerCriterion,
    Intents,
    StateCheck,
    TaskDefinition,
    TaskInstance,
    placeholders,
)
from lowagent_vis.task_slots import ResolvedSlot

_FORMAT_TOKENS: Mapping[AnswerKind, str] = {
    "date": "YYYY-MM-DD",
    "month": "YYYY-MM",
    "time": "HH:MM",
    "time_range": "HH:MM-HH:MM",
    "duration": "H:MM",
}
_FORMAT_PHRASES: Mapping[AnswerKind, str] = {
    "code": "code_only",
    "text": "name_only",
    "set": "set_only",
}
_COUNTED: frozenset[AnswerKind] = frozenset({"int", "decimal", "percent", "money"})
_LANGUAGE_FREE: frozenset[AnswerKind] = frozenset(
    {
        "int",
        "decimal",
        "percent",
        "money",
        "date",
        "month",
        "time",
        "time_range",
        "duration",
        "code",
    }
)
_GUESSABLE = frozenset({Decimal(0), Decimal(1)})
_HIDDEN = regex.compile(r"[\p{Cc}\p{Cf}\u00a0]")


@dataclass(frozen=True)
class BuiltTask:
    """An instance with what it was built from.

    Attributes:
        slots: The resolved slots by name.
        raw_answers: For each answer check the database values before they were displayed.
        name_collisions: Slots whose shown name is part of another row's name.
        intents: The sentences of the instance's language.
    """

    task: TaskDefinition
    instance: TaskInstance
    intents: Intents
    slots: Mapping[str, ResolvedSlot]
    raw_answers: tuple[tuple[Any, ...], ...]
    name_collisions: tuple[str, ...]


def lint_tasks(tasks: Sequence[TaskDefinition], built: Sequence[BuiltTask]) -> list[str]:
    """Return one line per rule that a task breaks: language, id, rule, remedy."""
    by_id = {task.id: task for task in tasks}
    instances: defaultdict[str, list[BuiltTask]] = defaultdict(list)
    for entry in built:
        instances[entry.task.id].append(entry)
    lines: list[str] = []
    for task in tasks:
        lines += [f"{task.id}: {problem}" for problem in _lint_definition(task, by_id)]
        for entry in instances[task.id]:
            prefix = f"{entry.instance.language}: {task.id}: "
            lines += [prefix + problem for problem in _lint_instance(entry, by_id)]
        lines += [f"{task.id}: {problem}" for problem in _lint_languages(instances[task.id])]
    return lines


def _lint_definition(task: TaskDefinition, by_id: Mapping[str, TaskDefinition]) -> Iterator[str]:
    twin = by_id.get(task.twin or "")
    if task.kind == "unachievable":
        if twin is None:
            yield "N-05: needs an achievable twin in the catalogue; name it in `twin`"
        elif twin.kind == "unachievable":
            yield "N-05: its twin cannot be done either; name an achievable one"
    if twin is not None and twin.twin != task.id:
        yield f"N-05: {twin.id} does not name it as its twin; add `twin: {task.id}` there"
    has_state = any(isinstance(check, StateCheck) for check in task.checks)
    if task.branch is not None and not has_state and task.kind == "state":
        yield "T-12: a branch that writes nothing needs an answer token; add an answer check"


def _lint_instance(entry: BuiltTask, by_id: Mapping[str, TaskDefinition]) -> Iterator[str]:
    yield from _lint_sentence(entry, by_id)
    yield from _lint_answers(entry)
    for name in entry.name_collisions:
        yield f"T-16: the name of slot {name} is part of another name; choose another row"
    for name, slot in entry.slots.items():
        shown = slot.shown or ""
        if _HIDDEN.search(shown) or shown != unicodedata.normalize("NFC", shown):
            yield f"L-13: slot {name} holds hidden characters or is not NFC; correct the content"


def _lint_sentence(entry: BuiltTask, by_id: Mapping[str, TaskDefinition]) -> Iterator[str]:
    task, intents, language = entry.task, entry.intents, entry.instance.language
    sentence = intents.sentences[task.id]
    named = {name for name, slot in entry.slots.items() if slot.shown is not None}
    if missing := named - set(placeholders(sentence)):
        yield f"L-02: the intent does not name {', '.join(sorted(missing))}; add it in braces"
    twin = by_id.get(task.twin or "")
    if twin is not None and intents.sentences.get(twin.id) != sentence:
        yield f"N-05: its sentence differs from that of {twin.id}; make them equal"
    relative = normalize_words(
        (word for rules in answer_languages().values() for word in rules.relative_days),
        language=language,
    )
    text = normalize_text(sentence, language=language)
    for word in relative:
        if regex.search(rf"(?<![\p{{L}}\p{{M}}]){regex.escape(word)}(?![\p{{L}}\p{{M}}])", text):
            yield f"T-10: the intent says {word}; give the date"


def _lint_answers(entry: BuiltTask) -> Iterator[str]:
    instance, intents = entry.instance, entry.intents
    sentence = intents.sentences[entry.task.id]
    for answer in instance.answers:
        if answer.kind == "NA":
            continue
        if not all(answer.expected):
            yield "S-19: the expected answer is empty; choose other slot values"
            continue
        yield from _lint_judgement(answer, instance)
        yield from _lint_guess(answer.kind, answer.expected, instance)
        yield from _lint_format(answer.kind, bool(answer.excluded), sentence, intents)


def _lint_judgement(answer: AnswerCriterion, instance: TaskInstance) -> Iterator[str]:
    expected = answer.expected if answer.kind == "set" else answer.expected[0]
    right = ", ".join(answer.expected)
    for text in (right, *answer.excluded):
        comparison = compare_answer(
            answer.kind,
            expected,
            text,
            language=instance.language,
            excluded=answer.excluded,
            question=instance.intent,
        )
        if comparison.passed != (text == right):
            yield f"A-16: “{text}” is judged wrongly ({comparison.reason}); change `exclude`"


def _lint_guess(kind: AnswerKind, expected: Sequence[str], instance: TaskInstance) -> Iterator[str]:
    if kind not in _COUNTED:
        return
    words = vocabulary(instance.language)

    def values(text: str) -> set[Decimal]:
        found = find_numbers(normalize_text(text, language=instance.language), words)
        return {number.value for number in found}

    wanted = values(expected[0])
    if wanted & _GUESSABLE:
        yield "T-09: the answer is 0 or 1; choose other slot values"
    if wanted & values(instance.intent):
        yield "T-09: the intent holds the answer; choose other slot values"


def _lint_format(
    kind: AnswerKind, has_rivals: bool, sentence: str, intents: Intents
) -> Iterator[str]:
    token = _FORMAT_TOKENS.get(kind)
    if token is not None and token not in sentence:
        yield f"T-08: the intent does not say the format {token}; add it"
    key = _FORMAT_PHRASES.get(kind)
    if key is None or (kind == "text" and not has_rivals):
        return
    phrase = intents.phrases.get(key)
    if not phrase:
        yield f"T-08: `_phrases` of the intents has no {key}; add it"
    elif phrase not in sentence:
        yield f"T-08: the intent does not hold “{phrase}”; add it"


def _lint_languages(entries: Sequence[BuiltTask]) -> Iterator[str]:
    """What must be equal in all languages: rows, values and language-free answers."""
    if not entries:
        return
    first = entries[0]
    for other in entries[1:]:
        pair = f"{first.instance.language} and {other.instance.language}"
        for name, slot in first.slots.items():
            if other.slots[name].bound != slot.bound and slot.bound != slot.shown:
                yield f"L-04: slot {name} is another row in {pair}; choose other slot values"
        kinds = [answer.kind for answer in first.instance.answers]
        for kind, mine, theirs in zip(kinds, first.raw_answers, other.raw_answers, strict=True):
            if kind in _LANGUAGE_FREE and mine != theirs:
                yield f"L-04: the answer differs in {pair}; choose other slot values"
        if _latin_tokens(first) != _latin_tokens(other):
            yield f"L-03: codes and names in Latin letters differ in {pair}; correct an intent"


def _latin_tokens(entry: BuiltTask) -> frozenset[str]:
    """The invariant tokens that the slots put into the intent: codes, names, usernames."""
    shown = (slot.shown or "" for slot in entry.slots.values() if _is_neutral(slot))
    return frozenset(token for text in shown for token in regex.findall(r"[A-Za-z0-9_-]+", text))


def _is_neutral(slot: ResolvedSlot) -> bool:
    return slot.shown is not None and slot.shown in {
        slot.row.get(column) for column in ("sku", "slug", "username", "code", "model_code")
    }
