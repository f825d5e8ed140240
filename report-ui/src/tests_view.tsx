// The table of tests. Rows are made only for what is in view.
import {
  Virtualizer, elementScroll, observeElementOffset, observeElementRect,
} from '@tanstack/virtual-core';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import * as format from './format';
import { VERDICTS, type Report, type Window } from './model';
import { SearchBox, Select, TestName, VerdictMark, testLink } from './parts';
import { usePrinting } from './printing';
import { hasRunsToTellApart, programsOf } from './programs';
import { change, go, type Route } from './route';
import { distinct, duration, select, type Query } from './rows';

const ROW_HEIGHT = 34;
const MOST_PRINTED = 500;

interface Column {
  key: string;
  title: string;
  isNumber?: boolean;
  optional?: 'phone' | 'narrow'; // left out where the screen is smaller
  text: (window: Window) => string;
  isQuiet?: (window: Window) => boolean;
}

const bytesColumn = (key: string, title: string, of: (window: Window) => number, optional?: 'phone' | 'narrow'): Column => ({
  key, title, isNumber: true, optional,
  text: (window) => format.bytes(of(window)),
  isQuiet: (window) => of(window) === 0,
});

const COLUMNS: Column[] = [
  { key: 'component', title: 'Component', optional: 'phone', text: (window) => window.component || '–' },
  bytesColumn('outstanding', 'Outstanding', (window) => window.outstanding.bytes),
  bytesColumn('lost', 'Lost', (window) => window.lost.bytes, 'phone'),
  bytesColumn('retained', 'Retained', (window) => window.retained.bytes, 'narrow'),
  {
    key: 'growth', title: 'Growth', isNumber: true, optional: 'narrow',
    text: (window) => format.signedBytes(window.growth.bytes), isQuiet: (window) => window.growth.bytes === 0,
  },
  bytesColumn('peak', 'Peak live', (window) => window.peak, 'narrow'),
  {
    key: 'findings', title: 'Findings', isNumber: true, optional: 'phone',
    text: (window) => format.grouped(window.findings.length), isQuiet: (window) => window.findings.length === 0,
  },
];
const SECONDS: Column = {
  key: 'seconds', title: 'Time', isNumber: true, optional: 'narrow',
  text: (window) => { const time = duration(window); return time === null ? '–' : format.seconds(time); },
};

function queryOf(route: Route): Query {
  return {
    text: route.get('q'),
    verdicts: new Set(route.get('verdict').split(',').filter(Boolean)),
    component: route.get('component'),
    suite: route.get('suite'),
    run: route.get('run'),
    program: route.get('program'),
    sort: route.get('sort').replace(/^-/, ''),
    descending: route.get('sort').startsWith('-'),
  };
}

function SortHeader({ column, query }: { column: Pick<Column, 'key' | 'title' | 'isNumber' | 'optional'>; query: Query }) {
  const isSorted = query.sort === column.key;
  const direction = isSorted ? (query.descending ? 'descending' : 'ascending') : 'none';
  // Numbers are looked at from the largest on; a third click is the usual order again.
  const first = column.isNumber ? `-${column.key}` : column.key;
  const second = column.isNumber ? column.key : `-${column.key}`;
  const now = isSorted ? `${query.descending ? '-' : ''}${column.key}` : '';
  const next = now === '' ? first : now === first ? second : '';
  return (
    <th scope="col" aria-sort={direction} class={`c-${column.key} ${column.isNumber ? 'number' : ''} ${column.optional ?? ''}`}>
      <button type="button" onClick={() => change({ sort: next })}>
        {column.title}<span class="arrow" aria-hidden="true">{isSorted ? (query.descending ? '▼' : '▲') : ''}</span>
      </button>
    </th>
  );
}

// The offset of the table, kept for the way back.
const offsets = new Map<string, number>();

