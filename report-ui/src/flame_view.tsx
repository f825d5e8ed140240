// The flame graph of what the tests left.
import { useMemo } from 'preact/hooks';
import { CallSiteTable } from './call_site_table';
import { callSites, type Which } from './call_sites';
import { FlamePanel, showsUserFramesOnly, type Part } from './flame_graph';
import { flameTree, type Metric } from './flame_tree';
import * as format from './format';
import type { Report } from './model';
import { Section, Select } from './parts';
import { change, type Route } from './route';
import { distinct } from './rows';
import { FindingSizes } from './size_histogram';

// As flameTree has them.
const PARTS: Part[] = [{ kind: 'lost', text: 'nothing leads to it' }, { kind: 'growing', text: 'more with each repetition' }];

export function FlameView({ report, route }: { report: Report; route: Route }) {
  const which = (route.get('of') || 'users') as Which;
  const metric: Metric = route.get('by') === 'blocks' ? 'blocks' : 'bytes';
  const userFramesOnly = showsUserFramesOnly(route);
  const component = route.get('component');
  const tree = useMemo(
    () => flameTree(report, report.windows, { which, userFramesOnly, component }), [report, which, userFramesOnly, component]);
  const components = useMemo(() => distinct(report, (window) => window.component), [report]);
  const windows = useMemo(
    () => (component ? report.windows.filter((window) => window.component === component) : report.windows), [report, component]);
  const sites = useMemo(() => callSites(report, windows, which), [report, which, windows]);
  return (
    <div class="page flame-page">
      <header class="page-head">
        <h1 tabIndex={-1} id="page-title">Flame graph</h1>
        <p class="dim">Outstanding {metric} by call stack: callers above, widths add up</p>
      </header>
      <FlamePanel tree={tree} route={route} label={(of) => `Flame graph of outstanding ${of}`} parts={PARTS}
        legend={[...PARTS, { kind: 'held', text: 'the rest' }]} empty="Nothing is outstanding."
        controls={<>
          <Select label="Findings" value={which} onChange={(value) => change({ of: value === 'users' ? '' : value, zoom: '' })}
            options={[['users', 'all of your code'], ['counted', 'only what counts'], ['all', 'with the framework’s own']]} />
          {components.length > 0 && (
            <Select label="Component" value={component} all="all components" options={components.map((name) => [name, name])}
              onChange={(value) => change({ component: value, zoom: '' })} />
          )}
        </>} />
      <FindingSizes report={report} which={which} windows={windows} />
      <Section title="Call sites" id="call-sites" aside={format.grouped(sites.length)}>
        {sites.length > 0
          ? <CallSiteTable report={report} sites={sites} most={25} caption="Call sites by outstanding bytes" />
          : <p class="quiet">None.</p>}
      </Section>
    </div>
  );
}
