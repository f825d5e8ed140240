// What to write into a budget file, ready to paste. Pure.
import { counts, type Amount, type Finding, type Window } from './model';

// A pattern's strings come from the writer: they are the ones that leakgate itself proposes.
export function allowanceText(finding: Finding, window: Window, total: Amount): string {
  if (finding.pattern.length === 0) return '';
  const stack = finding.pattern.map((glob) => JSON.stringify(glob)).join(', ');
  const entry = `{ "stack": [${stack}], "bytes": ${total.bytes}, "blocks": ${total.blocks}, "reason": "..." }`;
  return hasFile(finding, window) ? entry : `{ "component": "...", "allowances": [${entry}] }`;
}

// One entry allows all findings of a call site: with the first of them, what they come to.
// What does not count needs none.
export function allowanceTotals(findings: Finding[]): Map<Finding, Amount> {
  const totals = new Map<Finding, Amount>();
  const firsts = new Map<string, Finding>();
  for (const finding of findings) {
    if (finding.pattern.length === 0 || finding.rule !== '' || !counts(finding.disposition)) continue;
    const key = JSON.stringify([finding.component, finding.pattern]);
    const first = firsts.get(key) ?? finding;
    firsts.set(key, first);
    const total = totals.get(first) ?? { bytes: 0, blocks: 0 };
    totals.set(first, { bytes: total.bytes + finding.bytes, blocks: total.blocks + finding.blocks });
  }
  return totals;
}

// Whether a budget file is there to take it.
function hasFile(finding: Finding, window: Window): boolean {
  return finding.component !== '' || window.component !== '' || window.violations.some((violation) => violation.file);
}

// Where it goes.
export function allowancePlace(finding: Finding, window: Window): string {
  const file = window.violations.find((violation) => violation.file)?.file;
  if (finding.component) return `"allowances" of ${finding.component}'s budget file`;
  if (file) return `"allowances" of ${file}`;
  if (window.component) return `"allowances" of ${window.component}'s budget file`;
  return 'a new NAME.leakgate.json';
}

const isNumberMetric = (quantity: string) => quantity === 'file_descriptors' || quantity === 'threads';

// Raises the limits of budget files that the window is over; '' where there are none.
export function overrideText(window: Window): string {
  const limits = new Map<string, Record<string, number> | number>();
  for (const violation of window.violations) {
    if (!violation.file) continue;
    const quantity = violation.metric.replace(/_(bytes|blocks)$/, '');
    if (isNumberMetric(quantity)) {
      limits.set(quantity, violation.actual);
    } else {
      const unit = violation.metric.endsWith('_blocks') ? 'blocks' : 'bytes';
      limits.set(quantity, { ...(limits.get(quantity) as Record<string, number>), [unit]: violation.actual });
    }
  }
  if (limits.size === 0) return '';
  const text = JSON.stringify({ [window.kind]: Object.fromEntries(limits) });
  if (window.kind === 'program') return `"limits": ${text}`;
  const pattern = window.kind === 'suite' ? `${window.name}.*` : window.name;
  return `{ "tests": [${JSON.stringify(pattern)}], "limits": ${text}, "reason": "..." }`;
}
