"""The encoder in the page: the weight of its page, the time to read it and to compute a sentence, on one core.

    PYTHONPATH=scripts OMP_NUM_THREADS=1 python benchmarks/encoder_in_page.py [micro mini]

A page is opened as a file in a Chromium, and sentences of 12, 32 and 64 tokens are computed in it. Milliseconds of
processor time of the page's main thread; a sentence is the mean of twenty, after five that do not count.
"""

import json
import sys
import tempfile
from base64 import b64encode
from pathlib import Path

from browser import find_browser
from cselab_widgets.kit.carried_encoder import ENCODING, carried_encoders
from cselab_widgets.kit.scripts import inlined
from playwright.sync_api import sync_playwright

from cselab import SentenceEncoder

READ = "async () => { window.encoder = (await readEncoders(carried))[0]; }"
COMPUTE = "([text, times]) => { for (let k = 0; k < times; k++) encodeTexts(window.encoder, [text]); }"


def main(names: list[str]) -> None:
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox", "--disable-gpu"])
        for name in names:
            carried = carried_encoders({name: SentenceEncoder(name)})
            written = json.dumps(carried, default=lambda given: b64encode(given).decode())
            file = Path(folder) / f"{name}.html"
            file.write_text(f"<script>{inlined(ENCODING)}\nconst carried = {written};</script>", encoding="utf-8")
            page = browser.new_page()
            session = page.context.new_cdp_session(page)
            session.send("Performance.enable", {"timeDomain": "threadTicks"})

            def spent(script: str, argument: object = None, page=page, session=session) -> float:
                def busy() -> float:
                    metrics = {m["name"]: m["value"] for m in session.send("Performance.getMetrics")["metrics"]}
                    return 1000 * metrics["TaskDuration"]

                before = busy()
                page.evaluate(script, argument)
                return busy() - before

            page.goto(file.as_uri())
            print(f"{name}: {file.stat().st_size / 1e6:.2f} MB, read in {spent(READ):.0f} ms", flush=True)
            for tokens in (12, 32, 64):
                text = "cat " * (tokens - 2)
                page.evaluate(COMPUTE, [text, 5])
                print(f"  {tokens} tokens: {spent(COMPUTE, [text, 20]) / 20:.0f} ms", flush=True)
            page.close()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:] or ["micro", "mini"])
