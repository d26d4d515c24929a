"""Runs in an environment of its own, with browsergym-core: one set-of-marks observation a line.

Reads addresses from standard input, answers each with the seconds that BrowserGym needs for
`goto`, its observation, its overlay of marks and a JPEG of the marked picture.
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


def main():
    """Answer addresses until the input ends."""
    import browsergym.core  # noqa: F401 - registers the environment

    playwright.sync_api.BrowserType.launch = launch
    first = sys.stdin.readline().strip()
    env = gym.make("browsergym/openended", task_kwargs={"start_url": first}, headless=True)
    env.reset()
    print("ready", flush=True)
    for line in sys.stdin:
        core = env.unwrapped
        started = time.perf_counter()
        core.page.goto(line.strip())
        observation = core._get_obs()
        marked = overlay_som(observation["screenshot"], observation["extra_element_properties"])
        Image.fromarray(marked).save(io.BytesIO(), "JPEG", quality=85)
        print(time.perf_counter() - started, flush=True)
    env.close()


if __name__ == "__main__":
    main()
