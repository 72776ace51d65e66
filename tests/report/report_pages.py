"""What tests of pages look at: their elements, and the contrast of their text."""

from html.parser import HTMLParser

#: Contrast of all text, by the rules of WCAG 2.
CONTRAST = """() => {
  const channel = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = (c) => { const [r, g, b] = c.match(/[\\d.]+/g).map((v) => c.startsWith("color(") ? 255 * v : +v);
    return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b); };
  const ground = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
    if (c !== "rgba(0, 0, 0, 0)") return c; } };
  return [...document.querySelectorAll("h1,h2,h3,p,th,td,small,label,figcaption,button,select,caption,legend")]
    .filter((e) => e.checkVisibility()).map((e) => {
      const [a, b] = [light(getComputedStyle(e).color), light(ground(e))].sort((x, y) => y - x);
      return (a + 0.05) / (b + 0.05); });
}"""


class Elements(HTMLParser):
    """All elements of a page, and the text of each kind."""

    def __init__(self, text):
        super().__init__()
        self.found, self.words, self._open = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        self._open.append(tag)

    def handle_data(self, data):
        if self._open and self._open[-1] not in ("script", "style"):
            self.words.append(data)

    def attributes(self, name):
        return [attributes[name] for _, attributes in self.found if name in attributes]
