// The views of the difference between two snapshots: what grew, what shrank, and who allocated it.
import { useMemo, useState } from 'preact/hooks';
import { CallTree } from './call_tree';
import { apart, beforeAndAfter, changeDetails, changeText, differenceHeadline, toneOf } from './change_text';
import { FlamePanel, FramesChoice, showsUserFramesOnly, type Part, type Told } from './flame_graph';
import * as format from './format';
import { Choice, Fact, SearchBox, Section, Select } from './parts';
import { change as changeRoute, link, type Route } from './route';
import { SiteRows, type SiteRow } from './site_rows';
import { directionOf, growthOf, isGone, isNew, type ChangedSite, type Difference } from './snapshot_model';
import { FactsPanel, Hero, LeftOutLine, Notice, markOf, shellWord } from './snapshot_parts';
import { GROWN, SHRUNK, differenceTree, netOf, type DifferenceOf } from './stack_trees';

const STEP = 100;
const MOST = 10;

const PARTS: Part[] = [{ kind: 'grown', text: '+ more is live than before' }, { kind: 'shrunk', text: '− less is live than before' }];

const command = (difference: Difference): string =>
  `leakgate snapshot diff ${shellWord(difference.from.file)} ${shellWord(difference.to.file)} --json`;

function LeftOut({ difference }: { difference: Difference }) {
  const { stacks, change } = difference.leftOut;
  if (stacks === 0) return null;
  return (
    <LeftOutLine command={command(difference)}>
      This page has those {format.grouped(difference.stackCount - stacks)} of {format.count(difference.stackCount, 'changed call stack')} that changed most;
      the others changed by {changeText(growthOf(change))} together, which is not in its tree and flame graph, and in all other numbers.
    </LeftOutLine>
  );
}

function siteRow(difference: Difference, site: ChangedSite, largest: number, noun = 'block'): SiteRow {
  const growth = growthOf(site.change);
  return {
    key: site.index,
    site,
    bar: Math.abs(growth.bytes) / Math.max(largest, 1),
    note: beforeAndAfter(site.change),
    facts: changeDetails(site.change, noun, difference.isOneProcess),
    numbers: (
      <>
        <span class={`number ${toneOf(growth.bytes)}`}><b>{format.signedBytes(growth.bytes)}</b></span>
        <span class="number dim">{format.signedCount(growth.blocks, noun)}</span>
      </>
    ),
    stacks: site.stacks.map((place) => ({ place, title: site.stacks.length > 1 ? changeText(growthOf(place.change)) : '' })),
    tone: toneOf(growth.bytes),
  };
}

const largestOf = (sites: ChangedSite[]): number => Math.max(1, ...sites.map((site) => Math.abs(growthOf(site.change).bytes)));

function Changed({ difference, sites, title, id, of, largest }: {
  difference: Difference; sites: ChangedSite[]; title: string; id: string; of: string; largest: number;
}) {
  return (
    <Section title={title} id={id} aside={sites.length > MOST ? <a href={link({ view: 'sites', of })}>all {format.grouped(sites.length)}</a> : format.count(sites.length, 'call site')}>
      {sites.length === 0 ? <p class="quiet">Nothing.</p> : (
        <SiteRows tables={difference} label={title} heads={['Growth', 'Blocks']} isFirstOpen={of === 'grown'}
          rows={sites.slice(0, MOST).map((site) => siteRow(difference, site, largest))} />
      )}
      {sites.length > MOST && <p class="more">and {format.count(sites.length - MOST, 'more call site')}</p>}
    </Section>
  );
}

function Mapped({ difference }: { difference: Difference }) {
  const { mappedSites, mapped } = difference;
  if (mapped.before.blocks === 0 && mapped.after.blocks === 0) return null;
  return (
    <Section title="Mapped by the program itself" id="mapped" aside={`${growthOf(mapped).bytes === 0 ? 'no growth' : changeText(growthOf(mapped), 'mapping')}, besides what is live`}>
      {mappedSites.length === 0 ? <p class="quiet">{format.bytes(mapped.after.bytes)} in {format.count(mapped.after.blocks, 'mapping')}, as before.</p> : (
        <SiteRows tables={difference} label="Changes of what is mapped" heads={['Growth', 'Mappings']}
          rows={mappedSites.map((site) => ({
            ...siteRow(difference, site, largestOf(mappedSites), 'mapping'), stacks: [{ place: site, title: 'The call stack that changed most' }],
          }))} />
      )}
      {difference.mappedSiteCount > mappedSites.length && <p class="more">and {format.count(difference.mappedSiteCount - mappedSites.length, 'more call site')}</p>}
    </Section>
  );
}

