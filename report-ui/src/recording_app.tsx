// The page of a recording.
import { Shell, type Tab } from './shell';
import { place } from './recording_interval';
import type { Recording } from './recording_model';
import { RecordingPage } from './recording_view';
import { change, type Route } from './route';
import { markOf } from './snapshot_parts';

const TABS: Tab[] = [
  { view: 'overview', title: 'Overview' },
  { view: 'sites', title: 'Call sites', isSearch: true },
  { view: 'tree', title: 'Call tree' },
  { view: 'flame', title: 'Flame graph' },
];

const KEYS: [string, string][] = [
  ['/', 'search'], ['1 – 4', 'overview, call sites, call tree, flame graph'], ['i', 'to the chart: then ← → move the interval, with Shift its end'],
  ['Home, End', 'in the chart: the interval to the begin, to the end'], ['Esc', 'clear the search, zoom out, then the whole recording'],
  ['↑ ↓', 'move in a list, the tree or the flame graph'], ['Enter', 'unfold, zoom in'], ['← →', 'fold or unfold in the tree; neighbours in the flame graph'],
  ['t', 'dark or light'], ['?', 'these keys'],
];

export function RecordingApp({ recording }: { recording: Recording }) {
  const { facts, program } = recording;
  const onKey = (event: KeyboardEvent, route: Route): boolean => {
    const chart = document.querySelector<HTMLElement>('.chart.recorded');
    if (event.key === 'i' && chart) {
      chart.focus();
      return true;
    }
    if (event.key !== 'Escape') return false;
    if (route.get('q') !== '' || route.get('zoom') !== '') change({ q: '', zoom: '' });
    else if (route.get('from') !== '' || route.get('to') !== '') place(recording, [0, recording.bins]);
    return true;
  };
  return (
    <Shell frame={{
      tabs: TABS,
      parents: {},
      keys: KEYS,
      keeps: ['from', 'to', 'of', 'frames'],
      titleOf: () => '',
      onKey,
      subject: `${program}, PID ${facts.pid}`,
      tooltip: facts.image,
      mark: markOf('recording', recording.missing),
      render: (route) => <RecordingPage recording={recording} route={route} />,
    }} />
  );
}
