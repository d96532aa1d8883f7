"""The guarded client against real sockets: rebinding, redirects, bombs, slow bodies, politeness, TLS."""

import asyncio
import ssl
import time

import pytest
from dream_eval.tools.fetch import Fault, Fetcher, FetchFailed
from dream_eval.tools.guard import GuardedBackend, Refused
from dream_eval.tools.limits import Endpoints, NoSuchHost, ToolLimits
from servers.web import Reply, gzip_bomb, json_reply, packed, redirect, web_server

SMALL = ToolLimits(max_bytes=500_000, spacing_s=0.0, redirects=4)


class Names:
    """A resolver with a script: each name's answers in turn, the last one for ever."""

    def __init__(self, **names):
        self.names = {n.replace("_", "."): [a] if isinstance(a, str) else list(a) for n, a in names.items()}
        self.asked = []

    async def __call__(self, host, port):
        self.asked.append(host)
        answers = self.names.get(host)
        if answers is None:
            raise NoSuchHost(f"no such host: {host}")
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        return [answer] if isinstance(answer, str) else answer


def fetcher(server, *hosts, limits=SMALL, resolver=None, ca_file=None):
    allow = frozenset({(host, server.port) for host in ("127.0.0.1", *hosts)})
    return Fetcher(limits, Endpoints(allow=allow, resolver=resolver, ca_file=ca_file))


async def fault_of(client, url):
    with pytest.raises(FetchFailed) as caught:
        await client.get(url)
    return caught.value.fault


async def test_gets_an_answer_and_keeps_the_connection():
    async with web_server({"/a": Reply("hello", type="text/plain")}) as server:
        client = fetcher(server)
        first = await client.get(server.url + "/a?x=1&y=%20#frag")
        await client.get(server.url + "/a")
        await client.close()
    assert (first.status, first.body, first.content_type) == (200, b"hello", "text/plain")
    assert server.paths() == ["/a?x=1&y=%20", "/a"]
    assert server.connections == 1
    assert server.seen[0].host == f"127.0.0.1:{server.port}"


async def test_connects_to_the_address_that_was_checked_and_keeps_the_name():
    async with web_server({"/": Reply("x")}) as server:
        names = Names(news_example="127.0.0.1")
        client = fetcher(server, "news.example", resolver=names)
        await client.get(f"http://news.example:{server.port}/")
        await client.close()
    assert server.seen[0].host == f"news.example:{server.port}"
    assert names.asked == ["news.example"]


async def test_a_name_that_leads_to_a_private_address_is_refused_without_a_connection():
    async with web_server({"*": Reply("secret")}) as server:
        for answer in (
            "127.0.0.1",
            "10.0.0.5",
            "::1",
            "::ffff:127.0.0.1",
            "169.254.169.254",
            ["93.184.215.14", "10.0.0.5"],
        ):
            client = Fetcher(SMALL, Endpoints(resolver=Names(evil_example=[answer])))
            with pytest.raises(Refused):
                await client.get(f"http://evil.example:{server.port}/")
            await client.close()
    assert server.seen == []


async def test_rebinding_each_connection_checks_the_answer_it_uses():
    names = Names(evil_example=["93.184.215.14", "127.0.0.1"])
    backend = GuardedBackend(names, frozenset())
    assert await backend.addresses("evil.example", 80) == ["93.184.215.14"]
    with pytest.raises(Refused):
        await backend.addresses("evil.example", 80)


async def test_rebinding_reaches_nothing():
    async with web_server({"*": Reply("secret")}) as server:
        names = Names(evil_example=["192.0.2.1", "127.0.0.1"])
        client = Fetcher(SMALL, Endpoints(resolver=names))
        for _ in range(3):
            with pytest.raises((Refused, FetchFailed)):
                await client.get(f"http://evil.example:{server.port}/")
        await client.close()
    assert server.seen == []
    assert len(names.asked) == 3


async def test_a_redirect_by_an_allowed_host_is_checked_like_any_other():
    targets = [
        "http://127.0.0.1:1/x",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]/",
        "http://0x7f000001/",
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
        "//localhost/x",
        "http://user@10.0.0.1/",
    ]
    async with web_server({f"/{i}": redirect(to) for i, to in enumerate(targets)}) as server:
        client = fetcher(server)
        for i in range(len(targets)):
            with pytest.raises(Refused):
                await client.get(f"{server.url}/{i}")
        await client.close()
    assert len(server.seen) == len(targets)


async def test_a_redirect_to_a_name_with_a_private_address_is_refused():
    async with web_server() as server:
        server.routes["/go"] = redirect(f"http://inside.example:{server.port}/secret")
        client = fetcher(server, resolver=Names(inside_example="127.0.0.1"))
        with pytest.raises(Refused):
            await client.get(server.url + "/go")
        await client.close()
    assert server.paths() == ["/go"]


