// The views of one snapshot: what is live, and who allocated it.
import { useMemo, useState } from 'preact/hooks';
import { CallTree } from './call_tree';
import { FlamePanel, FramesChoice, showsUserFramesOnly } from './flame_graph';
import * as format from './format';
import type { Amount } from './model';
import { Choice, Fact, SearchBox, Section } from './parts';
import { change, link, type Route } from './route';
import { SiteRows, type SiteRow } from './site_rows';
import { SizeHistogram } from './size_histogram';
import { FactsPanel, Hero, LeftOutLine, Notice, markOf, shellWord } from './snapshot_parts';
import type { GroupTable, LiveSite, OtherSites, Snapshot } from './snapshot_model';
import { snapshotTree } from './stack_trees';

const STEP = 100;

const TITLES: Record<string, string> = {
  component: 'By component', module: 'By module', thread: 'By thread', window: 'By test', age: 'By age', kind: 'By kind of allocation',
};

function LeftOut({ snapshot }: { snapshot: Snapshot }) {
  const { stacks, amount } = snapshot.leftOut;
  if (stacks === 0) return null;
  return (
    <LeftOutLine command={`leakgate snapshot show ${shellWord(snapshot.facts.file)} --group-by stack --top ${snapshot.stackCount}`}>
      This page has the {format.grouped(snapshot.stackCount - stacks)} largest of {format.count(snapshot.stackCount, 'call stack')};{' '}
      {format.amount(amount)} of the others are not in its tree and flame graph, and in all other numbers.
    </LeftOutLine>
  );
}

function windowsText(snapshot: Snapshot, site: LiveSite): string {
  if ((snapshot.groups.find((table) => table.by === 'window')?.groups ?? 0) < 2) return '';
  const where = (window: string) => (window === 'the program' ? 'outside of the tests' : `in ${window}`);
  return site.first === site.last ? `allocated ${where(site.first)}` : `allocated several times: first ${where(site.first)}, last ${where(site.last)}`;
}

function siteRow(snapshot: Snapshot, site: LiveSite, largest: number): SiteRow {
  return {
    key: site.index,
    site,
    bar: site.amount.bytes / Math.max(largest, 1),
    facts: windowsText(snapshot, site),
    numbers: (
      <>
        <span class="number"><b>{format.bytes(site.amount.bytes)}</b></span>
        <span class="number dim">{format.percent(site.amount.bytes, snapshot.shown.bytes)}</span>
        <span class="number dim">{format.count(site.amount.blocks, 'block')}</span>
      </>
    ),
    stacks: site.stacks.map((place) => ({ place, title: site.stacks.length > 1 ? format.amount(place.amount) : '' })),
  };
}

function otherRow(site: OtherSites['rows'][number], noun: string, index: number): SiteRow {
  return {
    key: index,
    site,
    note: site.reserved > 0 && `${format.bytes(site.reserved)} only reserved`,
    numbers: <><span class="number"><b>{format.bytes(site.amount.bytes)}</b></span><span class="number dim">{format.count(site.amount.blocks, noun)}</span></>,
    stacks: [{ place: site, title: 'The call stack that has most' }],
  };
}

function Others({ snapshot, sites, noun, title, id, aside }: {
  snapshot: Snapshot; sites: OtherSites; noun: string; title: string; id: string; aside: string;
}) {
  const [most, setMost] = useState(5);
  return (
    <Section title={title} id={id} aside={aside}>
      {sites.rows.length === 0 ? <p class="quiet">Nothing.</p> : (
        <SiteRows tables={snapshot} label={title} heads={['Bytes', noun === 'mapping' ? 'Mappings' : 'Blocks']}
          rows={sites.rows.slice(0, most).map((site, index) => otherRow(site, noun, index))} />
      )}
      {sites.rows.length > most && (
        <button type="button" class="button wide" onClick={() => setMost(sites.rows.length)}>Show {format.grouped(sites.rows.length - most)} more</button>
      )}
      {most >= sites.rows.length && sites.count > sites.rows.length && <p class="more">and {format.count(sites.count - sites.rows.length, 'smaller call site')}</p>}
    </Section>
  );
}

