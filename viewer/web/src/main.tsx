// The page: reads its index, shows what the address says, and keeps the keys in one place.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import "./style.css";
import { ComparePage } from "./compare";
import type { Index } from "./data";
import { Overview } from "./overview";
import { ProtocolPage } from "./protocol";
import { load, save } from "./ratings";
import { ReportPage } from "./report";
import { href, useRoute } from "./route";
import { loadIndex } from "./store";
import { TracePage } from "./trace";
import { useKeys } from "./ui";

function App({ index }: { index: Index }) {
  const [route, change] = useRoute();
  const run = index.runs[Number(route.query.run)] ? Number(route.query.run) : 0;
  const [help, setHelp] = useState(false);
  const page = route.page || { run: "overview", compare: "compare", protocol: "protocol" }[index.kind];
  useEffect(() => {
    if (!route.query.item && !route.query.open && !route.query.row && !route.query.q) scrollTo(0, 0);
    document.title = [route.path[1] ?? route.path[0] ?? "", index.runs[run]?.name ?? "protocol", "dream-eval"].filter(Boolean).join(" · ").slice(0, 200);
  }, [page, route.path.join("/")]);
  useKeys({ "?": () => setHelp(!help) });
  const shared = { index, run, route, change };
  return (
    <>
      <Bar index={index} page={page} run={run} onHelp={() => setHelp(!help)} />
      {help && <Keys onClose={() => setHelp(false)} />}
      {page === "report" ? (
        <ReportPage {...shared} />
      ) : page === "protocol" ? (
        <ProtocolPage {...shared} />
      ) : page === "compare" ? (
        <ComparePage {...shared} />
      ) : page === "trace" ? (
        <TracePage {...shared} />
      ) : (
        <Overview key={run} {...shared} />
      )}
      <footer>
        dream-eval {index.version}. Everything shown here was written by systems, judges and pages; it is evidence, not a finding of its own.
      </footer>
    </>
  );
}

function Bar({ index, page, run, onHelp }: { index: Index; page: string; run: number; onHelp: () => void }) {
  const links: [to: string, text: string, here: boolean][] = [];
  if (index.kind === "compare") {
    links.push([href("compare"), "Compare", page === "compare"]);
    index.runs.forEach((head, number) => links.push([href("overview", [], { run: String(number) }), head.name, page !== "compare" && run === number]));
  }
  if (index.kind === "run") {
    const head = index.runs[0]!;
    links.push([href(""), "Overview", page === "overview" || page === "report" || page === "trace"]);
    const [task] = Object.keys(head.protocols);
    if (task !== undefined) links.push([href("protocol", [task]), "Protocol", page === "protocol"]);
    if (head.systems.length > 1 || head.judges.length > 1) links.push([href("compare"), "Compare", page === "compare"]);
  }
  return (
    <nav class="top no-print" aria-label="Pages">
      <span class="mark">dream<span>-eval</span></span>
      {links.map(([to, text, here]) => (
        <a key={to} href={to} aria-current={here ? "page" : undefined}>{text.length > 40 ? `${text.slice(0, 39)}…` : text}</a>
      ))}
      <span class="end">
        <Theme />
        <button class="quiet" onClick={onHelp} title="Keys" aria-label="Keys">?</button>
      </span>
    </nav>
  );
}

/** Light, dark, or as the system has it. */
function Theme() {
  const [theme, setTheme] = useState<string>(() => load("theme") ?? "");
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  const next = { "": "dark", dark: "light", light: "" }[theme] ?? "";
  const names: Record<string, string> = { "": "auto", dark: "dark", light: "light" };
  return (
    <button class="quiet" onClick={() => (save("theme", next), setTheme(next))} title="Light, dark, or as the system has it">
      {names[theme]}
    </button>
  );
}

function Keys({ onClose }: { onClose: () => void }) {
  useKeys({ Escape: onClose });
  const keys = [["j k", "next, previous"], ["Enter", "open"], ["/", "filter"], ["Esc", "back"], ["?", "these keys"]];
  return (
    <div class="keys" role="dialog" aria-label="Keys">
      <dl>
        {keys.map(([key, what]) => (
          <>
            <dt><kbd>{key}</kbd></dt>
            <dd>{what}</dd>
          </>
        ))}
      </dl>
      <button class="quiet" onClick={onClose}>close</button>
    </div>
  );
}

const app = document.getElementById("app")!;
try {
  const index = loadIndex();
  app.textContent = "";
  render(<App index={index} />, app);
  document.documentElement.dataset.ready = "yes";
} catch (error) {
  app.textContent = `This page could not be read (${error}). It needs a browser of 2023 or newer.`;
}
