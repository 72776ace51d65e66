"""The page of a monitor: whole, self-contained, and safe whatever segments are called."""

from html.parser import HTMLParser

import numpy as np

from oddsmith.monitor import Monitor, page


class Elements(HTMLParser):
    """All elements and their text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert not {"src", "href", "onload"} & {name for name, _ in attrs}

    def handle_data(self, data):
        self.text += data


def test_a_page_shows_each_segment_and_the_path():
    rng = np.random.default_rng(0)
    monitor = Monitor(by_segment=True)
    for _ in range(12):
        p = rng.random(200)
        segments = np.repeat(["<script>alert(1)</script>", "calm"], 100)
        y = (rng.random(200) < np.where(np.arange(200) < 100, p**3, p)).astype(int)
        monitor.update(p, y, segments=segments)
    found = Elements(page(monitor, "Loans <today>"))
    assert "script" not in found.tags
    assert found.tags.count("svg") == 3
    assert "Segment <script>alert(1)</script>" in found.text
    assert "Alarm: probabilities are too high." in found.text
    assert "No alarm." in found.text
    assert "Loans <today>" in found.text


def test_a_monitor_without_rows_has_a_page():
    assert "No rows yet." in page(Monitor())
