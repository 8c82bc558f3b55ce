"""Words before the rows of sysstat that are not samples: ``Average:``, ``Last:``, ``Summary:``, in every language.

From the catalogues of sysstat (``nls/*.po``, 12.6 and 12.7, in the order of the languages' codes) and output in
public repositories.  ``sar -x`` and ``-X`` of old versions also print ``Last:``, ``sar -x`` from 12.7 on ``Minimum:``
and ``Maximum:``.  Several languages share the spelling of these three, so they do not show the language of a text.
"""

import re
from typing import NamedTuple


def _words(text: str) -> frozenset[str]:
    return frozenset(re.split(" *, *", text))


_AVERAGES = _words(
    "gemideld, сярэдняе, průměr, middel, durchschn., meznombro, media, batezbestekoa, keskiarvo, moyenne, medie, "
    "prosjek, átlag, rata-rata, 平均値, საშუალო, 평균값, 평균, орточо, vidēji, medja, gj.snitt, gemiddeld, średnia, "
    "média, среднее, priemer, просек, genomsnitt, ortalama, середнє, trung bình, 平均时间, 平均時間, 平均值"
)
_SUMMARIES = _words(
    "зводка, souhrn, resume, zusammenfassung, resumo, resumen, laburpena, yhteenveto, résumé, sintesi, sažetak, "
    "összegzés, ringkasan, sommario, サマリ, შეჯამება, 요약, kopsavilkums, sammendrag, samenvatting, podsumowanie, "
    "sumário, rezumat, сводка, súhrn, сажетак, sammanfattning, özet, резюме, tổng kết, 总计"
)
_MINIMUM = re.compile(r"m[iíi]n[iíi]m\w*|m[iі]n|минимум|мінімум|минимальное|最小[值値]?|최[소솟]값?")
_MAXIMUM = re.compile(r"m[aá][xks]+[iíy]m\w*|max|максимум|максимальное|最大[值値]?|최[대댓]값?")


class Word(NamedTuple):
    """Meaning of a word before a row."""

    statistic: str  # `average`, `last`, `minimum`, `maximum` or `summary`; empty for an unknown word
    foreign: bool | None  # Whether the word is not English; None if several languages share it


def word_of(label: str) -> Word:
    """Return the meaning of a word, with or without its colon.

    Examples
    --------
    >>> word_of("Last:"), word_of("Média")
    (Word(statistic='last', foreign=None), Word(statistic='average', foreign=True))
    """
    word = label.strip().rstrip(":：").strip().casefold()
    if word in ("average", "summary"):
        return Word(word, False)
    if word in _AVERAGES:
        return Word("average", True)
    if word in _SUMMARIES:
        return Word("summary", True)
    if word == "last":
        return Word("last", None)
    if _MINIMUM.fullmatch(word):
        return Word("minimum", None)
    return Word("maximum" if _MAXIMUM.fullmatch(word) else "", None)
