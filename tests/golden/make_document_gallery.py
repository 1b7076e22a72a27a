#!/usr/bin/env python3
"""Makes tests/document/gallery/: documents as the programs and libraries write them that people use.

    python3 -m venv venv && venv/bin/pip install python-docx python-pptx openpyxl xlsxwriter odfpy ebooklib translate-toolkit lxml
    venv/bin/python tests/golden/make_document_gallery.py [FOLDER]

LibreOffice (`soffice`) converts some of them; without it those are left as they are.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

import docx
import ebooklib.epub
import odf.office
import odf.opendocument
import odf.style
import odf.table
import odf.text
import openpyxl
import openpyxl.cell.rich_text
import openpyxl.cell.text
import openpyxl.chart
import openpyxl.comments
import openpyxl.worksheet.table
import pptx
import pptx.chart.data
import pptx.util
import xlsxwriter
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from translate.storage import tmx, xliff

root = pathlib.Path(__file__).resolve().parent.parent
folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else root / "document/gallery"
w = nsdecls("w")


def raw(paragraph, xml):
    for element in parse_xml(f"<w:p {w}>{xml}</w:p>"):
        paragraph._p.append(element)


def add_tricky_paragraphs(document):
    raw(document.add_paragraph("Inserted: "),
        '<w:ins w:id="1" w:author="A" w:date="2024-01-01T00:00:00Z"><w:r><w:t>new words</w:t></w:r></w:ins>'
        '<w:del w:id="2" w:author="A" w:date="2024-01-01T00:00:00Z"><w:r><w:delText>old words</w:delText></w:r></w:del>'
        '<w:r><w:t xml:space="preserve"> and the rest.</w:t></w:r>')
    raw(document.add_paragraph("On page "),
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText xml:space="preserve"> PAGE </w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>1</w:t></w:r>'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r><w:r><w:t xml:space="preserve"> of this report.</w:t></w:r>')
    raw(document.add_paragraph("Read "),
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
        '<w:r><w:instrText xml:space="preserve"> HYPERLINK "https://example.org/" </w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:rPr><w:u w:val="single"/></w:rPr><w:t>the manual</w:t></w:r>'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r><w:r><w:t xml:space="preserve"> first.</w:t></w:r>')
    raw(document.add_paragraph(),
        '<w:r w:rsidR="001"><w:rPr><w:lang w:val="en-US"/></w:rPr><w:t xml:space="preserve">Words that </w:t></w:r>'
        '<w:proofErr w:type="spellStart"/><w:r w:rsidR="002"><w:rPr><w:lang w:val="en-GB"/></w:rPr><w:t>spel</w:t></w:r>'
        '<w:r w:rsidR="003"><w:rPr><w:lang w:val="en-GB"/></w:rPr><w:t>ling</w:t></w:r><w:proofErr w:type="spellEnd"/><w:bookmarkStart w:id="7" w:name="here"/>'
        '<w:r><w:t xml:space="preserve"> checkers cut.</w:t></w:r><w:bookmarkEnd w:id="7"/>')
    raw(document.add_paragraph(),
        '<w:sdt><w:sdtPr><w:alias w:val="Name"/><w:text/></w:sdtPr><w:sdtContent><w:r><w:t>A content control</w:t></w:r>'
        '</w:sdtContent></w:sdt><w:r><w:t xml:space="preserve"> in a sentence &amp; more: co</w:t><w:noBreakHyphen/>'
        '<w:t>operation.</w:t></w:r>')


def make_docx(path):
    document = docx.Document()
    document.add_heading("A report on the harbour", 0)
    paragraph = document.add_paragraph("The quick ")
    paragraph.add_run("brown fox").bold = True
    paragraph.add_run(" jumps over the ")
    paragraph.add_run("lazy").italic = True
    paragraph.add_run(" dog, and over <small> things & large ones.")
    document.add_paragraph("The first item", style="List Bullet")
    broken = document.add_paragraph("One line")
    broken.add_run().add_break()
    broken.add_run("another line\tbehind a tab")
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip((table.cell(r, c) for r in range(2) for c in range(2)), ("Name", "Price", "Small boat", "12.50")):
        cell.text = text
    section = document.sections[0]
    section.header.paragraphs[0].text = "The header"
    section.footer.paragraphs[0].text = "The footer"
    document.add_comment(paragraph.runs[1], text="Is it a fox?", author="A reader", initials="AR")
    add_tricky_paragraphs(document)
    document.save(path)


def make_pptx(path):
    slides = pptx.Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[1])
    slide.shapes.title.text = "Fishing in the north"
    frame = slide.placeholders[1].text_frame
    frame.text = "Small boats"
    paragraph = frame.add_paragraph()
    for text, bold in (("They leave ", False), ("early", True), (" in the morning.", False)):
        run = paragraph.add_run()
        run.text = text
        run.font.bold = bold
    frame.add_paragraph().text = "One line\vanother line"
    slide.notes_slide.notes_text_frame.text = "Say this slowly."
    second = slides.slides.add_slide(slides.slide_layouts[5])
    second.shapes.title.text = "The catch"
    table = second.shapes.add_table(1, 2, pptx.util.Cm(1), pptx.util.Cm(4), pptx.util.Cm(8), pptx.util.Cm(2)).table
    table.cell(0, 0).text, table.cell(0, 1).text = "Cod", "12 t"
    data = pptx.chart.data.CategoryChartData()
    data.categories = ["Spring", "Autumn"]
    data.add_series("Herring", (1, 2))
    chart = second.shapes.add_chart(pptx.enum.chart.XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, pptx.util.Cm(6), pptx.util.Cm(6), data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "Fish by season"
    slides.save(path)


def make_xlsx(path):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Boats"
    for row in (["Boat", "Built"], ["The red boat", 1987], ["The & <blue> one", 2003]):
        sheet.append(row)
    rich, font = openpyxl.cell.rich_text, openpyxl.cell.text.InlineFont(b=True)
    sheet["A5"] = rich.CellRichText("A ", rich.TextBlock(font, "very bold"), " boat\nwith two lines")
    sheet["B5"] = "=SUM(B2:B3)"
    sheet["C5"] = '=IF(B2>1990,"new","old")'
    sheet["A6"] = "First line\nsecond line"
    sheet["A2"].comment = openpyxl.comments.Comment("Painted last year", "A reader")
    sheet.add_table(openpyxl.worksheet.table.Table(displayName="Boats1", ref="A1:B3"))
    chart = openpyxl.chart.BarChart()
    chart.title = "Years of building"
    chart.add_data(openpyxl.chart.Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
    sheet.add_chart(chart, "E2")
    book.save(path)


def make_inline_xlsx(path):
    book = xlsxwriter.Workbook(path, {"constant_memory": True})
    sheet = book.add_worksheet("Ports")
    bold = book.add_format({"bold": True})
    sheet.write_row(0, 0, ["A port in the west", 3.5, "  with spaces  "])
    sheet.write_rich_string(1, 0, "Some ", bold, "bold words", " here")
    sheet.insert_textbox(3, 3, "A box of text")
    book.close()


def make_odt(path):
    document = odf.opendocument.OpenDocumentText()
    bold = odf.style.Style(name="Bold", family="text")
    bold.addElement(odf.style.TextProperties(fontweight="bold"))
    document.automaticstyles.addElement(bold)
    document.text.addElement(odf.text.H(outlinelevel=1, text="The lighthouse"))
    paragraph = odf.text.P(text="It has stood on the ")
    paragraph.addElement(odf.text.Span(stylename=bold, text="northern cape"))
    paragraph.addText(" for two hundred years")
    note = odf.text.Note(noteclass="footnote", id="n1")
    note.addElement(odf.text.NoteCitation(text="1"))
    body = odf.text.NoteBody()
    body.addElement(odf.text.P(text="According to the keeper."))
    note.addElement(body)
    paragraph.addElement(note)
    paragraph.addText(" and shines ")
    paragraph.addElement(odf.text.A(href="https://example.org/", text="every night"))
    paragraph.addText(".")
    document.text.addElement(paragraph)
    spaced = odf.text.P(text="Two words")
    spaced.addElement(odf.text.S(c=2))
    spaced.addText("apart")
    spaced.addElement(odf.text.LineBreak())
    spaced.addText("and a second line")
    spaced.addElement(odf.text.Tab())
    spaced.addText("behind a tab")
    document.text.addElement(spaced)
    table = odf.table.Table(name="Lamps")
    table.addElement(odf.table.TableColumn(numbercolumnsrepeated=2))
    row = odf.table.TableRow()
    for text in ("Old lamp", "1907"):
        cell = odf.table.TableCell(valuetype="string")
        cell.addElement(odf.text.P(text=text))
        row.addElement(cell)
    table.addElement(row)
    document.text.addElement(table)
    document.save(path)


def make_epub(path):
    book = ebooklib.epub.EpubBook()
    book.set_identifier("dragoman-gallery")
    book.set_title("The sea and the land")
    book.set_language("en")
    chapter = ebooklib.epub.EpubHtml(title="At sea", file_name="sea.xhtml", lang="en")
    chapter.content = (
        '<html><head><title>At sea</title></head><body><h1>At sea</h1><p>The <b>old <i>captain</i></b> said: '
        '&quot;Wait&#160;here&quot;,<br/>and left.</p><p><a id="p1"></a>Fish &amp; chips<img src="a.png" alt="A plate of fish"/> '
        'are <code>good()</code>.</p><ul><li>One</li><li>Two <span class="pagebreak" id="pb"></span>three</li></ul></body></html>')
    book.add_item(chapter)
    book.toc = (chapter,)
    book.add_item(ebooklib.epub.EpubNcx())
    book.add_item(ebooklib.epub.EpubNav())
    book.spine = ["nav", chapter]
    ebooklib.epub.write_epub(str(path), book)


def make_xliff(path):
    store = xliff.xlifffile()
    store.setsourcelanguage("en")
    store.settargetlanguage("fr")
    for source, target in (("Open a file", None), ("Save", "Enregistrer"), ("Close <all> & quit", None)):
        unit = store.addsourceunit(source)
        if target:
            unit.settarget(target)
    path.write_bytes(bytes(store))


def make_tmx(path):
    store = tmx.tmxfile()
    for source, target in (("Good morning", "Bonjour"), ("Good evening", None)):
        if target:
            store.addtranslation(source, "en", target, "fr")
        else:
            store.addtranslation(source, "en", "Guten Abend", "de")
    path.write_bytes(bytes(store))


def convert(path, to, name):
    if shutil.which("soffice") is None:
        return
    with tempfile.TemporaryDirectory() as scratch:
        command = ["soffice", f"-env:UserInstallation=file://{scratch}/profile", "--headless", "--convert-to", to, "--outdir", scratch]
        subprocess.run([*command, str(path)], check=True, stdout=subprocess.DEVNULL)
        shutil.copy(pathlib.Path(scratch) / f"{path.stem}.{to}", folder / name)


folder.mkdir(parents=True, exist_ok=True)
make_docx(folder / "python-docx.docx")
make_pptx(folder / "python-pptx.pptx")
make_xlsx(folder / "openpyxl.xlsx")
make_inline_xlsx(folder / "xlsxwriter.xlsx")
make_odt(folder / "odfpy.odt")
make_epub(folder / "ebooklib.epub")
make_xliff(folder / "translate-toolkit.xlf")
make_tmx(folder / "translate-toolkit.tmx")
convert(folder / "python-docx.docx", "odt", "libreoffice.odt")
convert(folder / "odfpy.odt", "docx", "libreoffice.docx")
convert(folder / "python-pptx.pptx", "odp", "libreoffice.odp")
convert(folder / "python-pptx.pptx", "pptx", "libreoffice.pptx")
convert(folder / "openpyxl.xlsx", "ods", "libreoffice.ods")
convert(folder / "openpyxl.xlsx", "xlsx", "libreoffice.xlsx")
convert(folder / "odfpy.odt", "fodt", "libreoffice.fodt")
