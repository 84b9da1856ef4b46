# ruff: noqa: RUF001 - odd characters are the subject here
"""The corpus: every kind of text that has ever broken a terminal program, each with a name.

``CORPUS`` holds what a JSON text can hold, lone surrogates included. ``HUGE`` are those too large
to be multiplied by everything; they are in the corpus as well.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping

from hostile_sequences import ESC, ESCAPES, MARKUP

KILO = 1000
HUGE_LENGTH = 100 * KILO

_BIDI = {
    "left-to-right embedding": 0x202A,
    "right-to-left embedding": 0x202B,
    "pop": 0x202C,
    "left-to-right override": 0x202D,
    "right-to-left override": 0x202E,
    "left-to-right isolate": 0x2066,
    "right-to-left isolate": 0x2067,
    "first strong isolate": 0x2068,
    "pop isolate": 0x2069,
    "left-to-right mark": 0x200E,
    "right-to-left mark": 0x200F,
    "arabic letter mark": 0x061C,
}

_INVISIBLE = {
    "zero width space": 0x200B,
    "zero width non-joiner": 0x200C,
    "zero width joiner": 0x200D,
    "word joiner": 0x2060,
    "function application": 0x2061,
    "invisible times": 0x2062,
    "invisible separator": 0x2063,
    "invisible plus": 0x2064,
    "symmetric swapping": 0x206A,
    "byte order mark": 0xFEFF,
    "soft hyphen": 0x00AD,
    "grapheme joiner": 0x034F,
    "hangul choseong filler": 0x115F,
    "hangul jungseong filler": 0x1160,
    "hangul filler": 0x3164,
    "halfwidth hangul filler": 0xFFA0,
    "mongolian vowel separator": 0x180E,
    "mongolian selector": 0x180B,
    "khmer inherent vowel": 0x17B4,
    "blank braille": 0x2800,
    "musical begin beam": 0x1D173,
    "interlinear anchor": 0xFFF9,
    "object replacement": 0xFFFC,
    "tag letter": 0xE0041,
    "cancel tag": 0xE007F,
    "text presentation": 0xFE0E,
    "emoji presentation": 0xFE0F,
    "variation selector 1": 0xFE00,
    "variation selector 17": 0xE0100,
    "line separator": 0x2028,
    "paragraph separator": 0x2029,
    "no-break space": 0x00A0,
    "ogham space": 0x1680,
    "thin space": 0x2009,
    "ideographic space": 0x3000,
    "noncharacter fffe": 0xFFFE,
    "noncharacter ffff": 0xFFFF,
    "noncharacter fdd0": 0xFDD0,
    "last code point": 0x10FFFF,
    "private use": 0xE000,
    "private plane": 0xF0000,
    "unassigned": 0x0378,
    "replacement character": 0xFFFD,
}

_UNICODE = {
    "high surrogate": "a\ud800b",
    "low surrogate": "a\udfffb",
    "surrogate at end": "name\ud83d",
    "surrogates reversed": "\udc00\ud800",
    "surrogate escape bytes": "\udc80\udcff",
    "surrogates many": "\ud800" * 100,
    "surrogate and escape": f"\ud800{ESC}[31m",
    "pair in two halves": "\ud83d\ud83d\ude00",
    "combining first": "\u0301name",
    "combining alone": "\u0301",
    "combining on space": " \u0301 \u0308",
    "zalgo": "n" + "\u0300\u0316\u0321\u0340" * 12 + "ame",
    "zalgo on each": "".join(letter + "\u0334\u0353\u033f" * 5 for letter in "name"),
    "combining enclosing": "a\u20dd b\u20e3",
    "combining after newline": "a\n\u0301b",
    "arabic": "مفتاح الإنتاج",
    "hebrew": "מפתח ייצור",
    "rtl and ltr": "abc מפתח 123 مفتاح xyz",
    "rtl with brackets": "(מפתח) [b]",
    "thai": "กุญแจสำคัญ",
    "devanagari": "कुंजी उत्पादन",
    "tibetan stack": "རྒྱལ་པོ",
    "hangul jamo": "\u1100\u1161\u11a8",
    "hangul": "생산 열쇠",
    "cjk": "生产密钥",
    "cjk mixed width": "a生b产c",
    "fullwidth": "［ｂｏｌｄ］ｘ",
    "halfwidth katakana": "ｷｰ",
    "emoji": "🔑 key",
    "emoji family": "👨\u200d👩\u200d👧\u200d👦",
    "emoji skin tone": "👍🏽👍🏿",
    "emoji flag": "🇩🇪🇫🇷",
    "emoji half flag": "🇩",
    "emoji three halves": "🇩🇪🇫",
    "emoji england": "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "emoji keycap": "1\ufe0f\u20e3",
    "emoji heart selector": "❤\ufe0f❤\ufe0e",
    "emoji pirate": "🏴\u200d☠\ufe0f",
    "emoji joiner chain": "\u200d".join("😀" * 30),
    "dangling joiner": "😀\u200d",
    "ligature": "ﷺ",
    "widest character": "𒐫",
    "three em dash": "⸻",
    "box drawing": "│├─┤└┘█░",
    "cursor look-alike": "▌● name",
    "own marks": "‹U+202E› ␛ …",
    "control pictures": "␀␛␡",
    "homoglyphs": "рrоduсtiоn",
    "greek question mark": "a;b",
    "dotless i": "İIıi",
    "sharp s": "ẞß",
    "final sigma": "ΟΔΟΣ",
    "nfd": unicodedata.normalize("NFD", "Ångström é ü"),
    "fraction slash": "1⁄2",
    "superscript digits": "¹²³",
    "circled digits": "①②③",
}

_SYNTAX = (
    "",
    " ",
    "   ",
    "\n",
    "\n\n\n",
    "\r",
    " \t \n ",
    "\xa0\u2003",
    " leading",
    "trailing ",
    "a  b   c",
    "%s",
    "%s%s%s%n",
    "%(name)s",
    "100%",
    "%",
    "{0}",
    "{}",
    "{name!r:>{width}}",
    "{self.__class__}",
    "${HOME}",
    "$(reboot)",
    "`reboot`",
    "; rm -rf / #",
    "| nc evil 1",
    "&& true",
    "> /dev/null",
    "'; DROP TABLE keys; --",
    '" OR "1"="1',
    "<script>alert(1)</script>",
    "<b>x</b>",
    "&lt;&amp;&#27;",
    "<!-- -->",
    "]]>",
    '{"data": []}',
    '{"a":1,"a":2}',
    '"',
    '"quoted"',
    "'",
    "''",
    '\\"',
    "\\u001b[31m",
    "\\x1b[31m",
    "\\033[31m",
    "\\e[31m",
    "^[[31m",
    "a,b;c\td",
    "=HYPERLINK(1)",
    "+1+1",
    "@SUM(A1)",
    "../../etc/passwd",
    "..",
    ".",
    "/",
    "//evil.example/x",
    "a/b/c",
    "a?b=c&d#e",
    "%2e%2e%2f",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "http://[::1",
    "C:\\Windows",
    "-rf",
    "--help",
    "-",
    "—",
    "…",
    "null",
    "None",
    "undefined",
    "true",
    "False",
    "NaN",
    "Infinity",
    "-Infinity",
    "-0",
    "1e999",
    "1e-999",
    "0x10",
    "1_000",
    "1,5",
    "007",
    "9" * 400,
    "١٢٣",
    "１２３",
    "½",
    "$1.00",
    "2026-13-45T99:99:99Z",
    "0000-00-00",
    "9999-12-31T23:59:59Z",
    "daily",
    "state:expired",
    "-word",
    "used>80",
    '"unclosed',
    "a:b:c",
    "limit>>",
    "gw-v1-abc...123",
    "Bearer x",
    "q",
    "y",
    "__proto__",
    "constructor",
    "__init__",
    "a" * 64,
    "x" * 501,
    "wide words " * 60,
    "生" * 300,
)


def _families() -> Iterable[tuple[str, str]]:
    yield from ((f"markup {number}", text) for number, text in enumerate(MARKUP))
    yield from ((f"escape {name}", text) for name, text in ESCAPES.items())
    for number in (*range(0x20), 0x7F):
        yield f"c0 {number:02x}", f"a{chr(number)}b"
    for number in range(0x80, 0xA0):
        yield f"c1 {number:02x}", f"a{chr(number)}b"
    yield from ((f"bidi {name}", f"a{chr(code)}bc 12") for name, code in _BIDI.items())
    yield "bidi file name", "invoice\u202efdp.exe"
    yield "bidi nested", "\u2067" * 130 + "x" + "\u2069" * 130
    yield from ((f"invisible {name}", f"a{chr(code)}b") for name, code in _INVISIBLE.items())
    yield "invisible only", "\u200b\u200c\u200d\u2060\ufeff"
    yield "invisible many", "a" + "\u200b" * 500 + "b"
    yield from ((f"unicode {name}", text) for name, text in _UNICODE.items())
    yield from ((f"syntax {number}", text) for number, text in enumerate(_SYNTAX))
    yield "mixed", "\x1b[31mred\x07\u202eevil\u200b[bold]x[/bold]\x9b2J\ud800\r\nnext"
    yield "mixed tail", "ok" + "".join(map(chr, (*range(32), *range(127, 160)))) + "[/"
    yield "mixed scripts", "[b]生\u202eمفتاح\x1b]0;x\x07👨\u200d👩\u0301\t\ud83d"


HUGE: Mapping[str, str] = {
    "huge ascii": "x" * HUGE_LENGTH,
    "huge words": "word " * (HUGE_LENGTH // 5),
    "huge wide": "生" * (HUGE_LENGTH // 3),
    "huge escapes": "\x1b[31m" * (HUGE_LENGTH // 5),
    "huge markup": "[b]" * (HUGE_LENGTH // 3),
    "huge combining": "a" + "\u0301" * (HUGE_LENGTH // 2),
    "huge newlines": "a\n" * (HUGE_LENGTH // 2),
    "huge joiners": "😀\u200d" * (HUGE_LENGTH // 8),
    "huge nulls": "\0" * HUGE_LENGTH,
    "huge surrogates": "\ud800" * (HUGE_LENGTH // 3),
}

CORPUS: Mapping[str, str] = {**dict(_families()), **HUGE}
"""Name -> text. Every text is there once."""

SMALL: Mapping[str, str] = {name: text for name, text in CORPUS.items() if name not in HUGE}