async def test_follows_redirects_and_says_which():
    async with web_server({"/a": redirect("/b", 301), "/b": redirect("c?x=1", 308), "/c": Reply("end")}) as server:
        client = fetcher(server)
        got = await client.get(server.url + "/a")
        await client.close()
    assert got.final_url == server.url + "/c?x=1"
    assert got.hops == (server.url + "/a", server.url + "/b")


async def test_redirect_loops_and_long_chains_end():
    routes = {"/loop": redirect("/loop"), **{f"/{i}": redirect(f"/{i + 1}") for i in range(20)}}
    async with web_server(routes) as server:
        client = fetcher(server)
        assert await fault_of(client, server.url + "/loop") is Fault.REDIRECTS
        assert await fault_of(client, server.url + "/0") is Fault.REDIRECTS
        await client.close()
    assert len(server.seen) == 10


async def test_credentials_never_follow_a_redirect():
    async with web_server({"/b": Reply("x")}) as other, web_server() as server:
        server.routes["/a"] = redirect(f"http://127.0.0.1:{other.port}/b")
        server.routes["/same"] = redirect("/c")
        server.routes["/c"] = Reply("x")
        allow = frozenset({("127.0.0.1", server.port), ("127.0.0.1", other.port)})
        client = Fetcher(SMALL, Endpoints(allow=allow))
        for path in ("/a", "/same"):
            await client.get(server.url + path, headers={"Authorization": "Bearer s3cret", "X-API-Key": "s3cret"})
        await client.close()
    assert server.seen[0].headers["authorization"] == "Bearer s3cret"
    for seen in (*other.seen, server.seen[-1]):
        assert "s3cret" not in str(seen.headers)


async def test_user_name_and_password_in_an_address_are_not_sent():
    async with web_server({"/": Reply("x")}) as server:
        client = fetcher(server)
        await client.get(f"http://me:pw@127.0.0.1:{server.port}/")
        await client.close()
    assert "authorization" not in server.seen[0].headers


async def test_cookies_stay_with_their_host_and_fetch():
    def gate(seen):
        if "pass=1" in seen.headers.get("cookie", ""):
            return redirect(f"http://other.example:{seen.host.rsplit(':', 1)[1]}/end")
        return redirect("/gate", **{"Set-Cookie": "pass=1; Path=/"})

    async with web_server({"/gate": gate, "/end": Reply("in")}) as server:
        client = fetcher(server, "other.example", resolver=Names(other_example="127.0.0.1"))
        got = await client.get(server.url + "/gate")
        await client.get(server.url + "/end")
        await client.close()
    assert got.body == b"in"
    assert "cookie" not in server.seen[-2].headers
    assert "cookie" not in server.seen[-1].headers


async def test_bodies_are_capped_as_sent_and_as_unpacked():
    routes = {
        "/announced": Reply("x", announce=10_000_000),
        "/long": Reply(b"x" * 600_000),
        "/bomb": Reply(gzip_bomb(200), headers={"Content-Encoding": "gzip"}),
        "/twice": Reply(packed("x"), headers={"Content-Encoding": "gzip, gzip"}),
        "/brotli": Reply(b"x", headers={"Content-Encoding": "br"}),
        "/broken": Reply(b"no gzip", headers={"Content-Encoding": "gzip"}),
        "/fine": Reply(packed("fine"), headers={"Content-Encoding": "gzip"}),
    }
    async with web_server(routes) as server:
        client = fetcher(server)
        for path in ("/announced", "/long", "/bomb"):
            assert await fault_of(client, server.url + path) is Fault.TOO_LARGE
        for path in ("/twice", "/brotli", "/broken"):
            assert await fault_of(client, server.url + path) is Fault.PROTOCOL
        assert (await client.get(server.url + "/fine")).body == b"fine"
        await client.close()


async def test_slow_loris_header_bombs_and_cut_bodies():
    """Without our own clock the first two would take longer than a test may."""
    routes = {
        "/drip": Reply(b"x" * 5000, drip=0.05),
        "/hang": Reply("x", delay=300),
        "/bomb": Reply("x", headers=[(f"X-{i}", "y" * 1000) for i in range(200)]),
        "/many": Reply("x", headers=[(f"X-{i}", "y") for i in range(8_000)]),
        "/cut": Reply("x" * 1000, cut=500),
        "/garbage": Reply("x", status="no number"),
    }
    async with web_server(routes) as server:
        hasty = fetcher(server, limits=ToolLimits(fetch_s=0.6, spacing_s=0.0))
        assert await fault_of(hasty, server.url + "/drip") is Fault.TIMEOUT
        assert await fault_of(hasty, server.url + "/hang") is Fault.TIMEOUT
        await hasty.close()
        client = fetcher(server)
        assert await fault_of(client, server.url + "/bomb") in (Fault.PROTOCOL, Fault.TOO_LARGE)
        assert await fault_of(client, server.url + "/many") in (Fault.PROTOCOL, Fault.TOO_LARGE)
        assert await fault_of(client, server.url + "/cut") is Fault.PROTOCOL
        assert await fault_of(client, server.url + "/garbage") is Fault.PROTOCOL
        await client.close()


