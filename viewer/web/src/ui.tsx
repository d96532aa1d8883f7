// Small things that every page is made of.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Verdict } from "./items";
import { Missing } from "./store";
import { hostOf, inWords } from "./words";

/** The address if it leads to the web by http or https; anything else is text and never a link. */
export function safe(url: string | null | undefined): string | null {
  try {
    const parsed = new URL(url ?? "");
    return parsed.protocol === "http:" || parsed.protocol === "https:" ? parsed.href : null;
  } catch {
    return null;
  }
}

/** A link that leaves the page; text where the address is none that may be clicked. */
export function Out(props: { href?: string | null; class?: string; children?: ComponentChildren; title?: string }) {
  const href = safe(props.href);
  const children = props.children ?? (href ? hostOf(href) : (props.href ?? ""));
  if (!href) return <span class={props.class}>{children}</span>;
  return (
    <a class={props.class} href={href} target="_blank" rel="noopener noreferrer" title={props.title ?? href.slice(0, 300)}>
      {children}
    </a>
  );
}

export function Badge({ verdict }: { verdict: Verdict }) {
  return (
    <span class={`badge ${verdict.tone}`}>
      {verdict.sign && <span aria-hidden="true">{verdict.sign}</span>} {verdict.word}
    </span>
  );
}

export function Flags({ flags, hide = [] }: { flags?: string[]; hide?: string[] }) {
  const shown = (flags ?? []).filter((flag) => !hide.includes(flag));
  if (!shown.length) return null;
  return (
    <ul class="flags">
      {shown.map((flag) => (
        <li key={flag}>{inWords(flag)}</li>
      ))}
    </ul>
  );
}

/** A long text, folded to some lines until it is asked for. */
export function Folded({ text, lines = 3, class: name = "" }: { text: string; lines?: number; class?: string }) {
  const [open, setOpen] = useState(false);
  const [long, setLong] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const here = place.current;
    if (here) setLong(here.scrollHeight > here.clientHeight + 2);
  }, [text]);
  return (
    <div class={`folded ${name}`}>
      <div ref={place} dir="auto" class={open ? "" : "clamp"} style={{ "--lines": String(lines) }}>
        {text}
      </div>
      {(long || open) && (
        <button class="quiet" onClick={() => setOpen(!open)} aria-expanded={open}>
          {open ? "less" : "more"}
        </button>
      )}
    </div>
  );
}

/** What a promise brings; a part that is not in this file says so. */
export function useLoaded<T>(load: () => Promise<T>, keys: unknown[]): { value?: T; failed?: string } {
  const [state, setState] = useState<{ value?: T; failed?: string }>({});
  useEffect(() => {
    let gone = false;
    setState({});
    load().then(
      (value) => !gone && setState({ value }),
      (error) => !gone && setState({ failed: error instanceof Missing ? "missing" : String(error) }),
    );
    return () => {
      gone = true;
    };
  }, keys);
  return state;
}

export function NotHere({ what, failed }: { what: string; failed: string }) {
  if (failed === "missing")
    return (
      <p class="empty">
        {what} is not in this file: the run is too large for one page, or its folder has holes. <code>dream view RUN --serve</code> shows all of it.
      </p>
    );
  return <p class="empty">{what} could not be read: {failed}</p>;
}

export function Choice(props: { label: string; value: string; options: [value: string, text: string][]; onChange: (value: string) => void }) {
  return (
    <label class="choice">
      <span>{props.label}</span>
      <select aria-label={props.label} value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
        {props.options.map(([value, text]) => (
          <option key={value} value={value}>
            {text.length > 80 ? `${text.slice(0, 79)}…` : text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Keys of a page, by `event.key`; not while somebody types, and not with a modifier. */
export function useKeys(keys: Record<string, () => void>): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const typing = event.target instanceof HTMLElement && event.target.matches("input, select, textarea");
      if (event.ctrlKey || event.metaKey || event.altKey || (typing && event.key !== "Escape")) return;
      if (event.key === "Enter" && event.target instanceof HTMLElement && event.target.matches("a, button, summary")) return;
      const act = latest.current[event.key];
      if (!act) return;
      event.preventDefault();
      if (typing) (event.target as HTMLElement).blur();
      act();
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, []);
}

/** Scroll something into view if it is not. */
export function reveal(element: Element | null | undefined, block: ScrollLogicalPosition = "center"): void {
  if (!element) return;
  const box = element.getBoundingClientRect();
  const sheet = innerWidth <= 900 && document.body.classList.contains("item-open");
  if (sheet) element.scrollIntoView({ block: "start" });
  else if (box.top < 80 || box.bottom > innerHeight - 40) element.scrollIntoView({ block });
}
