// Findings by call site: the first frame that is the user's own. Pure.
import { FINDING, type Row } from './fields';
import { counts, forEachFinding, numberAt, type Report, type Window } from './model';
import type { Frame } from './tables';

export interface CallSite {
  frame: Frame | null; // null: no frame is the user's
  bytes: number;
  blocks: number;
  findings: number;
  windows: Set<number>;
}

export type Which = 'counted' | 'users' | 'all';

export function isWanted(report: Report, row: Row, which: Which): boolean {
  if (which === 'all') return true;
  if (numberAt(row, FINDING.framework_rule) !== 0) return false;
  return which === 'users' || counts(report.string(numberAt(row, FINDING.disposition)));
}

// The largest first.
export function callSites(report: Report, windows: Iterable<Window>, which: Which): CallSite[] {
  const sites = new Map<string, CallSite>();
  for (const window of windows) {
    forEachFinding(window, (row, own) => {
      if (!isWanted(report, row, which)) return;
      const index = report.userFrameIndex(row);
      const frame = index < 0 ? null : report.frame(index);
      const key = frame === null ? '' : `${frame.func}\n${frame.file}\n${frame.line}`;
      let site = sites.get(key);
      if (!site) {
        site = { frame, bytes: 0, blocks: 0, findings: 0, windows: new Set() };
        sites.set(key, site);
      }
      site.bytes += own.bytes;
      site.blocks += own.blocks;
      site.findings += 1;
      site.windows.add(window.id);
    });
  }
  return [...sites.values()].sort((a, b) => b.bytes - a.bytes || b.blocks - a.blocks);
}
