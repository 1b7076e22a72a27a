"""What independent readers find in documents: the structure that a translation must keep, as parts that can be compared.

A judge takes a file's path and returns {part: Counter or list}; it raises any exception if it cannot read the file.
"""
import collections
import contextlib
import csv as csv_reader
import io
import json as json_reader
import re
import shutil
import subprocess
import warnings
import zipfile
import zlib
from html.entities import name2codepoint
from html.parser import HTMLParser

warnings.simplefilter("ignore")
Counter = collections.Counter


def local(name):
    return name.rpartition("}")[2] if isinstance(name, str) else "comment"


def elements(root, ignored=(), translated=()):
    """How often each element occurs with its attributes, but those that are translated."""
    return Counter((local(e.tag), *sorted((local(k), v) for k, v in e.attrib.items() if local(k) not in translated))
                   for e in root.iter() if local(e.tag) not in ignored and getattr(e, "name", "") not in name2codepoint)


def parsed_xml(path):
    import lxml.etree

    return lxml.etree.parse(str(path), lxml.etree.XMLParser(huge_tree=True, resolve_entities=False)).getroot()


def text(path):
    lines = path.read_text("utf-8-sig").split("\n")
    return {"lines": [(line[:len(line) - len(line.lstrip())], bool(line.strip())) for line in lines]}


translated_attributes = {"alt", "title", "placeholder", "label", "value", "content", "lang", "xml:lang", "charset", "summary", "aria-label",
                         "aria-description", "aria-placeholder", "aria-roledescription", "aria-valuetext"}


def html(path):
    import html5lib

    class Comments(HTMLParser):
        def __init__(self):
            super().__init__()
            self.found = []

        def handle_comment(self, data):
            self.found.append(data)

    root = html5lib.parse(path.read_bytes(), namespaceHTMLElements=False)
    code = Counter("".join(e.itertext()) for e in root.iter() if e.tag in ("code", "kbd", "script", "style"))
    comments = Comments()
    comments.feed(path.read_bytes().decode("utf-8", "replace"))
    return {"elements": elements(root, ("comment",), translated_attributes), "code": code, "comments": Counter(comments.found)}


def markdown(path):
    from markdown_it import MarkdownIt

    def counted(parser):
        found = Counter()

        def count(tokens):
            for token in tokens:
                content = token.content if token.type in ("code_inline", "code_block", "fence", "html_block") else ""
                # Emphasis may be written as HTML; one without words in the translation may go away.
                if token.type not in ("text", "softbreak", "inline", "em_open", "em_close", "strong_open", "strong_close") \
                        and token.content not in ("<em>", "</em>", "<strong>", "</strong>"):
                    attributes = sorted((k, v) for k, v in token.attrs.items() if k != "alt")
                    found[token.type, content, str(attributes)] += 1
                count(token.children or [])

        count(parser.parse(content))
        return found

    # To CommonMark a footnote of one word would define a link.
    content = re.sub(r"(?m)^([ \t>]*\[\^[^][\s]+\]):", r"\1;", path.read_text("utf-8-sig"))
    return {"elements": counted(MarkdownIt("commonmark")), "with tables": counted(MarkdownIt("commonmark").enable("table"))}


def rst(path):
    import docutils.core
    from docutils import nodes
    from docutils.parsers.rst.directives import admonitions, register_directive

    class SeeAlso(admonitions.BaseAdmonition):  # Sphinx's
        node_class = nodes.note

    register_directive("seealso", SeeAlso)
    quiet = {"report_level": 5, "halt_level": 5, "file_insertion_enabled": False, "raw_enabled": False}
    found = Counter()

    def count(node):
        message = isinstance(node, nodes.system_message)
        # Emphasis without words in the translation goes away; `page`_ becomes `Seite <page_>`_, a target, too; and
        # titles that are referred to get one.
        free = isinstance(node, (nodes.emphasis, nodes.strong)) or (message and node["level"] == 1) or \
            (isinstance(node, nodes.target) and (isinstance(node.parent, nodes.TextElement) or not node.get("refuri")))
        if not free:
            literal = isinstance(node, (nodes.literal, nodes.literal_block, nodes.comment))
            found[node.tagname, node.astext() if literal else "", node.get("refuri", "")] += 1
        for child in [] if message else node.children:
            if isinstance(child, nodes.Element):
                count(child)

    count(docutils.core.publish_doctree(path.read_text("utf-8-sig"), str(path), settings_overrides=quiet))
    return {"elements": found}


def subtitles(path):
    import pysubs2

    if path.suffix == ".vtt" and not path.read_text("utf-8-sig").startswith("WEBVTT"):
        raise ValueError("not WebVTT")
    return {"times": [(event.start, event.end) for event in pysubs2.load(str(path))]}


def po(path):
    import polib

    messages = Counter((e.msgctxt, e.msgid, e.msgid_plural, e.obsolete) for e in polib.pofile(str(path)))
    if shutil.which("msgfmt") is None:
        return {"messages": messages}
    errors = subprocess.run(["msgfmt", "--check-format", "--output", "/dev/null", path], capture_output=True).returncode
    return {"messages": messages, "errors of msgfmt": [errors]}


