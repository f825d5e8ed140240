// Small pieces that several views are made of.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import * as format from './format';
import type { Window } from './model';
import { link } from './route';

const GLYPHS: Record<string, string> = {
  snapshot: '·', recording: '·', difference: '±', incomplete: '?', pass: '✓', over_budget: '✕', failed: '✕', inconclusive: '?', unconfirmed: '~', not_gated: '–', skipped: '–', not_judged: '–',
};

// Never by colour alone.
export function VerdictMark({ verdict, short = false }: { verdict: string; short?: boolean }) {
  return (
    <span class={`verdict v-${verdict}`} title={format.words(verdict)}>
      <span class="glyph" aria-hidden="true">{GLYPHS[verdict] ?? '·'}</span>
      <span class={short ? 'verdict-word short' : 'verdict-word'}>{format.words(verdict)}</span>
    </span>
  );
}

// What becomes of memory, by word and pattern: never by colour alone.
export type KindName = 'lost' | 'growing' | 'held' | 'grown' | 'shrunk';

export function Kind({ kind }: { kind: KindName }) {
  return <span class={`kind-mark ${kind}`}><span class={`swatch part-${kind}`} aria-hidden="true" />{kind}</span>;
}

// A long name, cut in the middle. All of it is in the title, for screen readers, and on focus.
export function Cut({ name, most = 64 }: { name: string; most?: number }) {
  const short = format.shortened(name, most);
  if (short === name) return <>{name}</>;
  return <span class="cut-name" title={name}><span class="cut-short" aria-hidden="true">{short}</span><span class="cut-full">{name}</span></span>;
}

export function testLink(window: Window): string {
  return link({
    test: window.name,
    kind: window.kind === 'test' ? '' : window.kind,
    run: window.run === 0 ? '' : window.run + 1,
    iteration: window.iteration === 1 ? '' : window.iteration,
  });
}

const ROOM = 112; // where it can wrap

// `fits` is how many characters there is room for, where a name cannot wrap. Its own name keeps
// more of them than its suite.
export function TestName({ window, fits = ROOM }: { window: Window; fits?: number }) {
  const ofSuite = Math.max(Math.floor(fits / 3), fits - 1 - window.test.length);
  const own = fits === ROOM ? 64 : fits - (window.suite ? 1 + Math.min(window.suite.length, ofSuite) : 0);
  return (
    <span class="test-name">
      {window.suite && <span class="suite"><Cut name={window.suite} most={fits === ROOM ? 48 : ofSuite} />.</span>}
      {window.kind !== 'test' && <span class="suite">{window.kind} </span>}
      <span class="own"><Cut name={window.test} most={own} /></span>
      {window.iteration > 1 && <span class="iteration"> #{window.iteration}</span>}
    </span>
  );
}

export function TestAnchor({ window }: { window: Window }) {
  return <a href={testLink(window)} title={window.name}><TestName window={window} /></a>;
}

export function Section({ title, aside, children, id }: {
  title: string; aside?: ComponentChildren; children: ComponentChildren; id: string;
}) {
  return (
    <section class="panel" aria-labelledby={id}>
      <header class="panel-head"><h2 id={id}>{title}</h2>{aside && <div class="aside">{aside}</div>}</header>
      {children}
    </section>
  );
}

export function Fact({ name, children, note }: {
  name: string; children: ComponentChildren; note?: ComponentChildren;
}) {
  return <div class="fact"><dt>{name}</dt><dd>{children}{note && <span class="note">{note}</span>}</dd></div>;
}

// A path whose end stays visible, with break opportunities for narrow screens.
export function Position({ file, line, parts = 3 }: { file: string; line: number; parts?: number }) {
  if (!file) return null;
  return <span class="position" title={line > 0 ? `${file}:${line}` : file}>{format.position(file, line, parts)}</span>;
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // No permission, or an old browser.
  }
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'off-screen';
  document.body.append(area);
  area.select();
  const copied = document.execCommand('copy');
  area.remove();
  return copied;
}

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [state, setState] = useState<'' | 'done' | 'failed'>('');
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async () => {
    setState((await copyText(text)) ? 'done' : 'failed');
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setState(''), 2000);
  };
  const word = state === 'done' ? 'Copied' : state === 'failed' ? 'Not copied: select the text' : 'Copy';
  return (
    <button type="button" class={`button copy ${state}`} onClick={copy} aria-label={state ? word : label}>
      <span aria-live="polite">{word}</span>
    </button>
  );
}

export function Select({ label, value, options, onChange, all }: {
  label: string; value: string; options: [string, string][]; onChange: (value: string) => void; all?: string;
}) {
  return (
    <label class="select">
      <span class="label">{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {all !== undefined && <option value="">{all}</option>}
        {options.map(([key, text]) => <option key={key} value={key}>{text}</option>)}
      </select>
    </label>
  );
}

export function SearchBox({ value, label, onInput, onDown }: {
  value: string; label: string; onInput: (value: string) => void; onDown?: () => void;
}) {
  return (
    <div class="search">
      <input
        type="search" id="search" value={value} placeholder={label} aria-label={label}
        autocomplete="off" spellcheck={false}
        onInput={(event) => onInput(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') {
            event.stopPropagation();
            if (value === '') event.currentTarget.blur();
            else onInput('');
          }
          if (event.key === 'ArrowDown' && onDown) {
            event.preventDefault();
            onDown();
          }
        }}
      />
      <kbd aria-hidden="true">/</kbd>
    </div>
  );
}

// One of a few, as buttons.
export function Choice({ label, value, options, onChange }: {
  label: string; value: string; options: [string, string][]; onChange: (value: string) => void;
}) {
  return (
    <div class="choice" role="group" aria-label={label}>
      {options.map(([key, text]) => (
        <button key={key} type="button" aria-pressed={key === value} onClick={() => onChange(key)}>{text}</button>
      ))}
    </div>
  );
}
