// Numbers and words as a person reads them.

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function bytes(value: number): string {
  const sign = value < 0 ? '−' : '';
  let amount = Math.abs(value);
  let unit = 0;
  while (amount >= 1024 && unit < UNITS.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || amount >= 100 ? 0 : amount >= 10 ? 1 : 2;
  const text = unit === 0 ? grouped(amount) : amount.toFixed(digits);
  return `${sign}${text} ${UNITS[unit]}`;
}

export const signedBytes = (value: number): string => (value > 0 ? `+${bytes(value)}` : bytes(value));
export const grouped = (value: number): string => value.toLocaleString('en-US');
const plural = (value: number, noun: string): string => (value === 1 || value === -1 ? noun : `${noun}s`);
export const signed = (value: number): string => (value > 0 ? `+${grouped(value)}` : grouped(value).replace('-', '−'));

export function count(value: number, noun: string): string {
  return `${grouped(value)} ${plural(value, noun)}`;
}

export const signedCount = (value: number, noun: string): string => `${signed(value)} ${plural(value, noun)}`;

export const amount = (value: { bytes: number; blocks: number }): string =>
  `${bytes(value.bytes)} in ${count(value.blocks, 'block')}`;

export function seconds(value: number): string {
  if (value === 0) return '0 s';
  if (value < 0.001) return `${Math.round(value * 1e6)} µs`;
  if (value < 1) return `${(value * 1000).toFixed(value < 0.1 ? 1 : 0)} ms`;
  if (value < 120) return `${value.toFixed(2)} s`;
  const whole = Math.round(value);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

export function percent(part: number, whole: number): string {
  if (whole === 0) return '0 %';
  const value = (100 * part) / whole;
  return `${value >= 10 || value === 0 ? value.toFixed(0) : value.toFixed(1)} %`;
}

// "over_budget" -> "over budget".
export const words = (identifier: string): string => identifier.replaceAll('_', ' ');

export function metricValue(metric: string, value: number): string {
  if (metric.endsWith('_bytes')) return bytes(value);
  return metric.endsWith('_blocks') ? count(value, 'block') : grouped(value);
}

export const fileName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

// The last folders of a path: what tells a file from its namesakes.
export function shortPath(path: string, parts = 3): string {
  const folders = path.split('/');
  return folders.length <= parts ? path : `…/${folders.slice(-parts).join('/')}`;
}

export const position = (file: string, line: number, parts = 3): string =>
  line > 0 ? `${shortPath(file, parts)}:${line}` : shortPath(file, parts);

// "net::Pool::Grow(unsigned long)" -> "net::Pool::Grow".
export function functionName(signature: string): string {
  // After the parameters: "const", "&", "[clone .cold]".
  const end = signature.replace(/( const| &{1,2}| noexcept| \[[^\]]*\])+$/, '').length;
  if (signature[end - 1] !== ')') return signature;
  let depth = 0;
  for (let at = end - 1; at >= 0; at -= 1) {
    const character = signature[at];
    if (character === ')') depth += 1;
    if (character === '(' && --depth === 0) {
      const name = signature.slice(0, at);
      // "operator()" and "(anonymous namespace)::..." keep theirs.
      return name === '' || name.endsWith('operator') ? signature : name;
    }
  }
  return signature;
}