def json(path):
    found = Counter()

    def walk(value, at):
        if isinstance(value, dict):
            for key, inside in value.items():
                walk(inside, f"{at}/{key}")
        elif isinstance(value, list):
            for i, inside in enumerate(value):
                walk(inside, f"{at}/{i}")
        else:
            found[at, "" if isinstance(value, str) else str(value)] += 1

    walk(json_reader.loads(path.read_text("utf-8-sig")), "")
    return {"values": found}


def yaml(path):
    import yaml as reader

    found = []

    def walk(node):
        if isinstance(node, reader.ScalarNode):
            found.append((node.tag, "" if node.tag.endswith(":str") else node.value))
        elif isinstance(node, reader.SequenceNode):
            found.append((node.tag, len(node.value)))
            for inside in node.value:
                walk(inside)
        else:
            found.append((node.tag, len(node.value)))
            for key, inside in node.value:
                found.append(("key", getattr(key, "value", None)) if isinstance(key, reader.ScalarNode) else ())
                walk(inside)

    for document in reader.compose_all(path.read_bytes(), Loader=reader.SafeLoader):
        if document is not None:
            walk(document)
    if len(found) > 1 and found[0] == ("tag:yaml.org,2002:map", 1):
        found[1] = "the only key"  # may be the language
    return {"nodes": found}


def properties(path):
    from translate.storage import properties as reader

    content = path.read_bytes()
    try:
        content.decode("utf-8")
        store = reader.javautf8file()
    except UnicodeDecodeError:
        store = reader.javafile()
    store.parse(content)
    return {"keys": [unit.name for unit in store.units if unit.name], "empty": [u.name for u in store.units if not u.value]}


def strings(path):
    import openstep_plist

    content = path.read_bytes()
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    table = openstep_plist.loads(content.decode(encoding))
    return {"keys": list(table), "empty": [key for key, value in table.items() if not value]}


def table(path):
    lines = path.read_text("utf-8-sig")
    first = lines.split("\n")[0]
    separator = "\t" if path.suffix == ".tsv" else max(",;\t|", key=first.count)
    rows = list(csv_reader.reader(lines.splitlines(keepends=True), delimiter=separator, strict=True))
    is_number = lambda cell: re.fullmatch(r"[-+\s\d.,%]*", cell)
    return {"cells": [tuple(cell if is_number(cell) else "text" for cell in row) for row in rows]}


def xml(path):
    return {"elements": elements(parsed_xml(path))}


def xliff(path):
    import lxml.etree

    root = parsed_xml(path)
    codes_of = lambda element: Counter((local(e.tag), e.get("id")) for e in element.iter() if e is not element)
    sources, codes = Counter(), []
    for source in root.iter("{*}source"):
        tail, source.tail = source.tail, None
        sources[lxml.etree.tostring(source, method="c14n")] += 1
        source.tail = tail
        target = source.getparent().find("{*}target")
        if target is not None and (len(target) or (target.text or "").strip()):
            codes.append(codes_of(source) - codes_of(target))
    for target in list(root.iter("{*}target")):
        target.getparent().remove(target)
    return {"sources": sources, "lost codes": [c for c in codes if c],
            "elements": elements(root, (), ("target-language", "trgLang", "state", "approved"))}


def tmx(path):
    import lxml.etree

    language = "{http://www.w3.org/XML/1998/namespace}lang"
    root = parsed_xml(path)
    variants = Counter()
    for variant in root.iter("tuv"):
        name = variant.get(language, variant.get("lang", "")).lower()
        if not name.startswith("fr"):  # those are new
            variants[name, lxml.etree.tostring(variant.find("seg"), method="c14n", with_tail=False)] += 1
    return {"units": [len(list(root.iter("tu")))], "variants": variants}


def package(path):
    """What the parts of a package are: all must be there, and be as well-formed as they were."""
    import lxml.etree

    def reads(data):
        try:
            lxml.etree.fromstring(data, lxml.etree.XMLParser(huge_tree=True, resolve_entities=False))
            return True
        except lxml.etree.XMLSyntaxError:
            return False

    text = (".xml", ".rels", ".xhtml", ".html", ".htm", ".opf", ".ncx")
    with zipfile.ZipFile(path) as zipped:
        return [(name, reads(zipped.read(name)) if name.endswith(text) else zlib.crc32(zipped.read(name)))
                for name in zipped.namelist()]


def docx(path):
    import docx as reader
    import lxml.etree

    kept = {"p", "tbl", "tr", "tc", "hyperlink", "drawing", "pict", "sectPr", "tab", "br", "bookmarkStart", "bookmarkEnd", "sdt",
            "footnoteReference", "endnoteReference", "commentReference", "fldChar", "instrText", "object", "oMath"}
    found = {"parts": package(path)}
    for part in reader.Document(str(path)).part.package.iter_parts():
        if part.content_type.startswith("application/vnd.openxmlformats-officedocument.wordprocessingml"):
            root = lxml.etree.fromstring(part.blob)
            found[str(part.partname)] = Counter({name: n for name, n in elements(root).items() if name[0] in kept})
    return found


