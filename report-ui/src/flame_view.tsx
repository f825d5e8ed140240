// The flame graph of outstanding bytes: callers above, the user's frames first class.
import { hierarchy, partition, type HierarchyRectangularNode } from 'd3-hierarchy';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { CallSiteTable } from './call_site_table';
import { callSites, type Which } from './call_sites';
import { flameTree, type FlameNode } from './flame_tree';
import * as format from './format';
import type { Report } from './model';
import { Choice, Kind, Position, SearchBox, Section, Select } from './parts';
import { SizeHistogram } from './size_histogram';
import { change, type Route } from './route';
import { distinct } from './rows';

const ROW_HEIGHT = 24;
const NARROWEST = 0.0012; // of the width: what is less cannot be seen
const MOST_NODES = 2500;

type Rectangle = HierarchyRectangularNode<FlameNode>;
type Metric = 'bytes' | 'blocks';

function layOut(tree: FlameNode, metric: Metric): Rectangle {
  const root = hierarchy(tree)
    .sum((node) => Math.max(node.self[metric], 0))
    .sort((a, b) => (b.value ?? 0) - (a.value ?? 0) || (a.data.name < b.data.name ? -1 : 1));
  return partition<FlameNode>().size([1, root.height + 1])(root);
}

// A node's place: the indices of the children that lead to it, "0.2.1".
function pathOf(node: Rectangle): string {
  const steps: number[] = [];
  for (let at = node; at.parent; at = at.parent) steps.unshift(at.parent.children!.indexOf(at));
  return steps.join('.');
}

function nodeAt(root: Rectangle, path: string): Rectangle {
  let node = root;
  for (const step of path.split('.').filter(Boolean)) {
    const next = node.children?.[Number(step)];
    if (!next) return node;
    node = next;
  }
  return node;
}

// The same function has the same colour everywhere, and neighbours differ.
function hueOf(name: string): number {
  let hash = 0;
  for (let at = 0; at < name.length; at += 1) hash = (hash * 31 + name.charCodeAt(at)) | 0;
  return Math.abs(hash) % 6;
}

interface Placed {
  node: Rectangle;
  left: number;
  width: number;
  depth: number;
}

// What can be seen when `focus` is as wide as the graph: it, what leads to it, what it calls.
function visible(focus: Rectangle): Placed[] {
  const span = focus.x1 - focus.x0 || 1;
  const placed: Placed[] = focus.ancestors().reverse().map((node) => ({ node, left: 0, width: 1, depth: node.depth }));
  let level: Rectangle[] = [focus];
  while (level.length > 0 && placed.length < MOST_NODES) {
    const next: Rectangle[] = [];
    for (const parent of level) {
      for (const node of parent.children ?? []) {
        const width = (node.x1 - node.x0) / span;
        if (width < NARROWEST) break; // the others are smaller
        placed.push({ node, left: (node.x0 - focus.x0) / span, width, depth: node.depth });
        next.push(node);
      }
    }
    level = next;
  }
  return placed;
}

function matcher(text: string): ((node: FlameNode) => boolean) | null {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return null;
  return (node) => node.name.toLowerCase().includes(wanted) || node.file.toLowerCase().includes(wanted);
}

// What matches, no byte twice.
function matched(root: Rectangle, matches: (node: FlameNode) => boolean): number {
  let total = 0;
  const left: Rectangle[] = [root];
  while (left.length > 0) {
    const node = left.pop()!;
    if (node.parent && matches(node.data)) total += node.value ?? 0;
    else for (const child of node.children ?? []) left.push(child);
  }
  return total;
}

const LEGEND = [['lost', 'nothing leads to it'], ['growing', 'more with each repetition'], ['held', 'the rest']] as const;

// Which part of a frame is what: by colour, by pattern, and in words on focus.
function FrameParts({ node, metric }: { node: FlameNode; metric: Metric }) {
  const all = node.total[metric];
  const share = (part: number) => `${(100 * part) / all}%`;
  const lost = node.lost?.[metric] ?? 0;
  const growing = node.growing?.[metric] ?? 0;
  if (all <= 0) return null;
  return (
    <>
      {lost > 0 && <i class="part part-lost" style={{ left: '0', width: share(lost) }} aria-hidden="true" />}
      {growing > 0 && <i class="part part-growing" style={{ left: share(lost), width: share(growing) }} aria-hidden="true" />}
    </>
  );
}

