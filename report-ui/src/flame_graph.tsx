// A flame graph: callers above, widths add up, the user's frames first class. It is drawn of
// elements, which keyboard and screen reader reach.
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { sortedChildren, type FlameNode, type Metric } from './flame_tree';
import * as format from './format';
import { Choice, Kind, Position, SearchBox, type KindName } from './parts';
import { change, type Route } from './route';

const ROW_HEIGHT = 24;

// How much is drawn.
interface Detail {
  narrowest: number; // of the width: what is less is left out
  nodes: number;
}
const ALL_DETAIL: Detail = { narrowest: 0.0012, nodes: 2500 }; // what is less cannot be seen
const MOVING_DETAIL: Detail = { narrowest: 0.012, nodes: 250 }; // so that it is drawn in time

// The same function has the same colour everywhere, and neighbours differ.
function hueOf(name: string): number {
  let hash = 0;
  for (let at = 0; at < name.length; at += 1) hash = (hash * 31 + name.charCodeAt(at)) | 0;
  return Math.abs(hash) % 6;
}

// A frame where it is drawn. Its path is that of sortedChildren's indices which leads to it: "0.2.1".
interface Placed {
  node: FlameNode;
  path: string;
  left: number;
  width: number;
  depth: number;
}

const join = (path: string, index: number): string => (path === '' ? String(index) : `${path}.${index}`);
const parentOf = (path: string): string => path.replace(/\.?\d+$/, '');
const valueOf = (node: FlameNode, metric: Metric): number => Math.max(node.total[metric], 0);

// The frames that lead to `path`, from the root on, as far as there are such.
function wayTo(root: FlameNode, path: string, metric: Metric): Placed[] {
  const way: Placed[] = [{ node: root, path: '', left: 0, width: 1, depth: 0 }];
  for (const step of path.split('.').filter(Boolean)) {
    const last = way[way.length - 1];
    const node = sortedChildren(last.node, metric)[Number(step)];
    if (!node) break;
    way.push({ node, path: join(last.path, Number(step)), left: 0, width: 1, depth: way.length });
  }
  return way;
}

