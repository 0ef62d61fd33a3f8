"""Raw lines to tokens: which reader a line belongs to. A line that comes again word for word is looked up, not read again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from sotprobe.paddle_compat.log_lines.sot import EMBEDDED, FAMILIES
from sotprobe.readers.grammar import BLANK, MALFORMED, PLAIN, UNRECOGNISED, Grammar, Token
from sotprobe.readers.lines import decode, last_shown, split_rank

# Heads are first told apart by this many characters; none is shorter.
_KEY = 4
# A line is remembered when it comes for the second time: most lines of a user or of glog never do.
_MOST_SEEN = 100_000
_MEMO_BYTES = 32 << 20
_MEMO_LINE = 256 << 10
_OVERHEAD = 800  # about what a remembered line takes beyond its text, and the text is kept twice
TEXT = "text"

# Stands for any quick line of the first reader in a file's only process, so that the loop over lines can tell it by identity.
QUICK = Token("", "quick", "", quick=True)


class Tokenizer:
    """One for a file. ``memo`` maps raw lines to their tokens; it is emptied when it has grown to 32 MB."""

    def __init__(self, grammars: Sequence[Grammar]):
        self._grammars = grammars
        self._quick = Token(grammars[0].name, "quick", "", quick=True)
        self._heads = _by_key(grammars)
        self._inner_lines = [pair for grammar in grammars for pair in getattr(grammar, "inside", ())]
        self.memo: dict[bytes, Token] = {}
        self._quick_tokens: dict[bytes, Token] = {}  # what QUICK stands for
        self._memo_bytes = 0
        self._seen: set[int] = set()
        self._spaced = True  # whether the launcher puts a space behind its prefix, as told by the last line that is not indented

    def token(self, raw: bytes) -> Token:
        """The token of a line; also puts it into ``memo`` when it may come again."""
        rank, text = split_rank(decode(raw).rstrip("\r"))
        own = rank  # the process that is named directly before the text
        if "\r" in text:
            shown = last_shown(text)
            if not text.startswith(shown):  # what is shown came behind another state of a progress bar
                own, shown = split_rank(shown)
                rank = own or rank
            text = shown
        if own is not None:
            text = self._behind_rank(text)
        token = self._of_text(text)
        token.rank = rank
        if token.keep:
            self._remember(raw, token)
        return token

    def _behind_rank(self, text: str) -> str:
        """A line without the space that the launcher put before it, if it is one that puts a space."""
        if text[:1] not in ("", " "):
            self._spaced = False
        elif text[1:2] not in ("", " "):
            self._spaced = True
        return text[1:] if self._spaced and text[:1] == " " else text

    def quick(self, raw: bytes) -> Token:
        """The token of a line that ``memo`` has as QUICK."""
        return self._quick_tokens[raw]

    def known(self, lines: Sequence[bytes]) -> tuple[list[Token], int]:
        """The tokens of the lines up to the first that is not remembered, is not understood, or names a process; and how many
        there are up to the last of the first reader."""
        tokens = []
        own = 0
        for token in map(self.memo.get, lines):
            if token is None or token.rank is not None or token.kind in (UNRECOGNISED, MALFORMED):
                break
            tokens.append(self._quick if token is QUICK else token)
            if tokens[-1].reader == self._quick.reader:
                own = len(tokens)
        return tokens, own

    def _remember(self, raw: bytes, token: Token) -> None:
        mark = hash(raw)
        if mark not in self._seen:
            if len(self._seen) >= _MOST_SEEN:
                self._seen.clear()
            self._seen.add(mark)
            return
        if len(raw) > _MEMO_LINE or raw in self.memo:
            return
        self._memo_bytes += 2 * len(raw) + _OVERHEAD
        if self._memo_bytes > _MEMO_BYTES:
            self.memo.clear()
            self._quick_tokens.clear()
            self._memo_bytes = 2 * len(raw) + _OVERHEAD
        if token.quick and token.rank is None and token.reader == self._quick.reader:
            self._quick_tokens[raw] = token
            token = QUICK
        self.memo[raw] = token

    def _of_text(self, text: str) -> Token:
        found = self._by_head(text)
        if found is None:
            found = self._loose(text)
        if found is None and (start := self._inside(text)):
            found = self._by_head(text[start:]) or self._loose(text[start:])
        if found is not None:
            return found
        if not text or text.isspace():
            return Token(TEXT, BLANK, text)
        return Token(TEXT, UNRECOGNISED if text.startswith(FAMILIES) else PLAIN, text)

    def _inside(self, text: str) -> int:
        """Where a line of Paddle begins behind something that was printed without a newline; 0 when none does."""
        if "[" in text or " is <code" in text or "start subgraph" in text:
            found = EMBEDDED.search(text)
            if found is not None:
                return found.start()
        for literal, line in self._inner_lines:
            if literal in text and (found := line.search(text)) is not None:
                return found.start()
        return 0

    def _by_head(self, text: str) -> Token | None:
        for head, grammar in self._heads.get(text[:_KEY], ()):
            if text.startswith(head):
                token = grammar.token(head, text)
                if token is not None:
                    return token
        return None

    def _loose(self, text: str) -> Token | None:
        for grammar in self._grammars:
            token = grammar.loose(text)
            if token is not None:
                return token
        return None


def _by_key(grammars: Sequence[Grammar]) -> dict[str, list[tuple[str, Grammar]]]:
    table: dict[str, list[tuple[str, Grammar]]] = defaultdict(list)
    for grammar in grammars:
        for head in grammar.heads:
            if len(head) < _KEY:
                raise ValueError(f"{grammar.name}: {head!r} is too short to tell a line by")
            table[head[:_KEY]].append((head, grammar))
    for entries in table.values():  # of two heads that fit, the longer says more
        entries.sort(key=lambda entry: -len(entry[0]))
    return dict(table)
