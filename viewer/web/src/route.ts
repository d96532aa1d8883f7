// What is shown, as the address says it: #/report/TASK/SYSTEM?metric=factuality&item=c3. Everything that can be chosen stands there.
import { useEffect, useState } from "preact/hooks";

export interface Route {
  page: string;
  path: string[];
  query: Record<string, string>;
}

export function parse(hash: string): Route {
  const [place = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [page = "", ...path] = place.split("/").map(decoded);
  return { page, path, query: Object.fromEntries(new URLSearchParams(query)) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function href(page: string, path: readonly (string | number)[] = [], query: Record<string, string> = {}): string {
  const place = [page, ...path.map((part) => encodeURIComponent(String(part)))].join("/");
  const wanted = Object.entries(query).filter(([, value]) => value !== "");
  return `#/${place}${wanted.length ? `?${new URLSearchParams(wanted)}` : ""}`;
}

/** The present address, and a way to change parts of its query; `push` false: no new step in the history. */
export function useRoute(): [Route, (changes: Record<string, string>, push?: boolean) => void] {
  const [route, setRoute] = useState(() => parse(location.hash));
  useEffect(() => {
    const changed = () => setRoute(parse(location.hash));
    window.addEventListener("hashchange", changed);
    return () => window.removeEventListener("hashchange", changed);
  }, []);
  const change = (changes: Record<string, string>, push = true) => {
    const now = parse(location.hash);
    const next = href(now.page, now.path, { ...now.query, ...changes });
    if (next === location.hash) return;
    if (push) location.hash = next;
    else {
      history.replaceState(null, "", next);
      setRoute(parse(next));
    }
  };
  return [route, change];
}

export function go(to: string): void {
  location.hash = to;
}