// What can be seen when the last of `way` is as wide as the graph: it, what leads to it, what it
// calls. Nothing else is laid out: a snapshot may have hundreds of thousands of frames.
function visible(way: Placed[], metric: Metric, { narrowest, nodes }: Detail): Placed[] {
  const focus = way[way.length - 1];
  const span = valueOf(focus.node, metric) || 1;
  const placed = [...way];
  let level = [focus];
  while (level.length > 0 && placed.length < nodes) {
    const next: Placed[] = [];
    for (const parent of level) {
      let { left } = parent;
      const children = sortedChildren(parent.node, metric);
      for (let index = 0; index < children.length; index += 1) {
        const width = valueOf(children[index], metric) / span;
        if (width < narrowest) break; // the others are smaller
        next.push({ node: children[index], path: join(parent.path, index), left, width, depth: parent.depth + 1 });
        left += width;
      }
    }
    placed.push(...next);
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
function matched(root: FlameNode, metric: Metric, matches: (node: FlameNode) => boolean): number {
  let total = 0;
  const left = [...root.children];
  while (left.length > 0) {
    const node = left.pop()!;
    if (matches(node)) total += valueOf(node, metric);
    else left.push(...node.children);
  }
  return total;
}

// What a part of a frame is: by colour, by pattern, and in words.
export interface Part {
  kind: KindName;
  text: string;
}

function FrameParts({ node, metric, parts }: { node: FlameNode; metric: Metric; parts: Part[] }) {
  const all = node.total[metric];
  if (all <= 0) return null;
  let left = 0;
  return (
    <>
      {node.parts.map((part, index) => {
        const share = (100 * part[metric]) / all;
        if (share <= 0) return null;
        const style = { left: `${left}%`, width: `${share}%` };
        left += share;
        return <i key={index} class={`part part-${parts[index].kind}`} style={style} aria-hidden="true" />;
      })}
    </>
  );
}

// How a frame is told, where that is not just what it weighs.
export interface Told {
  amount: (node: FlameNode) => string; // "+97.8 KiB (+100 blocks)"
  sign: (node: FlameNode) => string; // in front of its name
}

// ", 64 B lost, 16 B growing".
const partsText = (node: FlameNode, parts: Part[]): string =>
  parts.map(({ kind }, index) => (node.parts[index] && node.parts[index].blocks > 0 ? `, ${format.bytes(node.parts[index].bytes)} ${kind}` : '')).join('');

function Legend({ parts }: { parts: Part[] }) {
  return <ul class="flame-legend" aria-label="Legend">{parts.map(({ kind, text }) => <li key={kind}><Kind kind={kind} /> <span class="dim">{text}</span></li>)}</ul>;
}

function Details({ node, root, metric, parts, told }: { node: FlameNode; root: FlameNode; metric: Metric; parts: Part[]; told?: Told }) {
  return (
    <div class="flame-details">
      <span class="function">{node === root ? 'all that is shown' : node.name}</span>
      <Position file={node.file} line={0} />
      <span class="numbers">
        {told ? <b>{told.amount(node)}</b> : <><b>{format.bytes(node.total.bytes)}</b> in {format.count(node.total.blocks, 'block')}</>} · {format.percent(valueOf(node, metric), valueOf(root, metric))} of {metric}{partsText(node, parts)}
      </span>
    </div>
  );
}

function FlameGraph({ root, way, metric, text, label, parts, told, detail, onZoom }: {
  root: FlameNode; way: Placed[]; metric: Metric; text: string; label: string; parts: Part[]; told?: Told; detail: Detail; onZoom: (path: string) => void;
}) {
  const host = useRef<HTMLDivElement>(null);
  const focus = way[way.length - 1];
  const [current, setCurrent] = useState(focus.path);
  const [shouldFocus, setShouldFocus] = useState(false);
  const placed = useMemo(() => visible(way, metric, detail), [way, metric, detail]);
  const byPath = useMemo(() => new Map(placed.map((one) => [one.path, one])), [placed]);
  const matches = useMemo(() => matcher(text), [text]);
  const amountOf = told?.amount ?? ((node: FlameNode) => format.bytes(node.total.bytes));
  const depth = placed[placed.length - 1].depth + 1;
  useEffect(() => setCurrent(focus.path), [focus.path]);
  useEffect(() => {
    if (!shouldFocus) return;
    setShouldFocus(false);
    host.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus();
  });
  const active = byPath.get(current) ?? focus;

  // Above the frame that is zoomed in on, only what leads to it is drawn.
  const stepDown = (path: string) => (focus.path !== path && (path === '' || focus.path.startsWith(`${path}.`)) ? way[(byPath.get(path)?.depth ?? 0) + 1]?.path : join(path, 0));
  const neighbour = (path: string, key: string): string | undefined => {
    const index = Number(path.slice(path.lastIndexOf('.') + 1));
    if (key === 'ArrowUp') return parentOf(path);
    if (key === 'ArrowDown') return stepDown(path);
    if (key === 'ArrowRight') return join(parentOf(path), index + 1);
    if (key === 'ArrowLeft') return join(parentOf(path), index - 1);
    return key === 'Home' ? '' : undefined;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && focus.path !== '') {
      event.stopPropagation();
      setShouldFocus(true);
      onZoom('');
      return;
    }
    // From the frame that has the focus: keys may come faster than the page is drawn.
    const next = neighbour((event.target as HTMLElement).dataset.path ?? '', event.key);
    if (next !== undefined) host.current?.querySelector<HTMLElement>(`[data-path="${next}"]`)?.focus();
    if (event.key.startsWith('Arrow')) event.preventDefault();
  };
  return (
    <>
      <div class="flame-scroll">
        <div class="flame" ref={host} role="tree" aria-label={label} onKeyDown={onKeyDown}
          style={{ height: `${depth * ROW_HEIGHT}px` }}>
          {placed.map(({ node, path, left, width, depth: row }) => {
            const isRoot = path === '';
            const isAbove = row < focus.depth;
            const isMatch = matches !== null && !isRoot && matches(node);
            const kind = isRoot ? 'root' : node.isUsers ? `user h${hueOf(node.name)}` : 'foreign';
            return (
              <div key={path || 'root'} data-path={path} role="treeitem" aria-level={row + 1} tabIndex={path === active.path ? 0 : -1}
                aria-expanded={node.children.length > 0 ? path === focus.path || isAbove : undefined} aria-selected={path === focus.path}
                aria-label={`${isRoot ? 'all' : node.name}, ${amountOf(node)}, ${format.percent(valueOf(node, metric), valueOf(root, metric))}${partsText(node, parts)}`}
                class={`frame ${kind} ${isAbove ? 'above' : ''} ${matches !== null && !isMatch ? 'missed' : ''} ${isMatch ? 'matched' : ''}`}
                style={{ left: `${left * 100}%`, width: `${width * 100}%`, top: `${row * ROW_HEIGHT}px` }}
                onClick={() => onZoom(path === focus.path ? parentOf(path) : path)}
                onKeyDown={(event) => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); setShouldFocus(true); onZoom(path); } }}
                onMouseEnter={() => setCurrent(path)} onFocus={() => setCurrent(path)}>
                <FrameParts node={node} metric={metric} parts={parts} />
                {width > 0.015 && <span>{isRoot ? `all · ${amountOf(node)}` : `${told?.sign(node) ?? ''}${format.functionName(node.name)}`}</span>}
              </div>
            );
          })}
        </div>
      </div>
      <Details node={active.node} root={root} metric={metric} parts={parts} told={told} />
    </>
  );
}

