"""Runs in an environment of its own, with browsergym-core: one set-of-marks observation a line.

Reads addresses, each with the height of the window, from standard input; answers each with the
seconds that BrowserGym needs for `goto`, its observation, its overlay of marks and a JPEG of the
marked picture, and with the seconds of these in which it slept before it tried again.
"""

import io
import os
import sys
import time

import gymnasium as gym
import playwright.sync_api
from browsergym.utils.obs import overlay_som
from PIL import Image

_LAUNCH = playwright.sync_api.BrowserType.launch
_FLAGS = ["--disable-background-networking", "--disable-component-update", "--no-first-run"]


def launch(self, **options):
    """Launch the Chromium of this machine; BrowserGym's own is not there."""
    options["executable_path"] = os.environ["LOWAGENT_VIS_CHROMIUM"]
    options["args"] = [*(options.get("args") or []), *_FLAGS, "--no-sandbox"]
    options["headless"] = True
    return _LAUNCH(self, **options)


class Naps:
    """The module `time` as BrowserGym sees it, with a record of how long it slept."""

    def __init__(self):
        """Have slept for no time."""
        self.slept_s = 0.0

    def __getattr__(self, name):
        """Return what the module has under this name."""
        return getattr(time, name)

    def sleep(self, duration_s):
        """Sleep and add it up."""
        started = time.perf_counter()
        time.sleep(duration_s)
        self.slept_s += time.perf_counter() - started


def main():
    """Answer addresses until the input ends."""
    import browsergym.core.env

    playwright.sync_api.BrowserType.launch = launch
    naps = Naps()
    browsergym.core.env.time = naps
    first = sys.stdin.readline().strip()
    env = gym.make(
        "browsergym/openended", task_kwargs={"start_url": first}, headless=True, slow_mo=0
    )
    env.reset()
    print("ready", flush=True)
    for line in sys.stdin:
        core = env.unwrapped
        address, height_px = line.split()
        core.page.set_viewport_size({"width": 1280, "height": int(height_px)})
        naps.slept_s = 0.0
        started = time.perf_counter()
        core.page.goto(address)
        observation = core._get_obs()
        marked = overlay_som(observation["screenshot"], observation["extra_element_properties"])
        Image.fromarray(marked).save(io.BytesIO(), "JPEG", quality=85)
        print(time.perf_counter() - started, naps.slept_s, flush=True)
    env.close()


if __name__ == "__main__":
    main()
