#!/usr/bin/env python3
"""Opens translated documents with the libraries that wrote them, and compares structure and formatting.

    mkdir out && DRAGOMAN_DOCUMENTS=out build/release/tests/test_document --gtest_filter='*Gallery*'
    venv/bin/python tests/golden/check_documents.py out

The translations are the originals in upper case. The packages needed are those of make_document_gallery.py; with
LibreOffice (`soffice`) it also compares what that shows.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import warnings
import zipfile

import docx
import ebooklib
import ebooklib.epub
import lxml.etree
import odf.opendocument
import odf.teletype
import odf.text
import openpyxl
import pptx
from docx.oxml.ns import qn
from translate.storage import tmx, xliff

warnings.simplefilter("ignore")
gallery = pathlib.Path(__file__).resolve().parent.parent / "document/gallery"


def upper(text):
    return "".join(c.upper() if c.isascii() else c for c in text or "")


def letters(runs):
    """(character, format) without white space, whose format nobody sees."""
    return [(c, form) for text, form in runs for c in upper(text) if not c.isspace()]


def described_docx(path):
    document = docx.Document(path)
    stories = [document.element.body] + [part for s in document.sections for part in (s.header._element, s.footer._element)]
    stories += [comment._comment_elm for comment in document.comments]
    for story in stories:
        for p in story.iter(qn("w:p")):
            paragraph = docx.text.paragraph.Paragraph(p, document)
            runs = [docx.text.run.Run(r, paragraph) for r in p.iter(qn("w:r"))]
            around = [[a.tag for a in run._r.iterancestors() if a.tag in (qn("w:hyperlink"), qn("w:ins"), qn("w:sdt"))] for run in runs]
            yield p.style, letters(
                ("".join(t.text or "-" for t in run._r if t.tag in (qn("w:t"), qn("w:noBreakHyphen"))), (run.bold, run.italic, run.underline, str(tags)))
                for run, tags in zip(runs, around))
            kept = ("tab", "br", "fldChar", "instrText", "delText", "drawing", "footnoteReference", "commentReference", "bookmarkStart", "hyperlink")
            yield [(e.tag, dict(e.attrib)) for e in p.iter() if e.tag in {qn(f"w:{name}") for name in kept}]
    yield [[(upper(cell.text), cell.width) for cell in row.cells] for table in document.tables for row in table.rows]


def described_pptx(path):
    slides = pptx.Presentation(path)
    for slide in slides.slides:
        yield upper(slide.notes_slide.notes_text_frame.text) if slide.has_notes_slide else None
        for shape in slide.shapes:
            yield shape.shape_type, shape.name, shape.left, shape.top, shape.width, shape.height
            if shape.has_text_frame:
                for p in shape.text_frame.paragraphs:
                    yield p.level, p.alignment, upper(p.text), letters((r.text, (r.font.bold, r.font.italic)) for r in p.runs)
            if shape.has_table:
                yield [[upper(cell.text) for cell in row.cells] for row in shape.table.rows]
            if shape.has_chart:
                yield upper(shape.chart.chart_title.text_frame.text), [upper(c) for c in shape.chart.plots[0].categories]
                yield [(upper(s.name), list(s.values)) for s in shape.chart.plots[0].series]


def described_xlsx(path):
    book = openpyxl.load_workbook(path, rich_text=True)
    for sheet in book:
        yield sheet.title, {t.name: (t.ref, t.column_names) for t in sheet.tables.values()}, len(sheet._charts)
        for row in sheet:
            for cell in row:
                is_text = cell.data_type != "f" and not isinstance(cell.value, (int, float))
                rich = isinstance(cell.value, openpyxl.cell.rich_text.CellRichText)
                value = letters((str(b), getattr(getattr(b, "font", None), "b", None)) for b in cell.value) if rich else cell.value
                yield cell.coordinate, upper(value) if is_text and isinstance(value, str) else value, cell.data_type, cell.font.b
                yield upper(cell.comment.text) if cell.comment else None
        for table in sheet.tables.values():
            assert [c.value for c in sheet[table.ref][0]] == table.column_names


def described_odf(path):
    """The XML: elements in their order, and text in upper case."""
    if path.suffix != ".fodt":
        for p in odf.opendocument.load(str(path)).getElementsByType(odf.text.P):
            yield upper(odf.teletype.extractText(p)).split()
    space_tag = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}s"
    entries = [path.read_bytes()]
    if path.suffix != ".fodt":
        with zipfile.ZipFile(path) as package:
            assert package.infolist()[0].filename == "mimetype" and package.infolist()[0].compress_type == 0
            entries = [package.read("content.xml"), package.read("styles.xml")]
    for entry in entries:
        tree = lxml.etree.fromstring(entry, lxml.etree.XMLParser(huge_tree=True))
        for space in tree.iter(space_tag):
            space.tail = " " + (space.tail or "")
        lxml.etree.strip_elements(tree, space_tag, with_tail=False)
        for element in tree.iter():
            yield element.tag, dict(element.attrib), upper(element.text).split(), upper(element.tail).split()


def described_epub(path):
    with zipfile.ZipFile(path) as package:
        assert package.infolist()[0].filename == "mimetype" and package.infolist()[0].compress_type == 0
    book = ebooklib.epub.read_epub(str(path))
    yield upper(book.title), [upper(link.title) for link in book.toc], book.spine
    for item in book.get_items():
        yield item.file_name, item.media_type
        if item.media_type == "application/xhtml+xml":
            for element in lxml.etree.fromstring(item.content).iter():
                attributes = {k: upper(v) if k in ("alt", "title") else v for k, v in element.attrib.items() if not k.endswith("lang")}
                yield element.tag, attributes, upper(element.text).split(), upper(element.tail).split()


def targets(path, store, is_original):
    for unit in store.parsestring(path.read_bytes()).units:
        was_there = unit.target if unit.target and unit.target != upper(unit.source) else None
        yield unit.source, was_there or upper(unit.source)
        assert is_original or unit.target, f"{path}: no target of {unit.source}"


def described(path, is_original):
    if path.suffix == ".xlf":
        return list(targets(path, xliff.xlifffile, is_original))
    if path.suffix == ".tmx":
        return sorted(unit.source for unit in tmx.tmxfile.parsestring(path.read_bytes()).units)
    by_ending = {".docx": described_docx, ".pptx": described_pptx, ".xlsx": described_xlsx, ".epub": described_epub}
    return list(by_ending.get(path.suffix, described_odf)(path))


def as_libreoffice_shows(path):
    """In upper case, as words."""
    to = {".docx": "txt:Text", ".odt": "txt:Text", ".fodt": "txt:Text", ".xlsx": "csv", ".ods": "csv", ".pptx": "fodp", ".odp": "fodp"}
    if path.suffix not in to or shutil.which("soffice") is None:
        return None
    with tempfile.TemporaryDirectory() as scratch:
        command = ["soffice", f"-env:UserInstallation=file://{scratch}/profile", "--headless", "--convert-to", to[path.suffix]]
        subprocess.run([*command, "--outdir", scratch, str(path)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        (shown,) = (p for p in pathlib.Path(scratch).iterdir() if p.is_file())
        if to[path.suffix] != "fodp":
            return upper(shown.read_text()).replace("\u2011", "-").split()
        namespace = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}p"
        return [upper("".join(p.itertext())).split() for p in lxml.etree.parse(shown, lxml.etree.XMLParser(huge_tree=True)).iter(namespace)]


failures = 0
for original in sorted(gallery.iterdir()):
    translated = pathlib.Path(sys.argv[1]) / original.name
    before, after = described(original, True), described(translated, False)
    differences = [pair for pair in zip(before, after) if pair[0] != pair[1]]
    same = not differences and len(before) == len(after)
    shown = as_libreoffice_shows(original) == as_libreoffice_shows(translated)
    changed = original.read_bytes() != translated.read_bytes()
    print(f"{original.name:26} {len(before):5} compared  {'same' if same else 'DIFFERENT'}  {'' if shown else 'SHOWN DIFFERENTLY'}")
    for before_one, after_one in differences[:3]:
        print(f"    {before_one}\n    {after_one}")
    failures += not (same and shown and changed)
sys.exit(failures > 0)
