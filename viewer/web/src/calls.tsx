// Calls to the outside, each opened to what was asked and what came back.
import type { Call, Json } from "./data";
import { isObject } from "./items";
import { Out } from "./ui";
import { kindWord, money, plural, seconds } from "./words";

export function CallRow({ call, note, name }: { call: Call; note?: string; name?: string }) {
  const tokens = call.tokens[0] + call.tokens[2];
  const shown = call.request !== undefined || call.answer !== undefined;
  const line = (
    <>
      <span class={`kind ${call.kind}`}>{name ?? kindWord(call.kind)}</span>
      <span class="subject" dir="auto">{call.kind === "completion" ? lastWords(call) : call.subject}</span>
      <span class="numbers">
        {call.state !== "usable" && <b class="bad">{call.state}</b>} {tokens > 0 && `${tokens.toLocaleString("en")} tokens · `}
        {seconds(call.seconds)}
        {call.usd !== 0 && ` · ${money(call.usd)}`}
        {call.reused && " · reused"}
        {note && ` · ${note}`}
      </span>
    </>
  );
  if (!shown) return <div class="call">{line}</div>;
  return (
    <details class="call">
      <summary>{line}</summary>
      {call.reason && <p class="bad">{call.reason}</p>}
      <CallBody call={call} />
    </details>
  );
}

/** What a completion was asked last, as a short name for it. */
function lastWords(call: Call): string {
  const messages = isObject(call.request) ? call.request.messages : undefined;
  const last = Array.isArray(messages) ? messages[messages.length - 1] : undefined;
  const text = isObject(last) ? textOf(last.content ?? null) : "";
  const question = text.trim().split(/\n\s*\n/).pop() ?? "";
  const lines = question.split("\n").filter((line) => line.trim());
  const name = lines[0]?.trim().endsWith(":") ? lines.slice(0, 2).join(" ") : lines[0];
  return name?.slice(0, 200) || call.subject;
}

function textOf(content: Json): string {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map((part) => (isObject(part) && typeof part.text === "string" ? part.text : "")).join("\n");
  return content === null ? "" : JSON.stringify(content, null, 2);
}

function CallBody({ call }: { call: Call }) {
  return (
    <div class="body">
      <p class="dim">
        {call.endpoint} · {call.at.replace("T", " ").replace("+00:00", " UTC")} · {plural(call.tokens[0], "prompt token")} ({call.tokens[1]} cached), {call.tokens[2]} written · <code>{call.key.slice(0, 12)}</code>
      </p>
      {call.kind === "completion" ? <Messages call={call} /> : <Asked call={call} />}
    </div>
  );
}

function Messages({ call }: { call: Call }) {
  const request = isObject(call.request) ? call.request : {};
  const messages = Array.isArray(request.messages) ? request.messages.filter(isObject) : [];
  return (
    <>
      {messages.map((message, number) => (
        <div key={number} class="message">
          <b>{String(message.role ?? "")}</b>
          <pre dir="auto">{textOf(message.content ?? null)}</pre>
        </div>
      ))}
      <div class="message answer">
        <b>answer</b>
        <pre dir="auto">{answerOf(call.answer)}</pre>
      </div>
    </>
  );
}

function answerOf(answer: Json | undefined): string {
  if (isObject(answer)) for (const name of ["text", "content"]) if (typeof answer[name] === "string") return answer[name];
  return answer == null ? "none" : JSON.stringify(answer, null, 2);
}

function Asked({ call }: { call: Call }) {
  const hits = isObject(call.answer) && Array.isArray(call.answer.hits) ? call.answer.hits.filter(isObject) : null;
  if (hits)
    return (
      <ol class="hits">
        {hits.map((hit, number) => (
          <li key={number}>
            <Out href={String(hit.url ?? "")}>{String(hit.title || hit.url || "")}</Out>
            <small dir="auto"> {String(hit.snippet ?? "").slice(0, 300)}</small>
          </li>
        ))}
        {hits.length === 0 && <li>nothing found</li>}
      </ol>
    );
  return (
    <>
      {call.kind === "page" && <p><Out href={call.subject}>{call.subject.slice(0, 200)}</Out></p>}
      <pre dir="auto">{call.answer == null ? call.reason || "none" : JSON.stringify(call.answer, null, 2)}</pre>
    </>
  );
}