function Tiles({ difference }: { difference: Difference }) {
  const { total } = difference;
  const growth = growthOf(total);
  const blocks = (count: number) => format.count(count, 'block');
  return (
    <dl class="tiles">
      <Fact name="Before" note={blocks(total.before.blocks)}>{format.bytes(total.before.bytes)}</Fact>
      <Fact name="After" note={blocks(total.after.blocks)}>{format.bytes(total.after.bytes)}</Fact>
      <Fact name="Growth" note={format.signedCount(growth.blocks, 'block')}><span class={toneOf(growth.bytes)}>{format.signedBytes(growth.bytes)}</span></Fact>
      {difference.isOneProcess && (
        <>
          <Fact name="Appeared" note={`${blocks(total.appeared.blocks)}: allocated in between, and still live`}>{format.bytes(total.appeared.bytes)}</Fact>
          <Fact name="Gone" note={`${blocks(total.gone.blocks)}: freed in between`}>{format.bytes(total.gone.bytes)}</Fact>
          <Fact name="Kept" note={blocks(total.before.blocks - total.gone.blocks)}>{format.bytes(total.before.bytes - total.gone.bytes)}</Fact>
        </>
      )}
    </dl>
  );
}

const byDirection = (difference: Difference, of: string): ChangedSite[] => difference.sites.filter((site) => directionOf(site.change) === of);

export function DifferenceOverview({ difference }: { difference: Difference }) {
  const { from, to } = difference;
  const [grown, shrunk, replaced] = ['grown', 'shrunk', 'replaced'].map((of) => byDirection(difference, of));
  const largest = largestOf(difference.sites);
  const isNothing = difference.siteCount === 0 && difference.mappedSiteCount === 0;
  const files = `from ${from.file} to ${to.file}`;
  const process = difference.isOneProcess ? `${from.program}, PID ${from.pid}` : `${from.program}, PID ${from.pid}, and ${to.program}, PID ${to.pid}`;
  const occasions = from.occasion && to.occasion ? `from ${from.occasion} to ${to.occasion}` : '';
  return (
    <div class="page overview">
      <Hero mark={markOf('difference', difference.missing)} title={differenceHeadline(difference)}
        lines={[process, files, occasions, apart(difference), difference.compared.replace(/^one process, [^:]*: /, ''), difference.filter && `only blocks ${difference.filter}`]} />
      <Tiles difference={difference} />
      <Notice title="Missing from these snapshots" tone="uncertain" lines={difference.missing} />
      <Notice title="No symbols" tone="mild" lines={difference.problems} />
      <LeftOut difference={difference} />
      {isNothing ? <p class="quiet">Nothing has changed.</p> : (
        <>
          <Changed difference={difference} sites={grown} title="What grew" id="grown" of="grown" largest={largest} />
          <Changed difference={difference} sites={shrunk} title="What shrank" id="shrunk" of="shrunk" largest={largest} />
        </>
      )}
      {replaced.length > 0 && (
        <p class="quiet"><a href={link({ view: 'sites', of: 'replaced' })}>{format.count(replaced.length, 'call site')}</a> replaced what {replaced.length === 1 ? 'it' : 'they'} had by as much.</p>
      )}
      <Mapped difference={difference} />
      <FactsPanel title="The two snapshots" id="facts" facts={[from, to]} />
    </div>
  );
}

const FILTERS: [string, string, (site: ChangedSite) => boolean][] = [
  ['grown', 'what grew', ({ change }) => directionOf(change) === 'grown'],
  ['shrunk', 'what shrank', ({ change }) => directionOf(change) === 'shrunk'],
  ['new', 'new: nothing before', ({ change }) => isNew(change)],
  ['gone', 'gone: nothing after', ({ change }) => isGone(change)],
  ['replaced', 'replaced by as much', ({ change }) => directionOf(change) === 'replaced'],
];

export function DifferenceSites({ difference, route }: { difference: Difference; route: Route }) {
  const text = route.get('q');
  const of = route.get('of');
  const [most, setMost] = useState(STEP);
  const rows = useMemo(() => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const isWanted = FILTERS.find(([key]) => key === of)?.[2] ?? (() => true);
    return difference.sites
      .filter((site) => isWanted(site) && words.every((word) => `${site.name} ${site.file}`.toLowerCase().includes(word)))
      .sort((a, b) => Math.abs(growthOf(b.change).bytes) - Math.abs(growthOf(a.change).bytes) || a.index - b.index);
  }, [difference, text, of]);
  const total = rows.reduce((sum, { change }) => {
    const growth = growthOf(change);
    return { bytes: sum.bytes + growth.bytes, blocks: sum.blocks + growth.blocks };
  }, { bytes: 0, blocks: 0 });
  const left = rows.length - most;
  const notListed = difference.siteCount - difference.sites.length;
  return (
    <div class="page">
      <header class="page-head"><h1 tabIndex={-1} id="page-title">Call sites</h1><p class="dim">What has changed, by the first frame of your own code; what changed most comes first</p></header>
      <div class="toolbar" role="search">
        <SearchBox value={text} label="Search functions and files" onInput={(q) => { setMost(STEP); changeRoute({ q }, 'replace'); }}
          onDown={() => document.querySelector<HTMLElement>('.site-rows summary')?.focus()} />
        <Select label="Changes" value={of} all="all changes" options={FILTERS.map(([key, words]) => [key, words])} onChange={(value) => changeRoute({ of: value })} />
        <p class="result" role="status">{(text || of) && `${format.grouped(rows.length)} of `}{format.count(difference.sites.length, 'call site')}: {changeText(total)}</p>
      </div>
      {rows.length === 0 ? <p class="quiet">{difference.sites.length === 0 ? 'Nothing has changed.' : 'No call site is like that.'}</p> : (
        <section class="panel" aria-label="Call sites">
          <SiteRows tables={difference} label="Call sites" stacks={3} heads={['Growth', 'Blocks']}
            rows={rows.slice(0, most).map((site) => siteRow(difference, site, largestOf(difference.sites)))} />
          {left > 0 && <button type="button" class="button wide" onClick={() => setMost(most + STEP)}>Show {format.grouped(Math.min(left, STEP))} of {format.grouped(left)} more</button>}
        </section>
      )}
      {notListed > 0 && <LeftOutLine command={command(difference)}>{format.count(notListed, 'smaller change')} {notListed === 1 ? 'is' : 'are'} not listed here.</LeftOutLine>}
    </div>
  );
}

