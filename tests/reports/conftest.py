# ruff: noqa: E501 -- tables are easier to read with one case a line
"""Small PDF and Word files made by hand."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

import pytest


def _pdf(lines: list[str], link: str | None = None) -> bytes:
    """A one-page PDF with these lines of text and a link over it."""
    text = "BT /F1 12 Tf 72 720 Td 14 TL " + " ".join(f"({line}) Tj T*" for line in lines) + " ET"
    annotation = (
        f"<< /Type /Annot /Subtype /Link /Rect [72 700 200 730] /A << /S /URI /URI ({link}) >> >>" if link else ""
    )
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        f"/Resources << /Font << /F1 5 0 R >> >> /Annots [{annotation}] >>",
        f"<< /Length {len(text)} >>\nstream\n{text}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out = io.BytesIO(b"%PDF-1.4\n")
    out.seek(0, io.SEEK_END)
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(out.tell())
        out.write(f"{number} 0 obj\n{body}\nendobj\n".encode())
    start = out.tell()
    out.write(f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode())
    out.write("".join(f"{offset:010} 00000 n \n" for offset in offsets).encode())
    out.write(f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode())
    return out.getvalue()


_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'

DOCUMENT = f"""<?xml version="1.0"?><w:document {_W}><w:body>
<w:p><w:pPr><w:pStyle w:val="Title"/></w:pPr><w:r><w:t>A report</w:t></w:r></w:p>
<w:p><w:pPr><w:pStyle w:val="H2"/></w:pPr><w:r><w:t>Growth</w:t></w:r></w:p>
<w:p><w:r><w:t xml:space="preserve">It grew by 5% </w:t></w:r><w:hyperlink r:id="rId1"><w:r><w:t>here</w:t></w:r></w:hyperlink><w:r><w:t>.</w:t></w:r>
<w:r><w:footnoteReference w:id="2"/></w:r></w:p>
<w:p><w:r><w:t>It fell.</w:t></w:r><w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>1</w:t></w:r></w:p>
<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>an item</w:t></w:r></w:p>
<w:tbl><w:tr><w:tc><w:p><w:r><w:t>City</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>People</w:t></w:r></w:p></w:tc></w:tr>
<w:tr><w:tc><w:p><w:r><w:t>Oslo</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>7|8</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
<w:p><w:pPr><w:pStyle w:val="H2"/></w:pPr><w:r><w:t>References</w:t></w:r></w:p>
<w:p><w:r><w:t>[1] One https://b.org/1</w:t></w:r></w:p>
</w:body></w:document>"""

FOOTNOTES = f"""<?xml version="1.0"?><w:footnotes {_W}>
<w:footnote w:type="separator" w:id="0"><w:p/></w:footnote>
<w:footnote w:id="2"><w:p><w:r><w:t>Two https://c.org/2</w:t></w:r></w:p></w:footnote></w:footnotes>"""

RELATIONS = """<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="rId1" Type="hyperlink" Target="https://a.org/x" TargetMode="External"/></Relationships>"""

STYLES = (
    f"""<?xml version="1.0"?><w:styles {_W}><w:style w:styleId="H2"><w:name w:val="heading 2"/></w:style></w:styles>"""
)


def _docx(**parts: str) -> bytes:
    """A Word document; parts by name replace the usual ones."""
    files = {
        "word/document.xml": DOCUMENT,
        "word/footnotes.xml": FOOTNOTES,
        "word/_rels/document.xml.rels": RELATIONS,
        "word/styles.xml": STYLES,
        **parts,
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return out.getvalue()


@pytest.fixture
def pdf() -> Callable[..., bytes]:
    """Makes a PDF of lines of text and a link."""
    return _pdf


@pytest.fixture
def docx() -> Callable[..., bytes]:
    """Makes a Word document; parts by name replace the usual ones."""
    return _docx


@pytest.fixture
def document() -> str:
    """The main part of the usual Word document."""
    return DOCUMENT