function useVirtualRows(count: number, key: string) {
  const scroller = useRef<HTMLDivElement>(null);
  const [, redraw] = useState(0);
  const virtualizer = useRef<Virtualizer<HTMLDivElement, Element> | undefined>(undefined);
  const options = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    overscan: 12,
    scrollPaddingStart: ROW_HEIGHT,
    onChange: () => redraw((times) => times + 1),
  };
  virtualizer.current ??= new Virtualizer<HTMLDivElement, Element>(options);
  virtualizer.current.setOptions(options);
  useLayoutEffect(() => virtualizer.current!._didMount(), []);
  useLayoutEffect(() => virtualizer.current!._willUpdate());
  useLayoutEffect(() => {
    if (scroller.current) scroller.current.scrollTop = offsets.get(key) ?? 0;
    return () => void offsets.set(key, scroller.current?.scrollTop ?? 0);
  }, [key]);
  return { scroller, virtualizer: virtualizer.current };
}

// Characters that the column of names has room for, as the style sheet lays it out.
const roomForNames = (): number => (innerWidth <= 720 ? 25 : innerWidth < 1400 ? 35 : 48);

function Row({ window, index, columns, isActive, onFocus }: {
  window: Window; index: number; columns: Column[]; isActive: boolean; onFocus: () => void;
}) {
  const href = testLink(window);
  const open = (event: MouseEvent) => {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0;
    if (isPlain && !(event.target as Element).closest('a') && getSelection()?.isCollapsed !== false) go(href);
  };
  return (
    <tr aria-rowindex={index + 2} class={isActive ? 'active' : ''} onClick={open}>
      <td class="c-verdict"><VerdictMark verdict={window.verdict} /></td>
      <th scope="row" class="c-name">
        <a href={href} title={window.name} data-row={index} tabIndex={isActive ? 0 : -1} onFocus={onFocus}><TestName window={window} fits={roomForNames()} /></a>
      </th>
      {columns.map((column) => (
        <td key={column.key} class={`c-${column.key} ${column.isNumber ? 'number' : ''} ${column.optional ?? ''} ${column.isQuiet?.(window) ? 'dim' : ''}`}>
          {column.text(window)}
        </td>
      ))}
    </tr>
  );
}

function Filters({ report, query }: { report: Report; query: Query }) {
  const counted = useMemo(() => {
    const numbers = new Map<string, number>();
    for (const test of report.tests) numbers.set(test.verdict, (numbers.get(test.verdict) ?? 0) + 1);
    return numbers;
  }, [report]);
  const components = useMemo(() => distinct(report, (window) => window.component), [report]);
  const suites = useMemo(() => distinct(report, (window) => window.suite), [report]);
  const toggle = (verdict: string) => {
    const verdicts = new Set(query.verdicts);
    if (!verdicts.delete(verdict)) verdicts.add(verdict);
    change({ verdict: [...verdicts].join(',') });
  };
  const programs = programsOf(report);
  const all = programs.map((program) => format.fileName(program.binary));
  const names = new Set(all.filter((name, index) => all.indexOf(name) !== index)); // of several programs
  const named = (names: string[]): [string, string][] => names.map((name) => [name, name]);
  return (
    <>
      <div class="chips" role="group" aria-label="Verdicts">
        {VERDICTS.filter((verdict) => counted.has(verdict)).map((verdict) => (
          <button key={verdict} type="button" class="chip" aria-pressed={query.verdicts.has(verdict)} onClick={() => toggle(verdict)}>
            <VerdictMark verdict={verdict} /> <span class="number">{format.grouped(counted.get(verdict)!)}</span>
          </button>
        ))}
      </div>
      {components.length > 0 && (
        <Select label="Component" value={query.component} options={named(components)} all="all components" onChange={(component) => change({ component })} />
      )}
      {suites.length > 1 && (
        <Select label="Suite" value={query.suite} options={named(suites)} all="all suites" onChange={(suite) => change({ suite })} />
      )}
      {programs.length > 1 && (
        <Select label="Program" value={query.program} all="all programs" onChange={(program) => change({ program })}
          options={programs.map((program) => [String(program.index + 1), names.has(format.fileName(program.binary)) ? format.shortPath(program.binary, 2) : format.fileName(program.binary)])} />
      )}
      {hasRunsToTellApart(report) && programs.length < report.runs.length && (
        <Select label="Run" value={query.run} all="all runs" onChange={(run) => change({ run })}
          options={report.runs.map((run) => [String(run.index + 1), `${run.index + 1} ${format.fileName(run.binary)}`])} />
      )}
    </>
  );
}

