// The frame around the views of any page: head, navigation, keys.
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { VerdictMark } from './parts';
import { go, link, useRoute, type Route } from './route';
import { currentTheme, onThemeChange, toggleTheme } from './theme';

export interface Tab {
  view: string;
  title: string;
  isSearch?: boolean; // '/' leads here
}

export interface PageFrame {
  tabs: Tab[];
  parents: Record<string, string>; // of views that have no tab: the tab that they belong to
  subject: string;
  tooltip: string;
  mark: string; // the verdict, or what the page is of
  keys: [string, string][];
  titleOf: (route: Route) => string; // of a view that has no tab
  keeps?: string[]; // parameters of the place that hold in all tabs
  onKey?: (event: KeyboardEvent, route: Route) => boolean;
  render: (route: Route) => ComponentChildren;
}

// Of a tab, with what holds in all of them.
function hrefOf(view: string, frame: PageFrame, route: Route): string {
  const kept = Object.fromEntries((frame.keeps ?? []).map((key) => [key, route.get(key)]));
  return link({ view: view === 'overview' ? '' : view, ...kept });
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches('input:not([type=range]), textarea, select');

let wantsSearch = false; // on the page that is to come

function focusSearch(frame: PageFrame, route: Route): void {
  const box = document.getElementById('search') as HTMLInputElement | null;
  if (box) {
    box.focus();
    box.select();
    return;
  }
  wantsSearch = true;
  go(hrefOf(frame.tabs.find((tab) => tab.isSearch)!.view, frame, route));
}

// True if the key meant something.
function actOn(event: KeyboardEvent, frame: PageFrame, route: Route, help: HTMLDialogElement | null): boolean {
  const tab = frame.tabs[Number(event.key) - 1];
  if (event.key === '/') focusSearch(frame, route);
  else if (event.key === '?') help?.showModal();
  else if (event.key === 't') toggleTheme();
  else if (tab) go(hrefOf(tab.view, frame, route));
  else if (frame.onKey?.(event, route)) return true;
  else if (event.key === 'Escape' && route.view !== 'overview' && route.text !== hrefOf(route.view, frame, route)) go(hrefOf(route.view, frame, route));
  else return false;
  return true;
}

function useKeys(frame: PageFrame, route: Route, help: { current: HTMLDialogElement | null }): void {
  const latest = useRef({ frame, route });
  latest.current = { frame, route };
  // Before the first picture, so that no key is lost.
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (isTyping(event.target) || help.current?.open) return;
      const isRange = event.target instanceof HTMLInputElement;
      if (isRange && event.key.startsWith('Arrow')) return;
      if (actOn(event, latest.current.frame, latest.current.route, help.current)) event.preventDefault();
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

function Help({ keys, dialog }: { keys: [string, string][]; dialog: { current: HTMLDialogElement | null } }) {
  return (
    <dialog ref={dialog} aria-labelledby="help-title" class="help">
      <form method="dialog">
        <h2 id="help-title">Keys</h2>
        <dl>{keys.map(([key, text]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{text}</dd></div>)}</dl>
        <button class="button">Close</button>
      </form>
    </dialog>
  );
}

// A new page starts at its top, and a screen reader at its heading.
function useNewPage(frame: PageFrame, route: Route): void {
  const page = frame.parents[route.view] ? route.text : route.view;
  const isFirst = useRef(true);
  useEffect(() => {
    const name = frame.tabs.find((tab) => tab.view === route.view)?.title ?? frame.titleOf(route);
    document.title = `${name} · ${frame.subject} · leakgate`;
  }, [route.text]);
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

function useKnownRoute({ tabs, parents }: PageFrame): Route {
  const route = useRoute();
  const isKnown = tabs.some((tab) => tab.view === route.view) || route.view in parents;
  return isKnown ? route : { ...route, view: 'overview' };
}

export function Shell({ frame }: { frame: PageFrame }) {
  const route = useKnownRoute(frame);
  const help = useRef<HTMLDialogElement>(null);
  useKeys(frame, route, help);
  usePrintedDetails();
  useNewPage(frame, route);
  const current = frame.parents[route.view] ?? route.view;
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById('page-title')?.focus(); }}>Skip to the content</a>
      <header class="top">
        <div class="brand"><a href="#">leakgate</a><span class="program" title={frame.tooltip}>{frame.subject}</span></div>
        <nav aria-label="Views">
          {frame.tabs.map(({ view, title }) => (
            <a key={view} href={hrefOf(view, frame, route)} aria-current={view === current ? 'page' : undefined}
              onClick={(event) => { if (!event.ctrlKey && !event.metaKey && !event.shiftKey) { event.preventDefault(); go(hrefOf(view, frame, route)); } }}>{title}</a>
          ))}
        </nav>
        <div class="top-end">
          <VerdictMark verdict={frame.mark} />
          <button type="button" class="icon" aria-label="Keys" title="keys (?)" onClick={() => help.current?.showModal()}><span aria-hidden="true">?</span></button>
          <ThemeButton />
        </div>
      </header>
      <main id="main">{frame.render(route)}</main>
      <Help keys={frame.keys} dialog={help} />
    </>
  );
}
