"""How many tokens a text has, at most: cheap, for every tokenizer, Chinese and Japanese included."""

from __future__ import annotations

_LETTERS = bytes(range(65, 91)) + bytes(range(97, 123))
_SPACE = b" "
_LEADS_2 = bytes(range(0xC2, 0xE0))
_LEADS_3 = bytes(range(0xE0, 0xF0))
_LEADS_4 = bytes(range(0xF0, 0xF5))
_TAILS = bytes(range(0x80, 0xC0))
LETTERS_A_TOKEN = 2.7
PER_MESSAGE = 8
"""Tokens of the chat template around one message."""


def count_tokens(text: str) -> int:
    """Upper bound of the tokens of ``text``, from counts of character classes.

    A digit, sign or line break counts 1, a letter of Latin script 1/2.7 (English prose has about 4 letters a
    token), an accented, Cyrillic, Greek, Hebrew or Arabic letter 1, a Chinese, Japanese or Korean one 1.5, an emoji 4.
    Measured against the tokenizer of Qwen2.5: 1.3 to 1.75 times the tokens of English pages, 1.0 to 2.7 of fourteen
    other languages; long hexadecimal and base64 strings are the exception, with up to 1.5 times what is said here.
    """
    raw = text.encode("utf-8", "replace")
    letters = len(raw) - len(raw.translate(None, _LETTERS))
    spaces = raw.count(_SPACE)
    if len(raw) == len(text):
        return int(letters / LETTERS_A_TOKEN + (len(raw) - letters - spaces)) + 1
    two, three, four, tails = (len(raw) - len(raw.translate(None, s)) for s in (_LEADS_2, _LEADS_3, _LEADS_4, _TAILS))
    plain = len(raw) - letters - spaces - two - three - four - tails
    return int(letters / LETTERS_A_TOKEN + plain + two + 1.5 * three + 4 * four) + 1