def xlsx(path):
    import openpyxl

    book = openpyxl.load_workbook(str(path))
    sheets = {sheet.title: [(cell.coordinate, "" if cell.data_type == "s" else str(getattr(cell.value, "text", cell.value)))
                            for row in sheet.iter_rows() for cell in row if cell.value is not None] for sheet in book.worksheets}
    return {"parts": package(path), **sheets}


def pptx(path):
    import pptx as reader

    def described(shapes):
        for s in shapes:
            yield s.shape_type, s.left, s.top, s.has_text_frame and len(s.text_frame.paragraphs)
            if getattr(s, "has_table", False):
                yield [[len(cell.text_frame.paragraphs) for cell in row.cells] for row in s.table.rows]
            yield from described(getattr(s, "shapes", ()))

    slides = reader.Presentation(str(path)).slides
    return {"parts": package(path), **{f"slide {i}": list(described(slide.shapes)) for i, slide in enumerate(slides, 1)}}


def opened(read, path):
    """What a library finds, or the kind of error: one that refuses a file may refuse its translation."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # odfpy prints files that it cannot read
            return [read(str(path))]
    except Exception as error:
        return [type(error).__name__]


def entries(path, endings):
    import lxml.etree

    parser = lxml.etree.XMLParser(huge_tree=True, resolve_entities=False)
    with zipfile.ZipFile(path) as package:
        return {name: lxml.etree.fromstring(package.read(name), parser) for name in package.namelist() if name.endswith(endings)}


def odf(path):
    import odf.opendocument

    free = ("span", "s", "soft-page-break")  # several spaces may become one, and pages break elsewhere
    if path.suffix.startswith(".fod"):
        return {"elements": elements(parsed_xml(path), free)}
    found = {name: elements(root, free) for name, root in entries(path, ("content.xml", "styles.xml")).items()}
    return {"parts": package(path), "odfpy": opened(lambda p: len(odf.opendocument.load(p).body.childNodes), path), **found}


def epub(path):
    import ebooklib.epub

    if "META-INF/container.xml" not in zipfile.ZipFile(path).namelist():
        raise ValueError("not an EPUB")
    pages = {name: elements(root, (), translated_attributes) for name, root in entries(path, (".xhtml", ".html", ".htm")).items()}
    read = lambda p: [item.get_name() for item in ebooklib.epub.read_epub(p).get_items()]
    return {"parts": package(path), "ebooklib": opened(read, path), **pages}


# The judge of each format, the modules that it needs, the extensions, and whether a file comes back byte for byte if
# each translation is the text itself.
Judge = collections.namedtuple("Judge", "read modules endings returns")
judges = {
    "plain text": Judge(text, "", (".txt", ".text"), True),
    "HTML": Judge(html, "html5lib", (".html", ".htm", ".xhtml"), True),
    "Markdown": Judge(markdown, "markdown_it", (".md", ".markdown"), True),
    "reStructuredText": Judge(rst, "docutils", (".rst",), True),
    "subtitles": Judge(subtitles, "pysubs2", (".srt", ".vtt"), True),
    "gettext": Judge(po, "polib", (".po", ".pot"), False),
    "JSON": Judge(json, "json", (".json", ".arb"), True),
    ".properties": Judge(properties, "translate", (".properties",), True),
    ".strings": Judge(strings, "openstep_plist", (".strings",), True),
    "YAML": Judge(yaml, "yaml", (".yaml", ".yml"), True),
    "CSV, TSV": Judge(table, "csv", (".csv", ".tsv"), True),
    "Word": Judge(docx, "docx lxml", (".docx",), True),
    "PowerPoint": Judge(pptx, "pptx lxml", (".pptx",), True),
    "Excel": Judge(xlsx, "openpyxl lxml", (".xlsx",), True),
    "OpenDocument": Judge(odf, "odf lxml", (".odt", ".ods", ".odp", ".fodt", ".fods", ".fodp"), True),
    "EPUB": Judge(epub, "ebooklib lxml", (".epub",), True),
    "XLIFF": Judge(xliff, "lxml", (".xlf", ".xliff"), False),
    "TMX": Judge(tmx, "lxml", (".tmx",), False),
    "XML, Android": Judge(xml, "lxml", (".xml",), True),
}


def difference(before, after):
    """The first one, in words; None if there is none."""
    for part in list(before) + [part for part in after if part not in before]:
        a, b = before.get(part), after.get(part)
        if a == b:
            continue
        if isinstance(a, Counter) and isinstance(b, Counter):
            lost, new = list((a - b).items())[:3], list((b - a).items())[:3]
            return f"{part}: lost {lost}, new {new}"
        if isinstance(a, list) and isinstance(b, list):
            at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
            return f"{part}: {len(a)} became {len(b)}; number {at + 1}: {str(a[at:at + 1])[:100]} became {str(b[at:at + 1])[:100]}"
        return f"{part}: {str(a)[:100]} became {str(b)[:100]}"
    return None
