// The frame around the views: head, navigation, keys.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { FlameView } from './flame_view';
import type { Report } from './model';
import { CausePage } from './causes_view';
import { shownVerdict } from './headline';
import { Overview } from './overview';
import { VerdictMark } from './parts';
import { subject } from './programs';
import { go, useRoute, type Route, type View } from './route';
import { TestPage } from './test_page';
import { TestsView } from './tests_view';
import { currentTheme, onThemeChange, toggleTheme } from './theme';
import { TimelineView } from './timeline_view';

const TABS: [View, string, string][] = [
  ['overview', 'Overview', '#'],
  ['tests', 'Tests', '#view=tests'],
  ['timeline', 'Timeline', '#view=timeline'],
  ['flame', 'Flame graph', '#view=flame'],
];

const KEYS: [string, string][] = [
  ['/', 'search'], ['1 – 4', 'overview, tests, timeline, flame graph'], ['↑ ↓', 'move in a list or the flame graph'],
  ['Enter', 'open, zoom in'], ['← →', 'previous or next test; neighbours in the flame graph'], ['Esc', 'clear the search, zoom out, go back'],
  ['t', 'dark or light'], ['?', 'these keys'],
];

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches('input:not([type=range]), textarea, select');

let wantsSearch = false; // on the page that is to come

function focusSearch(): void {
  const box = document.getElementById('search') as HTMLInputElement | null;
  if (box) {
    box.focus();
    box.select();
    return;
  }
  wantsSearch = true;
  go('#view=tests');
}

// True if the key meant something.
function actOn(event: KeyboardEvent, route: Route, help: HTMLDialogElement | null): boolean {
  const tab = TABS[Number(event.key) - 1];
  if (event.key === '/') focusSearch();
  else if (event.key === '?') help?.showModal();
  else if (event.key === 't') toggleTheme();
  else if (tab) go(tab[2]);
  else if (route.view === 'test' && (event.key === 'ArrowLeft' || event.key === 'ArrowRight')) {
    document.querySelector<HTMLElement>(`.neighbours [rel=${event.key === 'ArrowLeft' ? 'prev' : 'next'}]`)?.click();
  } else if (event.key === 'Escape') {
    if (route.view === 'test' || route.view === 'cause') history.length > 1 ? history.back() : go('#view=tests');
    else if (route.view !== 'overview' && route.text !== `#view=${route.view}`) go(`#view=${route.view}`);
    else return false;
  } else return false;
  return true;
}

function useKeys(route: Route, help: { current: HTMLDialogElement | null }): void {
  const latest = useRef(route);
  latest.current = route;
  // Before the first picture, so that no key is lost.
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (isTyping(event.target) || help.current?.open) return;
      const isRange = event.target instanceof HTMLInputElement;
      if (isRange && event.key.startsWith('Arrow')) return;
      if (actOn(event, latest.current, help.current)) event.preventDefault();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
}

// Folded frames are told on paper.
function usePrintedDetails(): void {
  useEffect(() => {
    let opened: HTMLDetailsElement[] = [];
    const before = () => {
      opened = [...document.querySelectorAll<HTMLDetailsElement>('details:not([open])')];
      for (const one of opened) one.open = true;
    };
    const after = () => opened.forEach((one) => { one.open = false; });
    addEventListener('beforeprint', before);
    addEventListener('afterprint', after);
    return () => { removeEventListener('beforeprint', before); removeEventListener('afterprint', after); };
  }, []);
}

function ThemeButton() {
  const [theme, setTheme] = useState(currentTheme());
  useEffect(() => onThemeChange(() => setTheme(currentTheme())), []);
  return (
    <button type="button" class="icon" id="theme" aria-label={theme === 'dark' ? 'Light theme' : 'Dark theme'} title="dark or light (t)" onClick={toggleTheme}>
      <span aria-hidden="true">{theme === 'dark' ? '☀' : '☾'}</span>
    </button>
  );
}

function Help({ dialog }: { dialog: { current: HTMLDialogElement | null } }) {
  return (
    <dialog ref={dialog} aria-labelledby="help-title" class="help">
      <form method="dialog">
        <h2 id="help-title">Keys</h2>
        <dl>{KEYS.map(([key, text]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{text}</dd></div>)}</dl>
        <button class="button">Close</button>
      </form>
    </dialog>
  );
}

function titleOf(report: Report, route: Route): string {
  const name = route.view === 'test' ? route.get('test') : route.view === 'cause' ? `Cause ${route.get('cause')}` : TABS.find(([view]) => view === route.view)?.[1] ?? '';
  return `${name} · ${subject(report)} · leakgate`;
}

// A new page starts at its top, and a screen reader at its heading.
function useNewPage(report: Report, route: Route): void {
  const page = route.view === 'test' || route.view === 'cause' ? route.text : route.view;
  const isFirst = useRef(true);
  useEffect(() => { document.title = titleOf(report, route); }, [route.text]);
  useLayoutEffect(() => {
    if (isFirst.current) {
      isFirst.current = false;
      return;
    }
    scrollTo(0, 0);
    document.getElementById(wantsSearch ? 'search' : 'page-title')?.focus({ preventScroll: true });
    wantsSearch = false;
  }, [page]);
}

export function App({ report }: { report: Report }) {
  const route = useRoute();
  const help = useRef<HTMLDialogElement>(null);
  useKeys(route, help);
  usePrintedDetails();
  useNewPage(report, route);
  const current: View = route.view === 'test' ? 'tests' : route.view === 'cause' ? 'overview' : route.view;
  const program = subject(report);
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById('page-title')?.focus(); }}>Skip to the content</a>
      <header class="top">
        <div class="brand"><a href="#">leakgate</a><span class="program" title={report.runs.map((run) => run.binary).slice(0, 5).join('\n')}>{program}</span></div>
        <nav aria-label="Views">
          {TABS.map(([view, title, href]) => (
            <a key={view} href={href} aria-current={view === current ? 'page' : undefined}
              onClick={(event) => { if (!event.ctrlKey && !event.metaKey && !event.shiftKey) { event.preventDefault(); go(href); } }}>{title}</a>
          ))}
        </nav>
        <div class="top-end">
          <VerdictMark verdict={shownVerdict(report)} />
          <button type="button" class="icon" aria-label="Keys" title="keys (?)" onClick={() => help.current?.showModal()}><span aria-hidden="true">?</span></button>
          <ThemeButton />
        </div>
      </header>
      <main id="main">
        {route.view === 'overview' && <Overview report={report} />}
        {route.view === 'cause' && <CausePage report={report} route={route} />}
        {route.view === 'tests' && <TestsView report={report} route={route} />}
        {route.view === 'timeline' && report.runs.length > 0 && <TimelineView report={report} route={route} />}
        {route.view === 'flame' && <FlameView report={report} route={route} />}
        {route.view === 'test' && <TestPage report={report} route={route} />}
      </main>
      <Help dialog={help} />
    </>
  );
}
