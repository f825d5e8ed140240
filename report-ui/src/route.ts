// Where the page is: the URL's fragment, so that every view has a link and the browser's
// back button works. "#test=HttpTest.KeepAlive", "#view=tests&q=http&verdict=over_budget".
import { useLayoutEffect, useState } from 'preact/hooks';

export interface Route {
  view: string; // a tab's, or 'test' or 'cause'; what the page does not have is its overview
  get(key: string): string;
  text: string;
}

export function parse(hash: string): Route {
  const parameters = new URLSearchParams(hash.replace(/^#/, ''));
  const view = parameters.has('test') ? 'test' : parameters.has('cause') ? 'cause' : parameters.get('view') || 'overview';
  return { view, get: (key) => parameters.get(key) ?? '', text: hash };
}

// A link; what is empty is left out.
export function link(values: Record<string, string | number>): string {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) {
    if (value !== '' && value !== 0) parameters.set(key, String(value));
  }
  return `#${parameters.toString()}`;
}

const listeners = new Set<() => void>();
const tell = () => listeners.forEach((listener) => listener());
addEventListener('popstate', tell);
addEventListener('hashchange', tell);

export type Step = 'push' | 'replace';

export function go(hash: string, step: Step = 'push'): void {
  if (hash.replace(/^#$/, '') === location.hash) return;
  if (step === 'push') history.pushState(null, '', hash);
  else history.replaceState(null, '', hash);
  tell();
}

// The present place with some of its parameters changed.
export function change(values: Record<string, string | number>, step: Step = 'push'): void {
  const parameters = new URLSearchParams(location.hash.replace(/^#/, ''));
  for (const [key, value] of Object.entries(values)) {
    if (value === '' || value === 0) parameters.delete(key);
    else parameters.set(key, String(value));
  }
  go(`#${parameters.toString()}`, step);
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parse(location.hash));
  useLayoutEffect(() => {
    const listener = () => setRoute(parse(location.hash));
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return route;
}