function partsText(node: FlameNode): string {
  const parts = [['lost', node.lost], ['growing', node.growing]] as const;
  return parts.filter(([, part]) => (part?.blocks ?? 0) > 0).map(([word, part]) => `, ${format.bytes(part!.bytes)} ${word}`).join('');
}

function Legend() {
  return <ul class="flame-legend" aria-label="Legend">{LEGEND.map(([kind, text]) => <li key={kind}><Kind kind={kind} /> <span class="dim">{text}</span></li>)}</ul>;
}

function Details({ node, root, metric }: { node: Rectangle; root: Rectangle; metric: Metric }) {
  const { data } = node;
  return (
    <div class="flame-details">
      <span class="function">{node.parent ? data.name : 'all that is shown'}</span>
      <Position file={data.file} line={0} />
      <span class="numbers">
        <b>{format.bytes(data.total.bytes)}</b> in {format.count(data.total.blocks, 'block')} · {format.percent(node.value ?? 0, root.value ?? 0)} of {metric}{partsText(data)}
      </span>
    </div>
  );
}

function Graph({ root, focus, metric, text, onZoom }: {
  root: Rectangle; focus: Rectangle; metric: Metric; text: string; onZoom: (node: Rectangle) => void;
}) {
  const host = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState<Rectangle>(focus);
  const [shouldFocus, setShouldFocus] = useState(false);
  const placed = useMemo(() => visible(focus), [focus]);
  const matches = useMemo(() => matcher(text), [text]);
  const depth = Math.max(...placed.map((one) => one.depth)) + 1;
  useEffect(() => setCurrent(focus), [focus]);
  useEffect(() => {
    if (!shouldFocus) return;
    setShouldFocus(false);
    host.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus();
  });

  const shownNodes = useMemo(() => new Set(placed.map((one) => one.node)), [placed]);
  const active = shownNodes.has(current) ? current : focus;
  const neighbour = (active: Rectangle, key: string): Rectangle | undefined => {
    const siblings = active.parent?.children ?? [];
    const at = siblings.indexOf(active);
    if (key === 'ArrowUp') return active.parent ?? undefined;
    if (key === 'ArrowDown') return active.children?.[0];
    if (key === 'ArrowRight') return siblings[at + 1];
    if (key === 'ArrowLeft') return siblings[at - 1];
    return key === 'Home' ? root : undefined;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && focus !== root) {
      event.stopPropagation();
      setShouldFocus(true);
      onZoom(root);
      return;
    }
    // From the frame that has the focus: keys may come faster than the page is drawn.
    const from = nodeAt(root, (event.target as HTMLElement).dataset.path ?? '');
    const next = neighbour(from, event.key);
    if (next) host.current?.querySelector<HTMLElement>(`[data-path="${pathOf(next)}"]`)?.focus();
    if (event.key.startsWith('Arrow')) event.preventDefault();
  };
  return (
    <>
      <div class="flame" ref={host} role="tree" aria-label={`Flame graph of outstanding ${metric}`} onKeyDown={onKeyDown}
        style={{ height: `${depth * ROW_HEIGHT}px` }}>
        {placed.map(({ node, left, width, depth: row }) => {
          const isAbove = row < focus.depth;
          const isMatch = matches !== null && node.parent !== null && matches(node.data);
          const kind = !node.parent ? 'root' : node.data.isUsers ? `user h${hueOf(node.data.name)}` : 'foreign';
          const name = node.parent ? node.data.name : 'all';
          return (
            <div key={pathOf(node) || 'root'} data-path={pathOf(node)} role="treeitem" aria-level={row + 1} tabIndex={node === active ? 0 : -1}
              aria-expanded={node.children ? node === focus || isAbove : undefined} aria-selected={node === focus}
              aria-label={`${name}, ${format.bytes(node.data.total.bytes)}, ${format.percent(node.value ?? 0, root.value ?? 0)}${partsText(node.data)}`}
              class={`frame ${kind} ${isAbove ? 'above' : ''} ${matches !== null && !isMatch ? 'missed' : ''} ${isMatch ? 'matched' : ''}`}
              style={{ left: `${left * 100}%`, width: `${width * 100}%`, top: `${row * ROW_HEIGHT}px` }}
              onClick={() => onZoom(node === focus && node.parent ? node.parent : node)}
              onKeyDown={(event) => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); setShouldFocus(true); onZoom(node); } }}
              onMouseEnter={() => setCurrent(node)} onFocus={() => setCurrent(node)}>
              <FrameParts node={node.data} metric={metric} />
              {width > 0.015 && <span>{node.parent ? format.functionName(node.data.name) : `all · ${format.bytes(node.data.total.bytes)}`}</span>}
            </div>
          );
        })}
      </div>
      <Details node={active} root={root} metric={metric} />
    </>
  );
}

