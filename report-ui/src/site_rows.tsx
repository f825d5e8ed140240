// Call sites in rows that unfold: each with its amounts, its call stacks, and its source.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import * as format from './format';
import { Cut, Position } from './parts';
import { usePrinting } from './printing';
import type { SitePlace, StackPlace } from './snapshot_model';
import { Source } from './source_excerpt';
import { StackList } from './stack_list';
import type { Tables } from './tables';

export interface SiteRow {
  key: string | number;
  site: SitePlace;
  numbers: ComponentChildren; // cells of class "number"
  note?: ComponentChildren; // behind the name
  bar?: number; // a share, from 0 to 1
  tone?: string; // the bar's class
  stacks: { place: StackPlace; title: string }[]; // the largest first; a title is '' if it would repeat the row
  facts?: string; // above the stacks
}

function Stacks({ tables, row, most }: { tables: Tables; row: SiteRow; most: number }) {
  const shown = row.stacks.slice(0, most);
  return (
    <div class="site-body">
      {row.facts && <p class="dim">{row.facts}</p>}
      {shown.map(({ place, title }, index) => {
        const frames = tables.stack(place.node);
        const site = frames[place.frame];
        return (
          <section key={index} class="site-stack" aria-label={title || 'Call stack'}>
            {title && <h3>{title}</h3>}
            <div class="finding-body">
              {frames.length > 0 ? <StackList frames={frames} userFrame={place.frame} end={place.end} /> : <p class="dim">{row.site.name}</p>}
              {site && index === 0 && <Source tables={tables} file={site.file} line={site.line} />}
            </div>
          </section>
        );
      })}
      {row.stacks.length > shown.length && (
        <p class="dim">{format.count(row.stacks.length, 'call stack')} lead to this line. {shown.length === 1 ? 'The largest is' : `The ${format.grouped(shown.length)} largest are`} shown.</p>
      )}
      {row.stacks.length === 0 && <p class="dim">Its call stacks are left out of this page, for there are larger ones.</p>}
    </div>
  );
}

function Row({ tables, row, isOpen, most }: { tables: Tables; row: SiteRow; isOpen: boolean; most: number }) {
  const [isUnfolded, setUnfolded] = useState(isOpen);
  const isPrinting = usePrinting();
  return (
    <li>
      <details open={isOpen || isPrinting} onToggle={(event) => setUnfolded(event.currentTarget.open)}>
        <summary>
          <span class="site-numbers">{row.numbers}</span>
          <span class="site">
            <span class="function" title={row.site.name}><Cut name={row.site.file ? format.functionName(row.site.name) : row.site.name} /></span>
            {row.note && <span class="tag">{row.note}</span>}
            <Position file={row.site.file} line={row.site.line} />
          </span>
          {row.bar !== undefined && <span class="bar" aria-hidden="true"><span class={row.tone} style={{ width: `${100 * row.bar}%` }} /></span>}
        </summary>
        {(isUnfolded || isPrinting) && <Stacks tables={tables} row={row} most={most} />}
      </details>
    </li>
  );
}

// Arrows move between the rows.
function move(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  if (step === 0 || target.tagName !== 'SUMMARY' || !target.closest('.site-rows > li > details > summary')) return;
  const all = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>(':scope > li > details > summary')];
  all[all.indexOf(target) + step]?.focus();
  event.preventDefault();
}

// `stacks` is how many of a row are shown.
export function SiteRows({ tables, rows, heads, label, stacks = 1, isFirstOpen = false }: {
  tables: Tables; rows: SiteRow[]; heads: string[]; label: string; stacks?: number; isFirstOpen?: boolean;
}) {
  return (
    <>
      <p class="site-heads" aria-hidden="true"><span class="site-numbers">{heads.map((head) => <span key={head} class="number">{head}</span>)}</span><span>Call site</span></p>
      <ol class="site-rows" aria-label={label} onKeyDown={move}>
        {rows.map((row, index) => <Row key={row.key} tables={tables} row={row} isOpen={isFirstOpen && index === 0} most={stacks} />)}
      </ol>
    </>
  );
}
