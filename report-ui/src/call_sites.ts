// Findings by call site: the first frame that is the user's own. Pure.
import { counts, type Report, type Window } from './model';
import type { Frame } from './tables';

export interface CallSite {
  frame: Frame | null; // null: no frame is the user's
  bytes: number;
  blocks: number;
  findings: number;
  windows: Set<number>;
}

export type Which = 'counted' | 'users' | 'all';

export function isWanted(report: Report, raw: (number | number[])[], which: Which): boolean {
  if (which === 'all') return true;
  if (((raw[8] as number | undefined) ?? 0) !== 0) return false; // the framework's own
  return which === 'users' || counts(report.string(raw[3] as number));
}

// The largest first.
export function callSites(report: Report, windows: Iterable<Window>, which: Which): CallSite[] {
  const sites = new Map<string, CallSite>();
  for (const window of windows) {
    for (const raw of window.findings) {
      if (!isWanted(report, raw, which)) continue;
      const index = report.userFrameIndex(raw);
      const frame = index < 0 ? null : report.frame(index);
      const key = frame === null ? '' : `${frame.func}\n${frame.file}\n${frame.line}`;
      let site = sites.get(key);
      if (!site) {
        site = { frame, bytes: 0, blocks: 0, findings: 0, windows: new Set() };
        sites.set(key, site);
      }
      site.bytes += (raw[0] as number | undefined) ?? 0;
      site.blocks += (raw[1] as number | undefined) ?? 0;
      site.findings += 1;
      site.windows.add(window.id);
    }
  }
  return [...sites.values()].sort((a, b) => b.bytes - a.bytes || b.blocks - a.blocks);
}
