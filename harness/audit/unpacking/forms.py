"""Determine the form of a file from its first bytes: text, text in UTF-16, an archive, or a compressed file."""

import codecs
import re

SNIFFED = 8192  # number of first bytes from which the form is determined
_MOSTLY = 0.95  # UTF-16: more than this share of the pairs of bytes have a zero at the same place
TEXT = "text"
WIDE = ("utf-16-le", "utf-16-be")
_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"\xfd7zXZ\0": "xz",
    b"BZh": "bzip2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",
}
BEGINNINGS = {form: magic for magic, form in _MAGIC.items()}
_OTHERS = {b"7z\xbc\xaf\x27\x1c": "7z", b"Rar!": "rar", b"\x04\x22\x4d\x18": "lz4", b"\x1f\x9d": "compress"}
_TAR = (257, b"ustar")
_CONTROL = bytes(set(range(32)) - set(b"\0\t\n\r\f\x1b\b"))
_DATA = re.compile(r"\d{20}\.(?:log|index|timeindex|txnindex|snapshot|checkpoint)(?:\.deleted)?")


def form_of(head: bytes, name: str) -> tuple[str, str | None]:
    """Return the form of a file, such as `gzip`, and the reason why audit can't read the file, or None.

    `head` holds the first bytes of the file.
    """
    for magic, form in _MAGIC.items():
        if head.startswith(magic):
            return form, None
    if head[_TAR[0] : _TAR[0] + len(_TAR[1])] == _TAR[1]:
        return "tar", None
    for magic, called in _OTHERS.items():
        if head.startswith(magic):
            return called, f"is packed by {called}, which audit cannot unpack; unpack it first"
    if _DATA.fullmatch(name.rpartition("/")[2]):
        return "data", "is not text, but a file of a broker's data directory"
    wide = _wide(head)
    if wide:
        return wide, None
    return (TEXT, None) if _is_text(head) else ("", "is not text in UTF-8 or UTF-16")


def _wide(head: bytes) -> str | None:
    if head.startswith(codecs.BOM_UTF16_LE):
        return WIDE[0]
    if head.startswith(codecs.BOM_UTF16_BE):
        return WIDE[1]
    even, odd, half = head[0::2].count(0), head[1::2].count(0), len(head) // 2
    if half < 4:
        return None
    if odd > _MOSTLY * half and even < 0.1 * half:
        return WIDE[0]
    return WIDE[1] if even > _MOSTLY * half and odd < 0.1 * half else None


def _is_text(head: bytes) -> bool:
    """Return whether bytes are text. Holes of NULs and some damaged bytes are allowed."""
    written = head.replace(b"\0", b"")
    if not written:  # only NULs so far, but text may follow
        return True
    control = len(written) - len(written.translate(None, _CONTROL))
    foreign = written.decode(errors="replace").count("�")
    scattered = head.count(b"\0") - _longest_hole(head)
    return control * 10 <= len(written) and foreign * 3 <= len(written) and scattered * 10 <= len(head)


def _longest_hole(head: bytes) -> int:
    return sum(len(hole) for hole in re.findall(rb"\0{16,}", head))
