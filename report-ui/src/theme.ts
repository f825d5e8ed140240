// Dark or light: as the system says, until the person says otherwise.
const KEY = 'leakgate-theme';

export type Theme = 'light' | 'dark';

function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // some browsers have no storage for files
  }
}

export function currentTheme(): Theme {
  const chosen = document.documentElement.dataset.theme;
  if (chosen === 'light' || chosen === 'dark') return chosen;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

const listeners = new Set<() => void>();

export function onThemeChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export function applyStoredTheme(): void {
  const theme = stored();
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  const tell = () => listeners.forEach((listener) => listener());
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', tell);
  matchMedia('print').addEventListener('change', tell);
}

export function toggleTheme(): void {
  const theme: Theme = currentTheme() === 'dark' ? 'light' : 'dark';
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // It holds for this visit.
  }
  listeners.forEach((listener) => listener());
}

// What a custom property is worth just now, for a canvas.
export function colour(name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  probe.hidden = true;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}
