"""Drawing: legible, the same every time, and true to the boxes."""

import io
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import set_of_marks
from set_of_marks import Box, Mark, MarkedPage, draw_marks, draw_on_jpeg, place_labels
from set_of_marks.draw import FORM_COLOR, LINK_COLOR
from set_of_marks.font import label_font, label_width
from tests.set_of_marks.pages import form, link, page

PAGE = place_labels(
    page(link(1, Box(100, 40, 90, 24)), form(1, Box(100, 150, 200, 90)), width=400, height=300)
)
README = Path(set_of_marks.__file__).with_name("README.md")


def picture(
    color: int = 255, *, scale: int = 1
) -> np.ndarray[tuple[int, int, int], np.dtype[np.uint8]]:
    """A picture of one grey."""
    return np.full((300 * scale, 400 * scale, 3), color, np.uint8)


def jpeg(color: int = 255) -> bytes:
    """The same, encoded."""
    buffer = io.BytesIO()
    Image.fromarray(picture(color)).save(buffer, "JPEG")
    return buffer.getvalue()


def luminance(color: tuple[int, int, int]) -> float:
    """Relative luminance (WCAG 2.2)."""
    parts = [value / 255 for value in color]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("color", [LINK_COLOR, FORM_COLOR])
def test_digits_stand_out_from_their_label(color: tuple[int, int, int]) -> None:
    assert 1.05 / (luminance(color) + 0.05) >= 7


@pytest.mark.parametrize("background", [0, 128, 255])
@pytest.mark.parametrize("number", [0, 1])
def test_a_label_stands_out_from_any_background(background: int, number: int) -> None:
    drawn = np.asarray(draw_marks(picture(background), PAGE)).astype(int)

    label = PAGE.marks[number].label
    inside = drawn[round(label.y) : round(label.bottom), round(label.x) : round(label.right)]
    color = FORM_COLOR if number else LINK_COLOR
    share = np.all(inside == color, axis=2).mean()
    assert share > 0.4
    assert np.all(inside > 240, axis=2).any()


def test_the_picture_given_is_not_changed() -> None:
    array, image = picture(), Image.fromarray(picture())

    draw_marks(array, PAGE)
    draw_marks(image, PAGE)

    assert array.min() == 255
    assert np.asarray(image).min() == 255


def test_an_array_and_a_picture_give_the_same() -> None:
    from_array = draw_marks(picture(), PAGE)
    from_picture = draw_marks(Image.fromarray(picture()).convert("RGBA"), PAGE)

    assert from_array.tobytes() == from_picture.tobytes()


def test_a_marked_jpeg_has_the_same_bytes_every_time() -> None:
    clean = jpeg()

    assert draw_on_jpeg(clean, PAGE) == draw_on_jpeg(clean, PAGE)
    assert draw_on_jpeg(clean, PAGE) != draw_on_jpeg(clean, MarkedPage(400, 300, 18, ()))


def test_links_are_solid_and_forms_are_dashed() -> None:
    drawn = np.asarray(draw_marks(picture(), PAGE))

    lower_edge_of_link = drawn[66, 100:190]
    lower_edge_of_form = drawn[242, 100:300]
    assert np.all(lower_edge_of_link == LINK_COLOR)
    is_red = np.all(lower_edge_of_form == FORM_COLOR, axis=1)
    assert 0.4 < is_red.mean() < 0.8
    assert np.abs(np.diff(is_red.astype(int))).sum() > 10


def test_a_screenshot_of_twice_the_pixels_is_marked_at_twice_the_place() -> None:
    drawn = np.asarray(draw_marks(picture(scale=2), PAGE))

    assert np.all(drawn[2 * 64 + 2, 200:380] == LINK_COLOR)


def test_the_line_around_a_box_touches_nothing_in_it() -> None:
    drawn = np.asarray(draw_marks(picture(), PAGE))

    for mark in PAGE.marks:
        for box in mark.boxes:
            inside = drawn[round(box.y) : round(box.bottom), round(box.x) : round(box.right)]
            assert inside.min() == 255


def test_a_label_outside_the_page_is_refused() -> None:
    bad = MarkedPage(400, 300, 18, (Mark(4, "link", (), Box(395, 10, 20, 18)),))

    with pytest.raises(ValueError, match="the label of link 4 lies outside the page"):
        draw_marks(picture(), bad)


@pytest.mark.parametrize("height", [18, 24, 39])
def test_the_font_has_what_labels_need(height: int) -> None:
    widths = {character: label_font(height).getlength(character) for character in "0123456789F"}
    missing = label_font(height).getmask("\ue000")

    assert len({widths[digit] for digit in "0123456789"}) == 1
    for character in widths:
        assert bytes(label_font(height).getmask(character)) != bytes(missing)
    assert label_width("F123", height) > label_width("12", height)


def test_digits_are_as_tall_as_promised() -> None:
    _, top, _, bottom = label_font(18).getbbox("8")

    assert bottom - top >= 10


def test_the_package_stands_alone() -> None:
    code = (
        "import sys, set_of_marks\n"
        "others = {'lowagent_vis', 'lowagent_sites', 'playwright', 'flask', 'cv2', 'lxml'}\n"
        "print(sorted(others & set(sys.modules)))"
    )
    root = Path(set_of_marks.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]"


def test_the_readme_example_without_a_browser_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)

    exec(compile(examples[1], "README", "exec"), {})

    with Image.open("marked.png") as image:
        assert np.asarray(image).min() < 100
