"""The sentences and numbers of a report."""

from lowagent_vis.reports.statistics import difference_interval, rate_interval
from lowagent_vis.reports.tables import (
    disruption_counts,
    plain_sentences,
    rate_of,
)
from lowagent_vis.runs.records import EpisodeRecord
from tests.lowagent_vis.records import make_record


def records(language: str, successes: int, count: int) -> list[EpisodeRecord]:
    return [
        make_record(
            episode=f"ministore.{language}.{i}",
            language=language,
            outcome="success" if i < successes else "failure",
        )
        for i in range(count)
    ]


def test_errors_are_counted_beside_the_rate() -> None:
    found = rate_of([*records("en", 3, 4), make_record(outcome="harness_error")])
    assert (found.successes, found.count, found.errors, found.value) == (3, 4, 1, 0.75)


def test_a_language_is_compared_with_english_in_one_sentence() -> None:
    sentences = plain_sentences(records("en", 48, 50) + records("bn", 46, 50))
    assert sentences[1] == "English 48 of 50."
    # Newcombe's interval of 46/50 - 48/50, by hand from the Wilson limits
    # 0.8116, 0.9685 and 0.8654, 0.9890: high = -0.04 + sqrt(0.0485^2 + 0.0946^2) = 0.066
    assert sentences[2] == (
        "Bengali 46 of 50, 4 points below English, 95 % -15 to +7: not distinguishable."
    )


def test_a_large_gap_is_distinguishable() -> None:
    sentences = plain_sentences(records("en", 50, 50) + records("am", 20, 50))
    assert sentences[2].endswith(": distinguishable.")


def test_wilson_interval_of_the_textbook() -> None:
    # 8 of 10: 0.4902 to 0.9433
    interval = rate_interval(8, 10)
    assert interval is not None
    assert (round(interval.low, 4), round(interval.high, 4)) == (0.4902, 0.9433)


def test_no_data_has_no_interval() -> None:
    assert rate_interval(0, 0) is None
    assert difference_interval(0, 0, 1, 2) is None


def test_disruption_outcomes_are_counted() -> None:
    found = disruption_counts(
        [
            make_record(disruptions={"cookie": "dismissed", "ad": "accepted"}),
            make_record(disruptions={"cookie": "dismissed", "ad": "not_reached"}),
        ]
    )
    assert found["cookie"]["dismissed"] == 2
    assert (found["ad"]["accepted"], found["ad"]["not_reached"]) == (1, 1)
