"""Headings under which reports list their sources, in many languages."""

from __future__ import annotations

import itertools
import re

from .text import has_cjk, word_set

_STRONG = """
references|notes|reference|reference list|list of references|bibliography|works cited|literature cited|citations
|cited sources|sources cited|cited works|footnotes|endnotes|sources and references|references and sources
|source list|list of sources|reference links|sources used|sources consulted|source links|source urls|urls
|参考文献|參考文獻|参考资料|參考資料|参考来源|參考來源|参考链接|参考链结|參考連結|引用来源|引用來源|引用文献
|引用文獻|引文|主要参考文献|参考文献列表|文献|来源列表|参考文献与资料|参考文献和资料来源|参考文献与数据来源
|参考与引用|引用与参考|信息来源|资料来源|資料來源|数据来源|數據來源|来源|來源|引用|脚注|尾注|注释|註釋|参考
|参考文章|参考网址|参考网站|参考书目|参考材料|参考信息|参考出处|相关链接|相关资料|来源链接|引用链接|资料链接
|原文链接|引用的著作|引用的文献|引用资料|延伸阅读|数据出处|信息出处|参考サイト|引用文献|参考資料・出典|資料出處
|sources des citations|referências citadas|referenze|fonti consultate|verwendete quellen|quellennachweise
|资料出处|出处|出典|引用元|情報源|参照|参照文献|参考情報|脚註|참고문헌|참고 문헌|출처|참고자료|참고 자료|인용
|각주|quellen|quellenverzeichnis|quellenangaben|literatur|literaturverzeichnis|referenzen|einzelnachweise|belege
|fußnoten|quellen und literatur|nachweise|références|bibliographie|sources et références
|références bibliographiques|notes et références|ouvrages cités|referencias|fuentes|bibliografía
|referencias bibliográficas|obras citadas|fuentes consultadas|citas|referências|fontes|bibliografia
|referências bibliográficas|obras citadas|notas|riferimenti|fonti|riferimenti bibliografici|opere citate|note
|bronnen|referenties|literatuur|literatuurlijst|bronvermelding|voetnoten|źródła|przypisy|literatura|odniesienia
|reference a zdroje|zdroje|odkazy|použité zdroje|källor|referenser|källförteckning|kilder|referanser|kildeliste
|litteratur|lähteet|viitteet|источники|литература|список литературы|список источников|ссылки|примечания
|использованные источники|библиография|джерела|література|посилання|список джерел|kaynaklar|kaynakça|referanslar
|dipnotlar|المراجع|المصادر|مراجع|مصادر|المصادر والمراجع|מקורות|ביבליוגרפיה|منابع|संदर्भ|स्रोत|সূত্র|πηγές
|αναφορές|βιβλιογραφία|források|hivatkozások|irodalom|surse|referințe|bibliografie|tài liệu tham khảo|nguồn
|nguồn tham khảo|referensi|daftar pustaka|sumber|rujukan|อ้างอิง|แหล่งที่มา|แหล่งอ้างอิง|เอกสารอ้างอิง|geciteerd werk
|cytowane prace|citerade verk|citerede værker|siterte verk|lainatut teokset|lähdeluettelo|citovaná díla|citované diela
|idézett művek|lucrări citate|цитовані джерела|цитированные работы|nguồn trích dẫn|karya yang dikutip
|alıntılanan çalışmalar|obres citades|citirani radovi|ผลงานที่อ้างอิง|उद्धृत कार्य|έργα που αναφέρονται|œuvres citées
|المراجع المستشهد بها|الأعمال المقتبسة|מקורות מצוטטים|参考にした資料|参考元|인용된 저작물|인용 자료|weiterführende links
|список использованных источников|список использованной литературы|библиографический список
|список використаних джерел|wykaz źródeł|seznam použité literatury|seznam zdrojů|použitá literatura|felhasznált irodalom
|forrásjegyzék|surse bibliografice|webgrafía|webgrafia|sitografia|bibliografia e sitografia|quellenliste
|bronnenlijst|referentielijst|referenslista|källhänvisningar|kildehenvisninger|referanseliste|referenceliste
|参考url|参考リンク|参照元|資料出典|参考した資料|참고한 자료|자료 출처|참고 링크|主要来源|信息来源汇总|文献来源
|参考依据|资料与来源|参考资料来源|来源清单|链接|連結|リンク
|further reading|zitierte werke|liens|enlaces|collegamenti|verweise"""