// The graph with its tools: search, frames, widths, zoom. `controls` are those that are the view's own.
// While the tree `isMoving`, only its large frames are drawn.
export function FlamePanel({ tree, route, label, parts, legend, told, controls, empty, isMoving = false }: {
  tree: FlameNode; route: Route; label: (metric: Metric) => string; parts: Part[]; legend: Part[]; told?: Told; controls?: ComponentChildren; empty: string; isMoving?: boolean;
}) {
  const metric: Metric = route.get('by') === 'blocks' ? 'blocks' : 'bytes';
  const text = route.get('q');
  const zoom = route.get('zoom');
  const way = useMemo(() => wayTo(tree, zoom, metric), [tree, zoom, metric]);
  const found = useMemo(() => { const matches = matcher(text); return matches ? matched(tree, metric, matches) : null; }, [tree, metric, text]);
  return (
    <>
      <div class="toolbar">
        <SearchBox value={text} label="Search functions and files" onInput={(q) => change({ q }, 'replace')} />
        <FramesChoice route={route} />
        <Choice label="Widths" value={metric} options={[['bytes', 'bytes'], ['blocks', 'blocks']]}
          onChange={(value) => change({ by: value === 'bytes' ? '' : value, zoom: '' })} />
        {controls}
        <p class="result" role="status">
          {found !== null && `${metric === 'bytes' ? format.bytes(found) : format.grouped(found)}: ${format.percent(found, valueOf(tree, metric))} match`}
          {way.length > 1 && <>{found !== null && ' · '}<button type="button" class="link" onClick={() => change({ zoom: '' })}>zoom out</button></>}
        </p>
      </div>
      {valueOf(tree, metric) === 0 ? <p class="quiet">{empty}</p> : (
        <section class="panel" aria-label="Flame graph">
          {legend.length > 0 && <Legend parts={legend} />}
          <FlameGraph root={tree} way={way} metric={metric} text={text} label={label(metric)} parts={parts} told={told} detail={isMoving ? MOVING_DETAIL : ALL_DETAIL}
            onZoom={(path) => change({ zoom: path })} />
        </section>
      )}
    </>
  );
}

// Only the user's frames, or all.
export const showsUserFramesOnly = (route: Route): boolean => route.get('frames') !== 'all';

export function FramesChoice({ route }: { route: Route }) {
  return (
    <Choice label="Frames" value={showsUserFramesOnly(route) ? 'user' : 'all'} options={[['user', 'your frames'], ['all', 'all frames']]}
      onChange={(value) => change({ frames: value === 'all' ? 'all' : '', zoom: '' })} />
  );
}