export function TestsView({ report, route }: { report: Report; route: Route }) {
  const query = useMemo(() => queryOf(route), [route.text]);
  const rows = useMemo(() => select(report, query), [report, query]);
  const columns = useMemo(
    () => (report.tests.some((test) => duration(test) !== null) ? [...COLUMNS, SECONDS] : COLUMNS), [report]);
  const { scroller, virtualizer } = useVirtualRows(rows.length, route.text);
  const [active, setActive] = useState(0);
  const isPrinting = usePrinting();
  const wanted = useRef(-1); // the row to focus when it is there

  useEffect(() => setActive(0), [query]);
  useLayoutEffect(() => {
    if (wanted.current < 0) return;
    const anchor = scroller.current?.querySelector<HTMLElement>(`[data-row="${wanted.current}"]`);
    if (!anchor) return;
    wanted.current = -1;
    anchor.focus({ preventScroll: true });
  });

  const focusRow = (index: number) => {
    const row = Math.max(0, Math.min(rows.length - 1, index));
    const anchor = scroller.current?.querySelector<HTMLElement>(`[data-row="${row}"]`);
    anchor?.focus({ preventScroll: true });
    wanted.current = anchor ? -1 : row;
    virtualizer.scrollToIndex(row, { align: 'auto' });
    setActive(row);
  };
  const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 400) / ROW_HEIGHT) - 2);
  const moves: Record<string, number> = {
    ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page,
    Home: 0, End: rows.length - 1,
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!(event.target as Element).closest('tbody') || !(event.key in moves)) return;
    event.preventDefault();
    focusRow(moves[event.key]);
  };

  const items = virtualizer.getVirtualItems();
  const first = isPrinting ? 0 : items[0]?.index ?? 0;
  const last = isPrinting ? Math.min(rows.length, MOST_PRINTED) : (items[items.length - 1]?.index ?? -1) + 1;
  const shown = rows.slice(first, last);
  const isFiltered = rows.length !== report.tests.length;
  const isActiveShown = active >= first && active < last;
  const tabRow = isActiveShown ? active : first;

  return (
    <div class="page tests">
      <h1 class="off-screen" tabIndex={-1} id="page-title">Tests</h1>
      <div class="toolbar" role="search">
        <SearchBox value={query.text} label="Search tests" onInput={(q) => change({ q }, 'replace')} onDown={() => focusRow(0)} />
        <Filters report={report} query={query} />
        <p class="result" role="status">
          {isFiltered ? `${format.grouped(rows.length)} of ${format.count(report.tests.length, 'test')}` : format.count(rows.length, 'test')}
          {isFiltered && <> · <button type="button" class="link" onClick={() => go('#view=tests')}>clear</button></>}
        </p>
      </div>
      <div class="table-scroller" ref={scroller} onKeyDown={onKeyDown}>
        <table class="grid" aria-rowcount={rows.length + 1} aria-label="Tests">
          <thead>
            <tr aria-rowindex={1}>
              <SortHeader column={{ key: 'verdict', title: 'Verdict' }} query={query} />
              <SortHeader column={{ key: 'name', title: 'Test' }} query={query} />
              {columns.map((column) => <SortHeader key={column.key} column={column} query={query} />)}
            </tr>
          </thead>
          <tbody>
            {first > 0 && <tr class="spacer" aria-hidden="true" style={{ height: `${first * ROW_HEIGHT}px` }} />}
            {shown.map((window, offset) => (
              <Row key={window.id} window={window} index={first + offset} columns={columns}
                isActive={first + offset === tabRow} onFocus={() => setActive(first + offset)} />
            ))}
            {last < rows.length && !isPrinting && (
              <tr class="spacer" aria-hidden="true" style={{ height: `${(rows.length - last) * ROW_HEIGHT}px` }} />
            )}
          </tbody>
        </table>
        {rows.length === 0 && <p class="quiet">{report.tests.length === 0 ? 'No test ran.' : 'No test is like that.'}</p>}
        {isPrinting && rows.length > last && <p class="more">and {format.count(rows.length - last, 'more test')}</p>}
      </div>
    </div>
  );
}
