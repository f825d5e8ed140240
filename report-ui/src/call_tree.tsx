// A call tree: who called whom, from the outermost frame inwards, a row for each frame. What has most
// comes first, and the largest part of it is unfolded.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { sortedChildren, type FlameNode } from './flame_tree';
import * as format from './format';
import { Cut, Position } from './parts';

const FIRST_ROWS = 30; // that are unfolded at once
const STEP = 20; // callees of a frame that are shown at once

export interface TreeColumn {
  title: string;
  text: (node: FlameNode) => string;
  tone?: (node: FlameNode) => string; // a class
  isOptional?: boolean; // left out on a phone
}

interface TreeRow {
  node: FlameNode;
  path: string;
  level: number; // from 1
  position: number; // among its siblings, from 1
  siblings: number;
  hidden: number; // of its siblings; only where this row stands for them
}

const childrenOf = (node: FlameNode): FlameNode[] => sortedChildren(node, 'bytes');

// The frames to unfold at first: the largest, as many as fit.
function unfolded(root: FlameNode): Set<string> {
  const open = new Set<string>(['']);
  const waiting = childrenOf(root).slice(0, STEP).map((node, index) => ({ node, path: String(index) }));
  let rows = waiting.length;
  while (waiting.length > 0 && rows < FIRST_ROWS) {
    waiting.sort((a, b) => b.node.total.bytes - a.node.total.bytes);
    const { node, path } = waiting.shift()!;
    const children = childrenOf(node).slice(0, STEP);
    if (children.length === 0) continue;
    open.add(path);
    rows += children.length;
    waiting.push(...children.map((child, index) => ({ node: child, path: `${path}.${index}` })));
  }
  return open;
}

function rowsOf(root: FlameNode, open: Set<string>, most: Map<string, number>): TreeRow[] {
  const rows: TreeRow[] = [];
  const add = (parent: FlameNode, parentPath: string, level: number) => {
    const children = childrenOf(parent);
    const shown = Math.min(children.length, most.get(parentPath) ?? STEP);
    for (let index = 0; index < shown; index += 1) {
      const path = parentPath === '' ? String(index) : `${parentPath}.${index}`;
      rows.push({ node: children[index], path, level, position: index + 1, siblings: children.length, hidden: 0 });
      if (open.has(path)) add(children[index], path, level + 1);
    }
    if (shown < children.length) {
      rows.push({ node: parent, path: `${parentPath}+`, level, position: shown + 1, siblings: children.length, hidden: children.length - shown });
    }
  };
  add(root, '', 1);
  return rows;
}

const parentPath = (path: string): string => path.replace(/\.?\d+$|\+$/, '');

export function CallTree({ root, columns, label }: { root: FlameNode; columns: TreeColumn[]; label: string }) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [open, setOpen] = useState(() => unfolded(root));
  const [most, setMost] = useState(() => new Map<string, number>());
  const [active, setActive] = useState('0');
  const wanted = useRef(''); // the row to focus when it is there
  useEffect(() => {
    setOpen(unfolded(root));
    setMost(new Map());
    setActive('0');
  }, [root]);
  const rows = useMemo(() => rowsOf(root, open, most), [root, open, most]);
  const rowAt = (path: string) => body.current?.querySelector<HTMLElement>(`[data-path="${path}"]`);
  useEffect(() => {
    if (wanted.current === '') return;
    rowAt(wanted.current)?.focus();
    wanted.current = '';
  });

  const fold = (path: string, isOpen: boolean) => {
    const next = new Set(open);
    if (isOpen) next.add(path);
    else next.delete(path);
    setOpen(next);
  };
  const more = (row: TreeRow) => {
    const parent = parentPath(row.path);
    setMost(new Map(most).set(parent, row.position - 1 + 5 * STEP));
    wanted.current = parent === '' ? String(row.position - 1) : `${parent}.${row.position - 1}`;
    setActive(wanted.current);
  };
  const toggle = (row: TreeRow) => {
    if (row.hidden > 0) more(row);
    else if (row.node.children.length > 0) fold(row.path, !open.has(row.path));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const path = (event.target as HTMLElement).closest<HTMLElement>('[data-path]')?.dataset.path;
    const at = rows.findIndex((row) => row.path === path);
    if (at < 0) return;
    const row = rows[at];
    const isFolded = row.hidden === 0 && row.node.children.length > 0 && !open.has(row.path);
    const isUnfolded = open.has(row.path);
    const moves: Record<string, () => string | undefined> = {
      ArrowDown: () => rows[at + 1]?.path,
      ArrowUp: () => rows[at - 1]?.path,
      Home: () => rows[0].path,
      End: () => rows[rows.length - 1].path,
      ArrowRight: () => { if (isFolded) fold(row.path, true); return isUnfolded ? rows[at + 1]?.path : undefined; },
      ArrowLeft: () => { if (isUnfolded) fold(row.path, false); return isUnfolded ? undefined : parentPath(row.path) || undefined; },
      Enter: () => { toggle(row); return undefined; },
      ' ': () => { toggle(row); return undefined; },
    };
    if (!(event.key in moves)) return;
    event.preventDefault();
    const next = moves[event.key]();
    if (next !== undefined) rowAt(next)?.focus();
  };

  return (
    <table class="plain call-tree" role="treegrid" aria-label={label} onKeyDown={onKeyDown}>
      <thead>
        <tr>
          <th scope="col">Function</th>
          {columns.map((column) => <th key={column.title} scope="col" class={`number ${column.isOptional ? 'optional' : ''}`}>{column.title}</th>)}
        </tr>
      </thead>
      <tbody ref={body}>
        {rows.map((row) => {
          const { node, path, level } = row;
          const canUnfold = row.hidden === 0 && node.children.length > 0;
          return (
            <tr key={path} data-path={path} tabIndex={path === active ? 0 : -1} aria-level={level} aria-posinset={row.position} aria-setsize={row.siblings}
              aria-expanded={canUnfold ? open.has(path) : undefined} onFocus={() => setActive(path)}
              onClick={() => { if (getSelection()?.isCollapsed !== false) toggle(row); }}>
              <th scope="row" style={`--level: ${Math.min(level - 1, 24)}`}>
                <div class="tree-name">
                <span class="twisty" aria-hidden="true">{canUnfold ? (open.has(path) ? '▾' : '▸') : ''}</span>
                {row.hidden > 0 ? <span class="more-rows">{format.count(row.hidden, 'more callee')}</span> : (
                  <span class="site">
                    <span class={`function ${node.isUsers ? '' : 'dim'}`} title={node.name}><Cut name={format.functionName(node.name)} /></span>
                    {node.file ? <Position file={node.file} line={0} parts={2} /> : node.module && <span class="position" title={node.module}>{format.fileName(node.module)}</span>}
                  </span>
                )}
                </div>
              </th>
              {columns.map((column) => (
                <td key={column.title} class={`number ${column.isOptional ? 'optional' : ''} ${row.hidden > 0 ? '' : column.tone?.(node) ?? ''}`}>
                  {row.hidden > 0 ? '' : column.text(node)}
                </td>
              ))}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
