"""Style sheets, fonts and photos, in every site and in the application that serves them alone."""

import io
import re

import httpx
import pytest
from PIL import Image

from lowagent_sites.common.assets_app import create_assets_app, language_css
from lowagent_sites.common.languages import get_language, load_languages
from lowagent_sites.common.media import NeutralPhotoProvider, media_path, media_token
from lowagent_sites.paths import data_dir
from tests.lowagent_sites.common.demo_site import PHOTO, open_demo

FONTS = data_dir("assets") / "fonts"
MAX_FONTS_BYTES = 900_000


def assets() -> httpx.Client:
    return httpx.Client(
        transport=httpx.WSGITransport(app=create_assets_app()), base_url="http://assets.test"
    )


@pytest.mark.parametrize(
    "path",
    [
        "/static/common/base.css",
        "/static/common/languages.css",
        "/static/common/icon.svg",
        "/static/fonts/fonts.css",
        "/static/ministore/ministore.css",
    ],
)
def test_style_sheets_are_served_to_be_kept(path: str) -> None:
    answer = assets().get(path)
    assert answer.status_code == 200
    assert "immutable" in answer.headers["Cache-Control"]
    assert "Set-Cookie" not in answer.headers


def test_a_site_serves_the_common_style_sheets_and_its_own() -> None:
    client = open_demo().client()
    for path in re.findall('href="(/static/[^"]*)"', client.get("/").text):
        assert client.get(path).status_code == 200, path


@pytest.mark.parametrize(
    "path",
    ["/static/common/base.txt", "/static/common/..%2fapp.py", "/static/other/base.css",
     "/static/fonts/OFL.txt", "/static/common/", "/static/../app.py", "/static/common/%00.css",
     "/media/x.jpg", "/media/../x.jpg", "/media/" + "a" * 24, "/media/" + "A" * 24 + ".jpg"],
)  # fmt: skip
def test_nothing_else_is_served(path: str) -> None:
    assert open_demo().client().get(path).status_code == 404
    assert assets().get(path).status_code == 404


def test_an_asset_that_is_known_is_not_sent_again() -> None:
    client = assets()
    photo = media_path("ministore/P00005/1")
    for path in ("/static/common/base.css", "/static/common/languages.css", photo):
        etag = client.get(path).headers["ETag"]
        assert client.get(path, headers={"If-None-Match": etag}).status_code == 304


def test_the_empty_page_has_the_sites_policy() -> None:
    answer = assets().get("/__blank")
    assert answer.status_code == 200
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert open_demo().client().get("/__blank").status_code == 404


def test_every_font_of_the_style_sheet_is_there_and_none_is_unused() -> None:
    named = set(re.findall(r"/static/fonts/([^\"]*\.woff2)", (FONTS / "fonts.css").read_text()))
    assert named == {path.name for path in FONTS.glob("*.woff2")}
    assert sum(path.stat().st_size for path in FONTS.glob("*.woff2")) < MAX_FONTS_BYTES
    assert "SIL OPEN FONT LICENSE" in (FONTS / "OFL.txt").read_text("utf-8")
    assert (FONTS / "fonts.css").read_text().count("font-display: block") == len(named)


def test_every_family_of_a_language_has_a_face() -> None:
    faces = set(re.findall(r'font-family: ("[^"]*")', (FONTS / "fonts.css").read_text()))
    for language in load_languages().values():
        assert set(re.findall('"[^"]*"', language.font_family)) <= faces


def test_the_nastaliq_face_holds_the_space() -> None:
    rules = (FONTS / "fonts.css").read_text().splitlines()
    nastaliq = [rule for rule in rules if '"Noto Nastaliq Urdu"' in rule]
    assert len(nastaliq) == 2
    assert not any("unicode-range" in rule for rule in nastaliq)
    assert get_language("ur").font_family.startswith('"Noto Nastaliq Urdu"')


def test_fonts_and_line_heights_come_from_the_languages_file() -> None:
    rule = language_css(get_language("ur"))
    assert rule.startswith(':lang(ur) { font-family: "Noto Nastaliq Urdu", "Noto Sans";')
    assert "--leading: 2.4;" in rule
    assert "--body: 17px;" in rule
    served = assets().get("/static/common/languages.css").text
    assert all(language_css(language) in served for language in load_languages().values())


def test_a_photo_is_served_under_a_name_that_says_nothing() -> None:
    client = open_demo().client()
    answer = client.get(media_path(PHOTO))
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "image/jpeg"
    assert answer.headers["ETag"] == f'"{media_token(PHOTO)}"'
    assert "Last-Modified" not in answer.headers
    assert re.fullmatch(r"/media/[a-z2-7]{24}\.jpg", media_path(PHOTO))


def test_a_photo_that_the_site_does_not_have_is_not_found() -> None:
    assert open_demo().client().get(media_path("demo/2")).status_code == 404


def test_the_neutral_photo_is_the_same_square_for_every_id() -> None:
    photos = NeutralPhotoProvider()
    data = photos.get("demo/1")
    assert data == photos.get("demo/2")
    image = Image.open(io.BytesIO(data))
    assert (image.format, image.size, image.mode) == ("JPEG", (512, 512), "RGB")
    assert not image.getexif()
    assert "icc_profile" not in image.info


def test_names_of_photos_differ() -> None:
    assert len({media_token(f"demo/{n}") for n in range(1000)}) == 1000