export function FlameView({ report, route }: { report: Report; route: Route }) {
  const which = (route.get('of') || 'users') as Which;
  const metric = (route.get('by') || 'bytes') as Metric;
  const userFramesOnly = route.get('frames') !== 'all';
  const component = route.get('component');
  const text = route.get('q');
  const tree = useMemo(
    () => flameTree(report, report.windows, { which, userFramesOnly, component }), [report, which, userFramesOnly, component]);
  const root = useMemo(() => layOut(tree, metric), [tree, metric]);
  const focus = nodeAt(root, route.get('zoom'));
  const found = useMemo(() => { const matches = matcher(text); return matches ? matched(root, matches) : null; }, [root, text]);
  const components = useMemo(() => distinct(report, (window) => window.component), [report]);
  const sites = useMemo(() => callSites(
    report, component ? report.windows.filter((window) => window.component === component) : report.windows, which), [report, which, component]);
  const isEmpty = (root.value ?? 0) === 0;
  return (
    <div class="page flame-page">
      <header class="page-head">
        <h1 tabIndex={-1} id="page-title">Flame graph</h1>
        <p class="dim">Outstanding {metric} by call stack: callers above, widths add up</p>
      </header>
      <div class="toolbar">
        <SearchBox value={text} label="Search functions and files" onInput={(q) => change({ q }, 'replace')} />
        <Choice label="Frames" value={userFramesOnly ? 'user' : 'all'} options={[['user', 'your frames'], ['all', 'all frames']]}
          onChange={(value) => change({ frames: value === 'all' ? 'all' : '', zoom: '' })} />
        <Choice label="Widths" value={metric} options={[['bytes', 'bytes'], ['blocks', 'blocks']]}
          onChange={(value) => change({ by: value === 'bytes' ? '' : value, zoom: '' })} />
        <Select label="Findings" value={which} onChange={(value) => change({ of: value === 'users' ? '' : value, zoom: '' })}
          options={[['users', 'all of your code'], ['counted', 'only what counts'], ['all', 'with the framework’s own']]} />
        {components.length > 0 && (
          <Select label="Component" value={component} all="all components" options={components.map((name) => [name, name])}
            onChange={(value) => change({ component: value, zoom: '' })} />
        )}
        <p class="result" role="status">
          {found !== null && `${metric === 'bytes' ? format.bytes(found) : format.grouped(found)}: ${format.percent(found, root.value ?? 0)} match`}
          {focus !== root && <>{found !== null && ' · '}<button type="button" class="link" onClick={() => change({ zoom: '' })}>zoom out</button></>}
        </p>
      </div>
      {isEmpty ? <p class="quiet">Nothing is outstanding.</p> : (
        <section class="panel" aria-label="Flame graph">
          <Legend />
          <Graph root={root} focus={focus} metric={metric} text={text} onZoom={(node) => change({ zoom: pathOf(node) })} />
        </section>
      )}
      <SizeHistogram report={report} which={which} windows={component ? report.windows.filter((window) => window.component === component) : report.windows} />
      <Section title="Call sites" id="call-sites" aside={format.grouped(sites.length)}>
        {sites.length > 0
          ? <CallSiteTable report={report} sites={sites} most={25} caption="Call sites by outstanding bytes" />
          : <p class="quiet">None.</p>}
      </Section>
    </div>
  );
}
