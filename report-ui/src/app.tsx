// The page of a run's report.
import { CausePage } from './causes_view';
import { FlameView } from './flame_view';
import { shownVerdict } from './headline';
import type { Report } from './model';
import { Overview } from './overview';
import { subject } from './programs';
import { go, type Route } from './route';
import { Shell, type Tab } from './shell';
import { TestPage } from './test_page';
import { TestsView } from './tests_view';
import { TimelineView } from './timeline_view';

const TABS: Tab[] = [
  { view: 'overview', title: 'Overview' },
  { view: 'tests', title: 'Tests', isSearch: true },
  { view: 'timeline', title: 'Timeline' },
  { view: 'flame', title: 'Flame graph' },
];

const KEYS: [string, string][] = [
  ['/', 'search'], ['1 – 4', 'overview, tests, timeline, flame graph'], ['↑ ↓', 'move in a list or the flame graph'],
  ['Enter', 'open, zoom in'], ['← →', 'previous or next test; neighbours in the flame graph'], ['Esc', 'clear the search, zoom out, go back'],
  ['t', 'dark or light'], ['?', 'these keys'],
];

function onKey(event: KeyboardEvent, { view }: Route): boolean {
  if (view === 'test' && (event.key === 'ArrowLeft' || event.key === 'ArrowRight')) {
    document.querySelector<HTMLElement>(`.neighbours [rel=${event.key === 'ArrowLeft' ? 'prev' : 'next'}]`)?.click();
    return true;
  }
  if (event.key !== 'Escape' || (view !== 'test' && view !== 'cause')) return false;
  if (history.length > 1) history.back();
  else go('#view=tests');
  return true;
}

export function App({ report }: { report: Report }) {
  return (
    <Shell frame={{
      tabs: TABS,
      parents: { test: 'tests', cause: 'overview' },
      subject: subject(report),
      tooltip: report.runs.map((run) => run.binary).slice(0, 5).join('\n'),
      mark: shownVerdict(report),
      keys: KEYS,
      titleOf: (route) => (route.view === 'test' ? route.get('test') : `Cause ${route.get('cause')}`),
      onKey,
      render: (route) => (
        <>
          {route.view === 'overview' && <Overview report={report} />}
          {route.view === 'cause' && <CausePage report={report} route={route} />}
          {route.view === 'tests' && <TestsView report={report} route={route} />}
          {route.view === 'timeline' && report.runs.length > 0 && <TimelineView report={report} route={route} />}
          {route.view === 'flame' && <FlameView report={report} route={route} />}
          {route.view === 'test' && <TestPage report={report} route={route} />}
        </>
      ),
    }} />
  );
}
