"""Measure how much of a web page's main content becomes Markdown, and how much boilerplate.

    python bench/bench_html.py [--trafilatura PYTHON] [--show PAGE]

The pages in `bench/html_pages` are written by hand in the layouts found on the web; comments mark their main content.
`kept` is the share of its words that the Markdown has, `through` the share of the other visible words that it has too.
With PYTHON, an interpreter that can import it, trafilatura is compared in the same run:

    python -m venv build/trafilatura && build/trafilatura/bin/pip install trafilatura lxml_html_clean
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import time
from collections import Counter
from html import unescape
from pathlib import Path

from duologue.tools.builtin.html_to_markdown import page_text

PAGES = Path(__file__).parent / "html_pages"
MAIN = re.compile("<!--(/?)main-->")
THEIRS = """
import json, sys, trafilatura
options = {"output_format": "markdown", "include_links": True, "include_tables": True}
def text(page, **more):
    return trafilatura.extract(page, **options, **more) or ""
pages = json.load(sys.stdin)
print(json.dumps({
    "trafilatura": {name: text(page) for name, page in pages.items()},
    "trafilatura, recall": {name: text(page, favor_recall=True) for name, page in pages.items()},
}))
"""


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.lower()))


def visible(html: str) -> str:
    """The words that a browser would show of a piece of one of our pages."""
    html = re.sub(r"(?s)<(script|style|title|select|textarea)\b.*?</\1>", " ", html)
    html = re.sub(r"(?s)<!--.*?-->", " ", html)
    return unescape(re.sub(r"</?[a-zA-Z!][^<>]*>", " ", html))


def parts(marked: str) -> tuple[Counter[str], Counter[str]]:
    """The words of a page's main content, and those around it."""
    inside: list[str] = []
    outside: list[str] = []
    for number, piece in enumerate(MAIN.split(marked)[::2]):
        (inside if number % 2 else outside).append(piece)
    return words(visible(" ".join(inside))), words(visible(" ".join(outside)))


def shares(marked: str, markdown: str) -> tuple[float, float]:
    """Of a page made Markdown: the share of its main words that are there, and of the words around them."""
    main, around = parts(marked)
    # Addresses and the descriptions of pictures are no words that the page shows.
    plain = re.sub(r"\]\([^)]*\)", "]", re.sub(r"!?\[Image: [^\]]*\]|!\[[^\]]*\]\([^)]*\)", " ", markdown))
    made = words(plain)
    kept, through = made & main, (made - main) & around
    return kept.total() / main.total(), through.total() / max(1, around.total())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trafilatura", metavar="PYTHON")
    parser.add_argument("--show", metavar="PAGE", help="print the Markdown of one page instead")
    options = parser.parse_args()
    marked = {path.stem: path.read_text(encoding="utf-8") for path in sorted(PAGES.glob("*.html"))}
    pages = {name: MAIN.sub("", page) for name, page in marked.items()}
    if options.show:
        print(page_text(pages[options.show], "https://site.example/")[1])
        return
    began = time.perf_counter()
    made = {"Duologue": {name: page_text(page, "https://site.example/")[1] for name, page in pages.items()}}
    taken = (time.perf_counter() - began) / len(pages) * 1000
    if options.trafilatura:
        answer = subprocess.run(
            [options.trafilatura, "-c", THEIRS],
            input=json.dumps(pages),
            capture_output=True,
            text=True,
            check=True,
        )
        made |= json.loads(answer.stdout)
    print(f"{'':16}" + "".join(f"{name:>24}" for name in made))
    print(f"{'page':16}" + f"{'kept':>14}{'through':>10}" * len(made))
    for name, page in marked.items():
        columns = [shares(page, texts[name]) for texts in made.values()]
        print(f"{name:16}" + "".join(f"{kept:>14.0%}{through:>10.0%}" for kept, through in columns))
    means = [[shares(page, texts[name]) for name, page in marked.items()] for texts in made.values()]
    print(
        f"{'mean':16}"
        + "".join(
            f"{statistics.mean(kept for kept, _ in each):>14.1%}{statistics.mean(more for _, more in each):>10.1%}"
            for each in means
        )
    )
    print(f"\n{taken:.1f} ms a page of {statistics.mean(map(len, pages.values())):,.0f} characters")


if __name__ == "__main__":
    main()