function Of({ difference, route }: { difference: Difference; route: Route }) {
  if (!difference.isOneProcess) return null;
  return (
    <Choice label="What" value={route.get('of') || 'growth'} options={[['growth', 'growth'], ['appeared', 'appeared'], ['gone', 'gone']]}
      onChange={(value) => changeRoute({ of: value === 'growth' ? '' : value, zoom: '' })} />
  );
}

const SAID: Record<DifferenceOf, string> = {
  growth: 'What each call stack has more or less than before',
  appeared: 'What was allocated in between, and is still live',
  gone: 'What was live before, and was freed in between',
};

// A frame's own sign, and what it has grown by.
const TOLD: Told = {
  amount: (node) => changeText(netOf(node)),
  sign: ({ parts: [grown, shrunk] }) => (shrunk.blocks === 0 && shrunk.bytes === 0 ? '+ ' : grown.blocks === 0 && grown.bytes === 0 ? '− ' : '± '),
};

const wantedOf = (route: Route): DifferenceOf => (route.get('of') in SAID ? (route.get('of') as DifferenceOf) : 'growth');

export function DifferenceTree({ difference, route }: { difference: Difference; route: Route }) {
  const of = wantedOf(route);
  const userFramesOnly = showsUserFramesOnly(route);
  const tree = useMemo(() => differenceTree(difference, of, userFramesOnly), [difference, of, userFramesOnly]);
  return (
    <div class="page">
      <header class="page-head"><h1 tabIndex={-1} id="page-title">Call tree</h1><p class="dim">{SAID[of]}, from the outermost frame inwards</p></header>
      <div class="toolbar"><FramesChoice route={route} /><Of difference={difference} route={route} /></div>
      <LeftOut difference={difference} />
      {tree.children.length === 0 ? <p class="quiet">Nothing has changed.</p> : (
        <section class="panel" aria-label="Call tree">
          <CallTree root={tree} label="Call tree of what has changed" columns={of === 'growth' ? [
            { title: 'Growth', text: (node) => format.signedBytes(netOf(node).bytes), tone: (node) => toneOf(netOf(node).bytes) },
            { title: 'Blocks', text: (node) => format.signed(netOf(node).blocks), isOptional: true },
            { title: 'Grown', text: (node) => format.signedBytes(node.parts[GROWN].bytes), tone: (node) => (node.parts[GROWN].bytes === 0 ? 'dim' : ''), isOptional: true },
            { title: 'Shrunk', text: (node) => format.signedBytes(-node.parts[SHRUNK].bytes), tone: (node) => (node.parts[SHRUNK].bytes === 0 ? 'dim' : ''), isOptional: true },
          ] : [
            { title: 'Bytes', text: (node) => format.bytes(node.total.bytes) },
            { title: 'Share', text: (node) => format.percent(node.total.bytes, tree.total.bytes), tone: () => 'dim', isOptional: true },
            { title: 'Blocks', text: (node) => format.grouped(node.total.blocks), isOptional: true },
          ]} />
        </section>
      )}
    </div>
  );
}

export function DifferenceFlame({ difference, route }: { difference: Difference; route: Route }) {
  const of = wantedOf(route);
  const userFramesOnly = showsUserFramesOnly(route);
  const tree = useMemo(() => differenceTree(difference, of, userFramesOnly), [difference, of, userFramesOnly]);
  return (
    <div class="page flame-page">
      <header class="page-head"><h1 tabIndex={-1} id="page-title">Flame graph</h1><p class="dim">{SAID[of]}: callers above, widths add up</p></header>
      <LeftOut difference={difference} />
      <FlamePanel tree={tree} route={route} label={(metric) => (of === 'growth' ? `Flame graph of growth in ${metric}` : `Flame graph of ${metric} ${of}`)} parts={PARTS}
        legend={of === 'growth' ? PARTS : []} told={of === 'growth' ? TOLD : undefined} empty="Nothing has changed." controls={<Of difference={difference} route={route} />} />
    </div>
  );
}
