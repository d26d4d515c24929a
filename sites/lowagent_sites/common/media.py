"""Photos: who makes them, and the addresses that say nothing about them (`common.md` 3.7)."""

import base64
import hashlib
import hmac
import io
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Protocol

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

PHOTO_PX = 512
PHOTO_QUALITY = 85
_SECRET = b"lowagent-vis/media"
_TOKEN_LENGTH = 24
_GRAIN, _GRAIN_SEED = 3, 20260615


class PhotoProvider(Protocol):
    """Makes the photo of a media id."""

    def get(self, media_id: str) -> bytes:
        """Return a JPEG, 512 px square, without metadata."""


class NeutralPhotoProvider:
    """Shows the same empty studio for every id: the slot of a photo without its content."""

    def get(self, media_id: str) -> bytes:
        """Return the empty studio."""
        return _neutral_photo()


@cache
def _neutral_photo() -> bytes:
    """Draw a wall, a floor and a soft pool of light, with the grain of a photo."""
    image = Image.new("RGB", (PHOTO_PX, PHOTO_PX), (238, 240, 242))
    draw = ImageDraw.Draw(image)
    horizon = PHOTO_PX * 2 // 3
    for y in range(PHOTO_PX):
        shade = 243 - 10 * y // PHOTO_PX if y < horizon else 226 + 8 * (y - horizon) // PHOTO_PX
        draw.line([(0, y), (PHOTO_PX, y)], fill=(shade, shade + 1, shade + 2))
    light = Image.new("L", image.size, 0)
    box = (PHOTO_PX // 5, horizon - 70, PHOTO_PX * 4 // 5, horizon + 120)
    ImageDraw.Draw(light).ellipse(box, fill=46)
    light = light.filter(ImageFilter.GaussianBlur(44))
    image.paste(Image.new("RGB", image.size, (255, 255, 255)), mask=light)
    image = _with_grain(image)
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=PHOTO_QUALITY, optimize=True)
    return buffer.getvalue()


def _with_grain(image: Image.Image) -> Image.Image:
    """Add the fine grain of a photo: an empty studio then weighs what a real photo weighs."""
    grain = np.random.Generator(np.random.PCG64(_GRAIN_SEED))
    noise = grain.integers(-_GRAIN, _GRAIN + 1, size=(PHOTO_PX, PHOTO_PX, 1), dtype=np.int16)
    pixels = np.asarray(image, dtype=np.int16) + noise
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))


@cache
def media_token(media_id: str) -> str:
    """Return the name under which a photo is served, equal in all languages."""
    raw = hmac.digest(_SECRET, media_id.encode(), hashlib.sha256)
    return base64.b32encode(raw).decode().lower()[:_TOKEN_LENGTH]


def media_path(media_id: str) -> str:
    """Return a photo's address on its site."""
    return f"/media/{media_token(media_id)}.jpg"


def tokens_of(media_ids: Iterable[str]) -> Mapping[str, str]:
    """Return media ids by token."""
    return {media_token(media_id): media_id for media_id in media_ids}