_NAMES = frozenset(name for name in _STRONG.replace("\n", "").casefold().split("|") if name)
_CORE = word_set(
    """references reference sources source bibliography citations citation links link urls literature footnotes
    endnotes quellen referenzen nachweise belege verweise fuentes referencias bibliografía enlaces références fontes
    referências bibliografia fonti riferimenti bronnen referenties źródła källor kilder lähteet источники литература
    ссылки источников литературы ссылок джерела"""
)
_AROUND = word_set(
    """key main primary secondary selected full complete list of all cited consulted used and the further reading
    additional data web online official report this for in works notes research supporting supplementary materials
    external internet academic news s amp & urls with documents evidence appendix annex section inline numbered works
    zitierte verwendete genutzte weitere wichtigste wichtige und citadas citados consultadas utilizadas principales
    adicionales y utilisées consultées citées principales complémentaires et des usadas e citate consultate utilizzate
    geraadpleegde gebruikte en cytowane wykorzystane i использованные использованная цитируемые и список основные
    используемые использованной consultada consultado citada liste elenco delle
    register index table log ledger inventory catalogue catalog directory overview"""
)
_NUMBERING = re.compile(
    r"\A(?:(?:appendix|annex|annexe|anhang|anexo|附录|附錄)\s?(?:[a-z0-9]{1,2}(?=\s))?\s*)?(?:(?:\d{1,3}|[ivxlc]{1,6}|[a-z]|[一二三四五六七八九十百]{1,4})(?:[.)、．:：]|(?=\s))\s*)*",
    re.IGNORECASE,
)
_NOISE = re.compile(r"[*_`#~:：.。·•\-–—\[\]|>]+|[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f]+")
_TAGS = re.compile(r"</?[a-zA-Z][^<>]{0,80}>")
_PAREN = re.compile(r"[(（]([^()（）]{0,60})[)）]")
_WORDS = re.compile(r"[^\W\d_]+|&")


_KNOWN = _CORE.union(*(_WORDS.findall(name) for name in _NAMES)) - word_set("a and of et und des")
"""Words of which one stands in every such heading."""
_BEGINNINGS = frozenset(name[:2] for name in _NAMES if not name[0].isascii())
"""Or, where words are not parted by blanks, two signs of which one stands there."""


def is_reference_title(title: str) -> bool:
    """Whether a heading announces a list of sources, whatever its numbering, emphasis, tags or translation."""
    if len(title) > 90:
        return False
    folded = title.casefold()
    if _KNOWN.isdisjoint(_WORDS.findall(folded)) and (
        folded.isascii() or _BEGINNINGS.isdisjoint(map("".join, itertools.pairwise(folded)))
    ):
        return False
    plain = _NOISE.sub(" ", without_tags(title)).strip()
    inside = _PAREN.search(plain)
    outer = _PAREN.sub(" ", plain).strip()
    if _named(outer):
        return True
    return inside is not None and not outer and _named(inside[1])


def without_tags(title: str) -> str:
    """A heading without the HTML around it (``<summary>Sources</summary>``)."""
    return _TAGS.sub(" ", title) if "<" in title else title


_LISTED = re.compile(r"(?:一覧|リスト|列表|清单|清單|\s?목록)\Z")
"""What says only that it is a list."""


def _named(name: str) -> bool:
    name = _LISTED.sub("", " ".join(name.casefold().split()))
    if not name:
        return False
    if name in _NAMES or _NUMBERING.sub("", name, count=1).strip() in _NAMES:
        return True
    name = _NUMBERING.sub("", name, count=1).strip()
    parts = [
        p.strip()
        for p in re.split(r"\s*[/&+、・]\s*| and | und | et | y | e | en | и | 与 | 和 | 및 |与|和|及", name)
        if p.strip()
    ]
    if len(parts) > 1 and all(p in _NAMES for p in parts):
        return True
    found = _WORDS.findall(name)
    cjk, latin = [w for w in found if has_cjk(w)], [w for w in found if not has_cjk(w)]
    if cjk and latin:
        return " ".join(cjk) in _NAMES and (" ".join(latin) in _NAMES or bool(_CORE.intersection(latin)))
    return len(found) <= 7 and bool(_CORE.intersection(found)) and all(w in _CORE or w in _AROUND for w in found)
