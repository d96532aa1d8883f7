"""Which internet addresses may be talked to, in whatever spelling they come.

Only globally reachable unicast addresses pass. The ranges are those of IANA's special-purpose registries for IPv4
(RFC 6890 and successors) and IPv6, plus the addresses at which cloud providers serve metadata. IPv6 addresses that
carry an IPv4 one are judged by what they carry, or refused where such a form has no use any more.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

Address = IPv4Address | IPv6Address

_V4: tuple[tuple[str, str], ...] = (
    ("168.63.129.16/32", "cloud metadata"),
    ("169.254.169.254/32", "cloud metadata"),
    ("100.100.100.200/32", "cloud metadata"),
    ("192.0.0.192/32", "cloud metadata"),
    ("0.0.0.0/8", "this network"),
    ("10.0.0.0/8", "private"),
    ("100.64.0.0/10", "carrier-grade"),
    ("127.0.0.0/8", "loopback"),
    ("169.254.0.0/16", "link-local"),
    ("172.16.0.0/12", "private"),
    ("192.0.0.0/24", "reserved"),
    ("192.0.2.0/24", "documentation"),
    ("192.88.99.0/24", "reserved"),
    ("192.168.0.0/16", "private"),
    ("198.18.0.0/15", "benchmarking"),
    ("198.51.100.0/24", "documentation"),
    ("203.0.113.0/24", "documentation"),
    ("224.0.0.0/4", "multicast"),
    ("240.0.0.0/4", "reserved"),
)
_V6: tuple[tuple[str, str], ...] = (
    ("fd00:ec2::254/128", "cloud metadata"),
    ("fd20:ce::254/128", "cloud metadata"),
    ("::/128", "unspecified"),
    ("::1/128", "loopback"),
    ("fe80::/10", "link-local"),
    ("fec0::/10", "site-local"),
    ("fc00::/7", "private"),
    ("ff00::/8", "multicast"),
    ("2001::/32", "Teredo"),
    ("2001::/23", "reserved"),
    ("2001:db8::/32", "documentation"),
    ("2002::/16", "6to4"),
    ("3fff::/20", "documentation"),
)
_REFUSED_V4 = tuple((IPv4Network(net), why) for net, why in _V4)
_REFUSED_V6 = tuple((IPv6Network(net), why) for net, why in _V6)
_GLOBAL_V6 = IPv6Network("2000::/3")
_MAPPED = IPv6Network("::ffff:0:0/96")
_NAT64 = IPv6Network("64:ff9b::/96")
_ISATAP = (0x00005EFE, 0x02005EFE)
_LOCAL_NAMES = re.compile(
    r"(^|\.)(localhost|localdomain|local|internal|intranet|lan|home|corp|private|home\.arpa|onion)$", re.ASCII
)


def refusal(address: Address) -> str | None:
    """Why ``address`` may not be talked to, in a word or two; None when it may."""
    if isinstance(address, IPv4Address):
        return next((why for net, why in _REFUSED_V4 if address in net), None)
    if address.scope_id is not None:
        return "link-local"
    for carrier in (_MAPPED, _NAT64):
        if address in carrier:
            return refusal(IPv4Address(int(address) & 0xFFFFFFFF))
    for net, why in _REFUSED_V6:
        if address in net:
            return why
    if address not in _GLOBAL_V6:
        return "reserved"
    if (int(address) >> 32) & 0xFFFFFFFF in _ISATAP:
        return refusal(IPv4Address(int(address) & 0xFFFFFFFF))
    return None


def local_name(host: str) -> bool:
    """Whether a host name is one that only means something inside a network (``localhost``, ``x.internal`` …)."""
    return bool(_LOCAL_NAMES.search(host))


def read_host(host: str) -> Address | str:
    """Read the host of a URL as browsers do: an address in any spelling, or a name in lower-case ASCII.

    Raises ValueError for what is neither.
    """
    if host.startswith("[") or ":" in host:
        return ipaddress.IPv6Address(host.strip("[]"))
    name = unicodedata.normalize("NFKC", host).replace("。", ".").replace("｡", ".").lower()
    if not name or "%" in name or any(c.isspace() or ord(c) < 33 for c in name):
        raise ValueError("no host, or characters that no host has")
    name = name if name.isascii() else _idna(name)
    name = name[:-1] if name.endswith(".") else name
    if _ends_in_number(name):
        return _read_ipv4(name)
    if not re.fullmatch(r"(?!-)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*", name) or len(name) > 253:
        raise ValueError("not a host name")
    return name


def _idna(name: str) -> str:
    import idna

    try:
        return idna.encode(name, uts46=True).decode("ascii")
    except (idna.IDNAError, UnicodeError) as error:
        raise ValueError(f"not a host name: {error}") from None


def _ends_in_number(name: str) -> bool:
    last = name.rsplit(".", 1)[-1]
    return last.isdigit() or re.fullmatch(r"0x[0-9a-f]*", last) is not None


def _number(part: str) -> int:
    if part.startswith("0x"):
        return int(part[2:] or "0", 16)
    return int(part, 8) if len(part) > 1 and part.startswith("0") else int(part, 10)


def _read_ipv4(name: str) -> IPv4Address:
    """One to four parts; decimal, octal or hexadecimal; the last part fills what is left (as ``inet_aton``)."""
    parts = name.split(".")
    if len(parts) > 4 or not all(parts):
        raise ValueError("not an IPv4 address")
    numbers = [_number(part) for part in parts]
    *head, last = numbers
    if any(n > 255 for n in head) or last >= 256 ** (5 - len(numbers)):
        raise ValueError("not an IPv4 address")
    value = last
    for place, n in enumerate(head):
        value += n << (8 * (3 - place))
    return IPv4Address(value)
