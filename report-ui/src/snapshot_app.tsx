// The pages of a snapshot and of the difference between two.
import { DifferenceFlame, DifferenceOverview, DifferenceSites, DifferenceTree } from './difference_view';
import { Shell, type PageFrame, type Tab } from './shell';
import { markOf } from './snapshot_parts';
import type { Difference, Snapshot } from './snapshot_model';
import { SnapshotFlame, SnapshotOverview, SnapshotSites, SnapshotTree } from './snapshot_view';

const TABS: Tab[] = [
  { view: 'overview', title: 'Overview' },
  { view: 'sites', title: 'Call sites', isSearch: true },
  { view: 'tree', title: 'Call tree' },
  { view: 'flame', title: 'Flame graph' },
];

const KEYS: [string, string][] = [
  ['/', 'search'], ['1 – 4', 'overview, call sites, call tree, flame graph'], ['↑ ↓', 'move in a list, the tree or the flame graph'],
  ['Enter', 'unfold, zoom in'], ['← →', 'fold or unfold in the tree; neighbours in the flame graph'], ['Esc', 'clear the search, zoom out'],
  ['t', 'dark or light'], ['?', 'these keys'],
];

const FRAME: Pick<PageFrame, 'tabs' | 'parents' | 'keys' | 'titleOf'> = { tabs: TABS, parents: {}, keys: KEYS, titleOf: () => '' };

export function SnapshotApp({ snapshot }: { snapshot: Snapshot }) {
  const { facts } = snapshot;
  return (
    <Shell frame={{
      ...FRAME,
      subject: `${facts.program}, PID ${facts.pid}`,
      tooltip: facts.image,
      mark: markOf('snapshot', snapshot.missing),
      render: (route) => (
        <>
          {route.view === 'overview' && <SnapshotOverview snapshot={snapshot} />}
          {route.view === 'sites' && <SnapshotSites snapshot={snapshot} route={route} />}
          {route.view === 'tree' && <SnapshotTree snapshot={snapshot} route={route} />}
          {route.view === 'flame' && <SnapshotFlame snapshot={snapshot} route={route} />}
        </>
      ),
    }} />
  );
}

export function DifferenceApp({ difference }: { difference: Difference }) {
  const { from, to, isOneProcess } = difference;
  return (
    <Shell frame={{
      ...FRAME,
      subject: isOneProcess ? `${from.program}, PID ${from.pid}` : `${from.program}, PIDs ${from.pid} and ${to.pid}`,
      tooltip: `${from.file}\n${to.file}`,
      mark: markOf('difference', difference.missing),
      render: (route) => (
        <>
          {route.view === 'overview' && <DifferenceOverview difference={difference} />}
          {route.view === 'sites' && <DifferenceSites difference={difference} route={route} />}
          {route.view === 'tree' && <DifferenceTree difference={difference} route={route} />}
          {route.view === 'flame' && <DifferenceFlame difference={difference} route={route} />}
        </>
      ),
    }} />
  );
}
