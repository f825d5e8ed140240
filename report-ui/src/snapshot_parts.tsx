// What the pages of a snapshot and of a difference have in common.
import type { ComponentChildren } from 'preact';
import * as format from './format';
import { Fact, VerdictMark } from './parts';
import type { Facts } from './snapshot_model';

// What an attached process had before is known to nobody, and no loss.
const isLoss = (line: string): boolean => !/(^|: )what was allocated before .*, when tracing began$/.test(line);

// Grey, since nothing is judged; never grey where something was lost.
export const markOf = (what: 'snapshot' | 'difference' | 'recording', missing: string[]): string => (missing.some(isLoss) ? 'incomplete' : what);

export function Hero({ mark, title, lines }: { mark: string; title: string; lines: string[] }) {
  return (
    <header class={`hero v-${mark}`}>
      <p class="hero-verdict"><VerdictMark verdict={mark} /></p>
      <h1 tabIndex={-1} id="page-title">{title}</h1>
      <p class="hero-why">{lines.filter(Boolean).map((line) => <span key={line}>{line}</span>)}</p>
    </header>
  );
}

export function Notice({ title, tone, lines }: { title: string; tone: string; lines: string[] }) {
  if (lines.length === 0) return null;
  return (
    <section class={`notice ${tone}`} aria-label={title}>
      <h2>{title}</h2>
      <ul>{lines.slice(0, 50).map((line) => <li key={line}>{line}</li>)}</ul>
      {lines.length > 50 && <p class="more">and {format.grouped(lines.length - 50)} more</p>}
    </section>
  );
}

// A file's name as a shell takes it.
export const shellWord = (file: string): string => (/^[\w./+@:=-]+$/.test(file) ? file : `'${file.replaceAll("'", "'\\''")}'`);

// What a page leaves out, and where all of it is.
export function LeftOutLine({ children, command }: { children: ComponentChildren; command: string }) {
  return <p class="notice-line">{children} All of it: <code>{command}</code></p>;
}

export function FactsPanel({ title, id, facts, more }: { title: string; id: string; facts: Facts[]; more?: [string, string][] }) {
  const rows: [string, string][] = [
    ['Program', 'image'], ['Command', 'command'], ['Taken', 'taken'], ['State', 'state'], ['Test', 'window'], ['Stacks', 'stacks'], ['Machine', 'machine'],
  ];
  const of = (one: Facts, key: string): string => (key === 'image' ? one.image : one.line(key));
  return (
    <details class="panel diagnostics">
      <summary class="panel-head"><h2 id={id}>{title}</h2></summary>
      {facts.map((one) => (
        <dl key={one.file} class="facts">
          <Fact name="File"><code>{one.file}</code></Fact>
          <Fact name="PID">{one.pid}</Fact>
          {rows.filter(([, key]) => of(one, key) !== '').map(([name, key]) => <Fact key={key} name={name}>{of(one, key)}</Fact>)}
          {more?.map(([name, text]) => <Fact key={name} name={name}>{text}</Fact>)}
        </dl>
      ))}
    </details>
  );
}