async def test_no_such_host_only_when_other_names_resolve():
    online = Names(example_com="93.184.215.14")
    offline = Names()
    down = Names(gone_example=[OSError("name not resolved: gone.example")])
    for resolver, fault in ((online, Fault.NO_HOST), (offline, Fault.DNS), (down, Fault.DNS)):
        client = Fetcher(SMALL, Endpoints(resolver=resolver))
        assert await fault_of(client, "http://gone.example/") is fault
        await client.close()


async def test_a_refused_connection():
    async with web_server() as server:
        pass
    client = fetcher(server)
    assert await fault_of(client, server.url) is Fault.CONNECT
    await client.close()


async def test_two_at_once_and_spaced():
    limits = ToolLimits(spacing_s=0.05, per_host=2)
    async with web_server({"*": Reply("x", delay=0.1)}) as server:
        client = fetcher(server, limits=limits)
        start = time.monotonic()
        await asyncio.gather(*(client.get(f"{server.url}/{i}") for i in range(6)))
        took = time.monotonic() - start
        await client.close()
    assert server.most_open == 2
    assert took >= 0.3


async def test_waiting_for_a_place_is_not_counted_as_slowness():
    limits = ToolLimits(fetch_s=1.5, spacing_s=0.4, per_host=1)
    async with web_server({"*": Reply("x")}) as server:
        client = fetcher(server, limits=limits)
        got = await asyncio.gather(*(client.get(f"{server.url}/{i}") for i in range(5)))
        await client.close()
    assert [g.status for g in got] == [200] * 5


async def test_hosts_are_forgotten_once_they_may_be_asked_at_once(monkeypatch):
    monkeypatch.setattr("dream_eval.tools.fetch.HOSTS_KNOWN", 3)
    hosts = [f"h{n}.example" for n in range(12)]
    names = Names(**{host.replace(".", "_"): "127.0.0.1" for host in hosts})
    async with web_server({"*": Reply("x", delay=0.05)}) as server:
        client = fetcher(server, *hosts, resolver=names, limits=ToolLimits(spacing_s=0.3, per_host=1))
        for host in hosts[:9]:
            await client.get(f"http://{host}:{server.port}/")
            await asyncio.sleep(0.15)
        assert hosts[8] in client._hosts
        assert len(client._hosts) <= 4
        start = time.monotonic()
        again = [client.get(f"http://{host}:{server.port}/") for host in (hosts[9], hosts[9], hosts[10], hosts[11])]
        await asyncio.gather(*again)
        await client.close()
    assert time.monotonic() - start >= 0.3  # the one that is asked twice is not forgotten meanwhile


async def test_json_is_posted_and_its_redirect_not_followed():
    async with web_server({"/api": json_reply({"ok": 1}), "/moved": redirect("/api", 307)}) as server:
        client = fetcher(server)
        got = await client.post(server.url + "/api", {"q": "ü"}, headers={"X-Key": "k"})
        moved = await client.post(server.url + "/moved", {"q": "x"})
        await client.close()
    assert got.json() == {"ok": 1}
    assert server.seen[0].body == b'{"q": "\\u00fc"}'
    assert moved.status == 307


async def test_tls_is_verified_for_the_original_name(tmp_path):
    context, ca_file = authority(tmp_path, "news.example")
    async with web_server({"/": Reply("safe")}, ssl=context) as server:
        names = Names(news_example="127.0.0.1", other_example="127.0.0.1")
        client = fetcher(server, "news.example", "other.example", resolver=names, ca_file=ca_file)
        assert (await client.get(f"https://news.example:{server.port}/")).body == b"safe"
        assert await fault_of(client, f"https://other.example:{server.port}/") is Fault.TLS
        stranger = fetcher(server, "news.example", resolver=names)
        assert await fault_of(stranger, f"https://news.example:{server.port}/") is Fault.TLS
        await client.close()
        await stranger.close()


def authority(folder, name):
    """A self-signed certificate for one name."""
    import datetime as dt

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    (folder / "ca.pem").write_bytes(pem)
    form = serialization.PrivateFormat.TraditionalOpenSSL
    secret = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    (folder / "both.pem").write_bytes(secret + pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "both.pem")
    return context, str(folder / "ca.pem")
