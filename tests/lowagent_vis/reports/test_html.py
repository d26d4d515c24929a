"""A report and an episode are files that need nothing else and show untrusted text as text."""

import hashlib
import io
import json
import re
from pathlib import Path

import pytest
from PIL import Image

from lowagent_sites.common.errors import UnknownNameError
from lowagent_vis.errors import UserError
from lowagent_vis.reports.html import render_episode, render_report
from lowagent_vis.reports.texts import isolated_lines, language_styles
from lowagent_vis.runs.records import CheckRecord, ImageRecord
from lowagent_vis.runs.store import RunStore
from set_of_marks import Box, Mark, MarkedPage
from tests.lowagent_vis.records import make_record, make_step

MARKUP = '<script>alert("x")</script>'
MANIFEST = {
    "schema": 1,
    "created_at": "2026-06-15T10:00:00+00:00",
    "config": {"agent": "first-link", "model": None, "visual": True, "disruptions": False},
}
MARKS = MarkedPage(640, 480, 18, (Mark(1, "link", (Box(60, 20, 80, 24),), Box(30, 22, 24, 18)),))


def picture() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (640, 480), "white").save(buffer, "JPEG")
    return buffer.getvalue()


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    store = RunStore.create(tmp_path / MARKUP.replace("/", ""), MANIFEST)
    failed = CheckRecord(
        name="answer", expected="৳ ৯,৭০৮", actual=MARKUP, passed=False, reason="it holds no amount"
    )
    store.append_episode(
        make_record(
            episode="ministore.bn.MS-T001.visual",
            language="bn",
            intent_language="bn",
            intent="দাম কত?",
            visual=True,
            outcome="failure",
            checks=[failed],
            answer=MARKUP,
            actions=["click 1", MARKUP],
        )
    )
    store.append_episode(make_record())
    clean = picture()
    image = ImageRecord(
        role="clean",
        file="000.jpg",
        sha256=hashlib.sha256(clean).hexdigest(),
        width=640,
        height=480,
    )
    for number in range(2):
        store.write_step(
            "ministore.bn.MS-T001.visual",
            make_step(
                step=number,
                text=f"URL: /\nTEXT:\n{MARKUP} দাম 2026-06-15",
                reply=MARKUP,
                action=None,
                error="no such link",
                note=MARKUP,
                marks=json.loads(MARKS.to_json()),
                images=[image],
            ),
            clean,
        )
    return store


def test_a_report_shows_reason_commands_errors_and_the_marked_picture(store: RunStore) -> None:
    html = render_report(store)
    assert "Bengali 0 of 1, 100 points below English" in html
    assert "it holds no amount." in html
    assert "--episode ministore.bn.MS-T001.visual" in html
    assert "lowagent-vis run --agent reference --tasks MS-T001 --langs bn --visual" in html
    assert "no such link" in html
    assert html.count("data:image/jpeg;base64,") == 1


def test_an_episode_shows_each_step_and_a_picture_once(store: RunStore) -> None:
    html = render_episode(store, "ministore.bn.MS-T001.visual")
    assert "Step 0: /" in html
    assert "Step 1: /" in html
    assert html.count("data:image/jpeg;base64,") == 1
    assert "The picture is that of step 0." in html
    assert "no such link" in html


@pytest.mark.parametrize("episode", [None, "ministore.bn.MS-T001.visual"])
def test_untrusted_text_is_shown_as_text_and_nothing_is_fetched(
    store: RunStore, episode: str | None
) -> None:
    html = render_report(store) if episode is None else render_episode(store, episode)
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert not re.findall(r'(?:src|href)="(?!data:|#)', html)
    assert set(re.findall(r"url\(\"?([a-z]+:)", html)) == {"data:"}


def test_a_run_without_failures_shows_a_page(store: RunStore, tmp_path: Path) -> None:
    solved = RunStore.create(tmp_path / "solved", MANIFEST)
    solved.append_episode(make_record(visual=True))
    step = next(iter(store.steps("ministore.bn.MS-T001.visual")))
    solved.write_step("ministore.en.MS-T001", step, picture())
    assert "A page as the agent saw it" in render_report(solved)


def test_an_unknown_episode_is_named_with_the_closest(store: RunStore) -> None:
    with pytest.raises(UnknownNameError, match=r'did you mean "ministore.bn.MS-T001.visual"\?'):
        render_episode(store, "ministore.bn.MS-T001.visul")


def test_an_episode_id_that_leads_out_of_the_folder_is_refused(store: RunStore) -> None:
    line = make_record().to_json().replace("ministore.en.MS-T001", "../../etc")
    with (store.folder / "episodes.jsonl").open("a") as lines:
        lines.write(line + "\n")
    with pytest.raises(UserError, match=r"line 3 is no episode record \(episode: "):
        list(store.episodes())


def test_fonts_come_with_the_languages_that_need_them() -> None:
    assert language_styles(["en"]) == ""
    both = language_styles(["ur", "am", "ur"])
    assert {"Noto Nastaliq Urdu", "Noto Sans Ethiopic"} < set(
        re.findall(r'@font-face \{ font-family: "([^"]+)"', both)
    )
    assert "Noto Sans Bengali" not in both
    assert "/static/" not in both


def test_dates_keep_their_order_beside_words_of_another_direction() -> None:
    assert isolated_lines("TITLE: کپ\nتاریخ | 2026-06-15 <b>") == (
        '<bdi dir="ltr"><bdi dir="ltr">TITLE:</bdi> کپ</bdi>\n'
        '<bdi dir="auto">تاریخ | <bdi dir="ltr">2026-06-15 &lt;b&gt;</bdi></bdi>'
    )
