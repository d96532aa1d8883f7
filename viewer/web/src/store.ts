// Reading the data that lies in the page (or, served, behind it): packed parts, unpacked when they are looked at.
import type { CallsPart, Index, PagesPart, ProtocolPart, ReportPart } from "./data";

const cache = new Map<string, Promise<unknown>>();
let served = false;

async function unpack(packed: BodyInit): Promise<unknown> {
  const stream = new Response(packed).body!.pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

function bytes(text: string): Uint8Array<ArrayBuffer> {
  const raw = atob(text.trim());
  const out = new Uint8Array(raw.length);
  for (let at = 0; at < raw.length; at++) out[at] = raw.charCodeAt(at);
  return out;
}

/** The element of a part; while the file is still being read, it may come later. */
function element(name: string): Promise<HTMLElement | null> {
  const found = () => document.getElementById(name);
  if (found()?.nextSibling || document.readyState !== "loading") return Promise.resolve(found());
  return new Promise((resolve) =>
    document.addEventListener("DOMContentLoaded", () => resolve(found()), { once: true }),
  );
}

async function read(name: string): Promise<unknown> {
  if (served) {
    const answer = await fetch(`/part/${name}`);
    if (!answer.ok) throw new Missing(name);
    return unpack(await answer.arrayBuffer());
  }
  const here = await element(name);
  if (!here) throw new Missing(name);
  return unpack(bytes(here.textContent ?? ""));
}

/** A part that is not in this file. */
export class Missing extends Error {}

function part<T>(name: string): Promise<T> {
  let found = cache.get(name);
  if (!found) {
    found = read(name);
    cache.set(name, found);
    found.catch(() => cache.delete(name));
  }
  return found as Promise<T>;
}

/** The index is not packed: it can be shown before the rest of the file has been read. */
export function loadIndex(): Index {
  const index = JSON.parse(document.getElementById("index")!.textContent ?? "") as Index;
  served = index.served ?? false;
  return index;
}

export const loadReport = (run: number, report: number) => part<ReportPart>(`${run}.report.${report}`);
export const loadPages = (run: number, report: number) => part<PagesPart>(`${run}.pages.${report}`);
export const loadCalls = (run: number, report: number) => part<CallsPart>(`${run}.calls.${report}`);
export const loadProtocol = (run: number, number: number) => part<ProtocolPart>(`${run}.protocol.${number}`);