function Groups({ snapshot, table }: { snapshot: Snapshot; table: GroupTable }) {
  const few = 8;
  const [isWhole, setWhole] = useState(false);
  const rows = isWhole ? table.rows : table.rows.slice(0, few);
  const largest = Math.max(1, ...table.rows.map((row) => row.amount.bytes));
  const left = table.groups - table.rows.length;
  const nameOf = (name: string) => (table.by === 'module' ? format.shortPath(name, 2) : name);
  return (
    <Section title={TITLES[table.by] ?? table.title} id={`by-${table.by}`}>
      <table class="plain groups">
        <thead><tr><th scope="col">{TITLES[table.by].replace(/^By (\w)/, (_, letter) => letter.toUpperCase())}</th><th scope="col" class="number">Bytes</th>
          <th scope="col" class="number optional">Share</th><th scope="col" class="number optional">Blocks</th></tr></thead>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.name}\n${row.place}`}>
              <th scope="row" title={row.name}>
                {nameOf(row.name)}{row.place && <span class="dim"> · {row.place}</span>}
                <span class="bar" aria-hidden="true"><span style={{ width: `${(100 * row.amount.bytes) / largest}%` }} /></span>
              </th>
              <td class="number">{format.bytes(row.amount.bytes)}</td>
              <td class="number optional dim">{format.percent(row.amount.bytes, snapshot.shown.bytes)}</td>
              <td class="number optional">{format.grouped(row.amount.blocks)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {!isWhole && table.rows.length > few && (
        <button type="button" class="button wide" onClick={() => setWhole(true)}>Show {format.grouped(table.rows.length - few)} more</button>
      )}
      {(isWhole || table.rows.length <= few) && left > 0 && (
        <p class="more">and {format.grouped(left)} more: {format.amount(table.rest)}. All:{' '}
          <code>leakgate snapshot show {shellWord(snapshot.facts.file)} --group-by {table.by} --top {table.groups}</code></p>
      )}
    </Section>
  );
}

function Tiles({ snapshot }: { snapshot: Snapshot }) {
  const { live, shown, allocated, freed, mapped } = snapshot;
  const blocks = (one: Amount) => format.count(one.blocks, 'block');
  return (
    <dl class="tiles">
      <Fact name="Live" note={blocks(live)}>{format.bytes(live.bytes)}</Fact>
      {snapshot.filter && <Fact name="Shown" note={`${blocks(shown)} after filtering`}>{format.bytes(shown.bytes)}</Fact>}
      <Fact name="Call sites" note={format.count(snapshot.stackCount, 'call stack')}>{format.grouped(snapshot.siteCount)}</Fact>
      <Fact name="Allocated" note={`${blocks(allocated)} since tracing began`}>{format.bytes(allocated.bytes)}</Fact>
      <Fact name="Freed of that" note={blocks(freed)}>{format.bytes(freed.bytes)}</Fact>
      <Fact name="Mapped" note={mapped.count === 0 ? 'nothing besides' : `besides, in ${format.count(mapped.count, 'mapping')}${mapped.reserved > 0 ? `; ${format.bytes(mapped.reserved)} only reserved` : ''}`}>
        {format.bytes(mapped.bytes)}
      </Fact>
    </dl>
  );
}

export function snapshotHeadline(snapshot: Snapshot): string {
  const { facts, filter, shown, live } = snapshot;
  const of = `${facts.program} (PID ${facts.pid})`;
  if (filter) return `${of}: ${format.amount(shown)} ${filter}`;
  return live.blocks === 0 ? `${of}: nothing is live` : `${of}: ${format.amount(live)} live`;
}

export function SnapshotOverview({ snapshot }: { snapshot: Snapshot }) {
  const most = 10;
  const { sites, facts } = snapshot;
  const tables = snapshot.groups.filter((table) => table.by === 'component' || table.groups > 1);
  return (
    <div class="page overview">
      <Hero mark={markOf('snapshot', snapshot.missing)} title={snapshotHeadline(snapshot)} lines={[`taken ${facts.line('taken')}`, facts.line('state')]} />
      <Tiles snapshot={snapshot} />
      <Notice title="Missing from this snapshot" tone="uncertain" lines={snapshot.missing} />
      <Notice title="No symbols" tone="mild" lines={snapshot.problems.map(({ module, problem }) => `${module}: ${problem}`)} />
      <LeftOut snapshot={snapshot} />
      <Section title="What is live, by who allocated it" id="sites" aside={sites.length > most && <a href={link({ view: 'sites' })}>all {format.count(snapshot.siteCount, 'call site')}</a>}>
        {sites.length === 0
          ? <p class="quiet">{snapshot.filter ? 'Nothing matches. A pattern is a glob of the whole name: write *Pool* for what has Pool in it.' : 'Nothing is live.'}</p>
          : <SiteRows tables={snapshot} label="Call sites by live bytes" heads={['Bytes', 'Share', 'Blocks']} isFirstOpen
              rows={sites.slice(0, most).map((site) => siteRow(snapshot, site, sites[0].amount.bytes))} />}
        {sites.length > most && <p class="more">and {format.count(snapshot.siteCount - most, 'more call site')}</p>}
      </Section>
      <div class="panels">
        <SizeHistogram buckets={snapshot.sizes} aside="of all blocks that are shown" caption="Live blocks by size" />
        {tables.map((table) => <Groups key={table.by} snapshot={snapshot} table={table} />)}
      </div>
      {snapshot.mappedSites.count > 0 && (
        <Others snapshot={snapshot} sites={snapshot.mappedSites} noun="mapping" title="Mapped by the program itself" id="mapped" aside="besides what is live" />
      )}
      {snapshot.freedSites && (
        <Others snapshot={snapshot} sites={snapshot.freedSites} noun="block" title="Freed, by who freed it" id="freed" aside="since tracing began" />
      )}
      <FactsPanel title="How it was taken" id="facts" facts={[facts]} more={[['Stack depth', `${snapshot.depth} frames at most`]]} />
    </div>
  );
}

export function SnapshotSites({ snapshot, route }: { snapshot: Snapshot; route: Route }) {
  const text = route.get('q');
  const by = route.get('by') || 'bytes';
  const [most, setMost] = useState(STEP);
  const rows = useMemo(() => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const found = snapshot.sites.filter((site) => words.every((word) => `${site.name} ${site.file}`.toLowerCase().includes(word)));
    return by === 'blocks' ? [...found].sort((a, b) => b.amount.blocks - a.amount.blocks || a.index - b.index) : found;
  }, [snapshot, text, by]);
  const total = rows.reduce((sum, { amount }) => ({ bytes: sum.bytes + amount.bytes, blocks: sum.blocks + amount.blocks }), { bytes: 0, blocks: 0 });
  const notListed = snapshot.siteCount - snapshot.sites.length;
  const left = rows.length - most;
  return (
    <div class="page">
      <header class="page-head"><h1 tabIndex={-1} id="page-title">Call sites</h1><p class="dim">What is live, by the first frame of your own code</p></header>
      <div class="toolbar" role="search">
        <SearchBox value={text} label="Search functions and files" onInput={(q) => { setMost(STEP); change({ q }, 'replace'); }}
          onDown={() => document.querySelector<HTMLElement>('.site-rows summary')?.focus()} />
        <Choice label="Order" value={by} options={[['bytes', 'by bytes'], ['blocks', 'by blocks']]} onChange={(value) => change({ by: value === 'bytes' ? '' : value })} />
        <p class="result" role="status">{text && `${format.grouped(rows.length)} of `}{format.count(snapshot.sites.length, 'call site')}: {format.amount(total)}</p>
      </div>
      {rows.length === 0 ? <p class="quiet">{snapshot.sites.length === 0 ? 'Nothing is live.' : 'No call site is like that.'}</p> : (
        <section class="panel" aria-label="Call sites">
          <SiteRows tables={snapshot} label="Call sites" stacks={3} heads={['Bytes', 'Share', 'Blocks']}
            rows={rows.slice(0, most).map((site) => siteRow(snapshot, site, snapshot.sites[0].amount.bytes))} />
          {left > 0 && <button type="button" class="button wide" onClick={() => setMost(most + STEP)}>Show {format.grouped(Math.min(left, STEP))} of {format.grouped(left)} more</button>}
        </section>
      )}
      {notListed > 0 && (
        <LeftOutLine command={`leakgate snapshot show ${shellWord(snapshot.facts.file)} --group-by site --top ${snapshot.siteCount}`}>
          {format.count(notListed, 'smaller call site')} {notListed === 1 ? 'is' : 'are'} not listed here.
        </LeftOutLine>
      )}
    </div>
  );
}

export function SnapshotTree({ snapshot, route }: { snapshot: Snapshot; route: Route }) {
  const userFramesOnly = showsUserFramesOnly(route);
  const tree = useMemo(() => snapshotTree(snapshot, userFramesOnly), [snapshot, userFramesOnly]);
  return (
    <div class="page">
      <header class="page-head"><h1 tabIndex={-1} id="page-title">Call tree</h1><p class="dim">Who called whom, from the outermost frame inwards; each with what is live of it and of what it called</p></header>
      <div class="toolbar"><FramesChoice route={route} /></div>
      <LeftOut snapshot={snapshot} />
      {tree.children.length === 0 ? <p class="quiet">Nothing is live.</p> : (
        <section class="panel" aria-label="Call tree">
          <CallTree root={tree} label="Call tree of live blocks" columns={[
            { title: 'Bytes', text: (node) => format.bytes(node.total.bytes) },
            { title: 'Share', text: (node) => format.percent(node.total.bytes, tree.total.bytes), tone: () => 'dim', isOptional: true },
            { title: 'Itself', text: (node) => format.bytes(node.self.bytes), tone: (node) => (node.self.bytes === 0 ? 'dim' : ''), isOptional: true },
            { title: 'Blocks', text: (node) => format.grouped(node.total.blocks), isOptional: true },
          ]} />
        </section>
      )}
    </div>
  );
}

export function SnapshotFlame({ snapshot, route }: { snapshot: Snapshot; route: Route }) {
  const userFramesOnly = showsUserFramesOnly(route);
  const tree = useMemo(() => snapshotTree(snapshot, userFramesOnly), [snapshot, userFramesOnly]);
  return (
    <div class="page flame-page">
      <header class="page-head"><h1 tabIndex={-1} id="page-title">Flame graph</h1><p class="dim">What is live, by call stack: callers above, widths add up</p></header>
      <LeftOut snapshot={snapshot} />
      <FlamePanel tree={tree} route={route} label={(metric) => `Flame graph of live ${metric}`} parts={[]} legend={[]} empty="Nothing is live." />
    </div>
  );
}
