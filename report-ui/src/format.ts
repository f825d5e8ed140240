// Numbers and words as a person reads them.

const HOUR = 3600;
const DAY = 24 * HOUR;
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function bytes(value: number, more = 0): string {
  const sign = value < 0 ? '−' : '';
  let amount = Math.abs(value);
  let unit = 0;
  while (amount >= 1024 && unit < UNITS.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  const digits = (unit === 0 || amount >= 100 ? 0 : amount >= 10 ? 1 : 2) + more;
  const text = unit === 0 ? grouped(amount) : amount.toFixed(digits);
  return `${sign}${text} ${UNITS[unit]}`;
}

export const signedBytes = (value: number): string => (value > 0 ? `+${bytes(value)}` : bytes(value));
export const grouped = (value: number): string => value.toLocaleString('en-US');
const plural = (value: number, noun: string): string =>
  (value === 1 || value === -1 ? noun : `${noun}${noun.endsWith('s') ? 'es' : 's'}`);
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
  if (value < 2 * HOUR) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  if (value < 2 * DAY) return `${Math.floor(whole / HOUR)} h ${Math.floor((whole % HOUR) / 60)} min`;
  return `${Math.floor(whole / DAY)} days ${Math.floor((whole % DAY) / HOUR)} h`;
}

export function percent(part: number, whole: number): string {
  if (whole === 0) return '0 %';
  const value = (100 * part) / whole;
  if (value > 0 && value < 0.1) return '< 0.1 %';
  return `${value >= 10 || value === 0 ? value.toFixed(0) : value.toFixed(1)} %`;
}

// "net::Pool<std::map<int, std::string>>::Grow" in a few characters: template arguments go first,
// then the middle, since both ends tell names apart.
export function shortened(name: string, most: number): string {
  if (name.length <= most) return name;
  let text = name;
  for (let before = ''; before !== text && text.length > most;) {
    before = text;
    text = text.replace(/<[^<>]*[^<>…][^<>]*>/, '⟨…⟩');
  }
  text = text.replaceAll('⟨', '<').replaceAll('⟩', '>');
  if (text.length <= most) return text;
  const end = Math.floor((most - 1) / 2);
  return `${text.slice(0, most - 1 - end)}…${text.slice(text.length - end)}`;
}

// Amounts for an axis, from coarse to exact: the first way in which no two read the same.
export const EXACT_BYTES = [
  (value: number) => bytes(value), (value: number) => bytes(value, 3), (value: number) => `${grouped(value)} B`,
];

export function distinctLabels(values: number[], ways: ((value: number) => string)[]): string[] {
  let labels: string[] = [];
  for (const way of ways) {
    labels = values.map((value) => way(value));
    if (new Set(labels).size === labels.length) return labels;
  }
  return labels.map((label, index) => (labels.indexOf(label) === index ? label : ''));
}

// "12 tests, 1 suite and 2 processes".
export function list(texts: string[]): string {
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} and ${texts[texts.length - 1]}`;
}

// "over_budget" -> "over budget".
export const words = (identifier: string): string => identifier.replaceAll('_', ' ');

// "steady_blocks" -> "growing": what a limit limits, without its unit.
export const quantity = (metric: string): string => words(metric.replace(/_(bytes|blocks)$/, '')).replace(/^steady\b/, 'growing');
export const metricName = (metric: string): string => words(metric).replace(/^steady\b/, 'growing');

export function metricValue(metric: string, value: number): string {
  if (metric.endsWith('_bytes')) return bytes(value);
  return metric.endsWith('_blocks') ? count(value, metric.includes('mapped') ? 'mapping' : 'block') : grouped(value);
}

export const fileName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

// The last folders of a path: what tells a file from its namesakes.
export function shortPath(path: string, parts = 3): string {
  const folders = path.split('/');
  return folders.length <= parts ? path : `…/${folders.slice(-parts).join('/')}`;
}

export const position = (file: string, line: number, parts = 3): string =>
  line > 0 ? `${shortPath(file, parts)}:${line}` : shortPath(file, parts);

// Names as people write them: the library's own string type has the name that everybody knows.
export const readable = (name: string): string =>
  name.replaceAll('std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >', 'std::string').replaceAll('std::__cxx11::', 'std::');

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
