// The views of a recording: what an interval of it allocated, freed and left. All follow the interval.
import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { CallTree } from './call_tree';
import { FlamePanel, FramesChoice, showsUserFramesOnly } from './flame_graph';
import { ReweighedTree, type FlameNode } from './flame_tree';
import * as format from './format';
import type { Amount } from './model';
import { Fact, SearchBox, Section, Select } from './parts';
import { IntervalPanel, isWhole, useInterval } from './recording_interval';
import { type Interval, type RecordedSite, type Recording } from './recording_model';
import { SUMS, SUM_NAMES, bySite, decadeText, medianDecade, sumsOf, sumsOfSite, type IntervalSums, type SumName, type SumsBy } from './recording_sums';
import { Times, durationText } from './recording_time';
import { change, link, type Route } from './route';
import { SiteRows, type SiteRow } from './site_rows';
import { Facts } from './snapshot_model';
import { FactsPanel, Hero, LeftOutLine, Notice, markOf, shellWord } from './snapshot_parts';
import { labelOf } from './stack_trees';

const STEP = 100;
const MOVING = 30; // rows while the interval moves, so that they are drawn in time

// What all views are of.
interface Shown {
  recording: Recording;
  route: Route;
  interval: Interval;
  sums: IntervalSums;
  of: SumName;
  byStack: SumsBy; // of that sum
  isMoving: boolean;
}

const sumIn = (route: Route): SumName => ((SUM_NAMES as string[]).includes(route.get('of')) ? (route.get('of') as SumName) : 'outstanding');

function SumChoice({ of }: { of: SumName }) {
  return (
    <Select label="Sum" value={of} options={SUM_NAMES.map((name) => [name, SUMS[name].choice])}
      onChange={(value) => change({ of: value === 'outstanding' ? '' : value, zoom: '' })} />
  );
}

// The same interval for `leakgate recording show`.
function command({ recording, interval }: Shown, more: string): string {
  const { file, interval: whole, options } = recording.facts;
  const seconds = (ns: number) => `${(ns / 1e9).toFixed(9)}s`;
  const [from, to] = interval;
  const begin = from > 0 ? ` --from ${seconds(recording.borders[from])}` : whole.from === 'begin' ? '' : ` --from ${shellWord(whole.from)}`;
  const end = to < recording.bins ? ` --to ${seconds(recording.borders[to])}` : whole.to === 'end' ? '' : ` --to ${shellWord(whole.to)}`;
  const chosen = options.map((word) => ` ${shellWord(word)}`).join('');
  return `leakgate recording show ${shellWord(file)}${begin}${end}${chosen} ${more}`;
}

const WEIGHS: Partial<Record<SumName, string>> = { outstanding: 'outstanding', total: 'total', temporary: 'temporary' };
const weigh = (of: SumName): string => (WEIGHS[of] ? ` --weigh ${WEIGHS[of]}` : '');

function LeftOut({ shown }: { shown: Shown }) {
  const { recording, byStack, of } = shown;
  if (recording.leftOut === 0) return null;
  const rest = { bytes: 0, blocks: 0 };
  recording.places.forEach(({ node }, stack) => {
    if (node >= 0) return;
    rest.bytes += byStack.bytes[stack];
    rest.blocks += byStack.blocks[stack];
  });
  return (
    <LeftOutLine command={command(shown, `--group-by stack${weigh(of)}`)}>
      This page has the {format.grouped(recording.stackCount - recording.leftOut)} largest of {format.count(recording.stackCount, 'call stack')};{' '}
      {format.amount(rest)} {SUMS[of].short} of the others are not in its tree and flame graph, and in all other numbers.
    </LeftOutLine>
  );
}

interface RankedSite {
  site: RecordedSite;
  amount: Amount;
}

// The sites that have any of the sum, the largest first.
function rankedSites(recording: Recording, of: SumsBy): RankedSite[] {
  const sums = bySite(recording, of);
  return recording.sites
    .map((site) => ({ site, amount: sums.at(site.index) }))
    .filter(({ amount }) => amount.bytes !== 0 || amount.blocks !== 0)
    .sort((a, b) => b.amount.bytes - a.amount.bytes || b.amount.blocks - a.amount.blocks || a.site.index - b.site.index);
}

function siteFacts({ recording, interval, of }: Shown, site: RecordedSite): string {
  const { sums, decades } = sumsOfSite(recording, interval, site.index);
  const others = SUM_NAMES.filter((name) => name !== of && sums[name].blocks !== 0).map((name) => `${format.amount(sums[name])} ${SUMS[name].short}`);
  const median = medianDecade(decades);
  const lifetime = median < 0 ? [] : [`median lifetime ${decadeText(median)}`];
  return [...others, ...lifetime].join('; ');
}

function siteRow(shown: Shown, { site, amount }: RankedSite, largest: number): SiteRow {
  const { recording, sums, of, byStack } = shown;
  return {
    key: site.index,
    site,
    bar: amount.bytes / Math.max(largest, 1),
    get facts() { return siteFacts(shown, site); },
    numbers: (
      <>
        <span class="number"><b>{format.bytes(amount.bytes)}</b></span>
        <span class="number dim">{format.percent(amount.bytes, sums.all[of].bytes)}</span>
        <span class="number dim">{format.count(amount.blocks, 'block')}</span>
      </>
    ),
    // Looked for when the row is unfolded.
    get stacks() {
      const stacks = site.stacks.filter((stack) => byStack.blocks[stack] !== 0).sort((a, b) => byStack.bytes[b] - byStack.bytes[a]);
      return stacks.map((stack) => ({ place: recording.places[stack], title: stacks.length > 1 ? format.amount(byStack.at(stack)) : '' }));
    },
  };
}

const heads = (of: SumName): string[] => [SUMS[of].title, 'Share', 'Blocks'];
const noneText = ({ interval, recording, of }: Shown): string =>
  `Nothing${isWhole(recording, interval) ? '' : ' in this interval'}: ${SUMS[of].text.replace(/^\w/, (letter) => letter.toLowerCase())}.`;

function Tiles({ recording, interval, sums }: Shown) {
  const times = useMemo(() => new Times(recording), [recording]);
  const blocks = (amount: Amount) => format.count(amount.blocks, 'block');
  const peak = recording.peakOf(interval);
  const { outstanding, total, temporary, freed, begin, end } = sums.all;
  const later = sums.freedLater.blocks > 0 ? `; ${format.bytes(sums.freedLater.bytes)} of it freed later` : '';
  const share = total.blocks > 0 ? `, ${format.percent(temporary.blocks, total.blocks)} of them` : '';
  return (
    <dl class="tiles">
      <Fact name="Outstanding" note={`${blocks(outstanding)}: the impacting size${later}`}>{format.bytes(outstanding.bytes)}</Fact>
      <Fact name="Allocated" note={blocks(total)}>{format.bytes(total.bytes)}</Fact>
      <Fact name="Temporary" note={`${blocks(temporary)}${share}`}>{format.bytes(temporary.bytes)}</Fact>
      <Fact name="Freed, from before" note={blocks(freed)}>{format.bytes(freed.bytes)}</Fact>
      <Fact name="Live at begin, at end" note={`${format.grouped(begin.blocks)}, ${blocks(end)}`}>{format.bytes(begin.bytes)} → {format.bytes(end.bytes)}</Fact>
      <Fact name="Peak" note={`${blocks(peak)}, at ${times.moment(peak.ns)}${peak.test ? `, in ${peak.test}` : ''}`}>{format.bytes(peak.bytes)}</Fact>
    </dl>
  );
}

function Lifetimes({ recording, sums }: Shown) {
  // The rows of the whole recording, so that they do not jump.
  const known = useMemo(() => {
    const whole = sumsOf(recording, [0, recording.bins], 'total').sums.decades.map(({ blocks }, decade) => (blocks > 0 ? decade : -1)).filter((decade) => decade >= 0);
    return whole.length > 0 ? Array.from({ length: whole[whole.length - 1] - whole[0] + 1 }, (_, index) => whole[0] + index) : [];
  }, [recording]);
  const largest = Math.max(1, ...sums.decades.map(({ blocks }) => blocks));
  return (
    <Section title="Lifetimes" id="lifetimes" aside="of blocks allocated and freed in the interval">
      {known.length === 0 ? <p class="quiet">Nothing was allocated and freed.</p> : (
        <table class="plain sizes">
          <caption class="off-screen">Blocks by how long they lived</caption>
          <thead><tr><th scope="col">Lived</th><th scope="col">Share</th><th scope="col" class="number">Blocks</th><th scope="col" class="number">Bytes</th></tr></thead>
          <tbody>
            {known.map((decade) => (
              <tr key={decade}>
                <th scope="row">{decadeText(decade)}</th>
                <td><span class="bar" aria-hidden="true"><span style={{ width: `${(100 * sums.decades[decade].blocks) / largest}%` }} /></span></td>
                <td class="number">{format.grouped(sums.decades[decade].blocks)}</td>
                <td class="number">{format.bytes(sums.decades[decade].bytes)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Section>
  );
}

// The tree of the sum. It is built once, and weighed again for each interval.
function useTree({ recording, route, byStack }: Shown): FlameNode {
  const userFramesOnly = showsUserFramesOnly(route);
  const tree = useMemo(() => {
    const places = recording.places.map((place) => ({ node: Math.max(place.node, 0), label: place.node < 0 ? LEFT_OUT : labelOf(place) }));
    return new ReweighedTree(recording, places, userFramesOnly);
  }, [recording, userFramesOnly]);
  return useMemo(() => {
    const inTree = (value: number, stack: number) => (recording.places[stack].node >= 0 ? value : 0);
    return tree.weigh(byStack.bytes.map(inTree), byStack.blocks.map(inTree));
  }, [tree, byStack]);
}

const LEFT_OUT = 'call stacks that the page leaves out';

function Flame({ shown }: { shown: Shown }) {
  const tree = useTree(shown);
  const { of, route, isMoving } = shown;
  return (
    <FlamePanel tree={tree} route={route} isMoving={isMoving} label={(metric) => `Flame graph of ${metric} ${SUMS[of].short}`} parts={[]} legend={[]}
      empty={noneText(shown)} controls={route.view === 'flame' && <SumChoice of={of} />} />
  );
}

function headline(recording: Recording): string {
  const { facts, program } = recording;
  const total = sumsOf(recording, [0, recording.bins], 'total').sums.all.total;
  return `${program} (PID ${facts.pid}): ${format.amount(total)} allocated in ${durationText(recording.endNs - recording.beginNs)}`;
}

function factsOf({ facts }: Recording): [Facts, [string, string][]] {
  const utc = facts.begun.replace('T', ' ').replace('Z', ' UTC');
  const lines: [string, string][] = [
    ['command', facts.command_line.join(' ')], ['taken', `from ${utc} on, for ${durationText(facts.length_ns)}`], ['window', facts.test],
    ['machine', `${facts.host}, ${facts.kernel}; leakgate ${facts.leakgate_version}`],
  ];
  const waits = facts.waits === 0 ? '' : `; threads waited ${format.count(facts.waits, 'time')} for a buffer, ${durationText(facts.waited_ns)} in all`;
  const events = `${format.grouped(facts.events)}, ${facts.lost_events === 0 ? 'none lost' : `and ${format.grouped(facts.lost_events)} lost`}${waits}`;
  return [new Facts({ ...facts, lines }), [['Events', events]]];
}

function Overview({ shown, panel }: { shown: Shown; panel: ComponentChildren }) {
  const { recording, sums, of, byStack } = shown;
  const { facts } = recording;
  const most = 10;
  const title = useMemo(() => headline(recording), [recording]);
  const [file, more] = useMemo(() => factsOf(recording), [recording]);
  const ranked = useMemo(() => rankedSites(recording, byStack), [recording, byStack]);
  const times = useMemo(() => new Times(recording), [recording]);
  const part = facts.interval.from === 'begin' && facts.interval.to === 'end' ? ''
    : `only from ${times.moment(recording.beginNs)} to ${times.moment(recording.endNs)} of it: from ${facts.interval.from} to ${facts.interval.to}`;
  return (
    <>
      <Hero mark={markOf('recording', recording.missing)} title={title}
        lines={[file.line('taken').replace(/^from/, 'recorded from'), facts.test && `in ${facts.test}`, part, facts.shown && `only ${facts.shown}`]} />
      <Notice title="Missing from this recording" tone="uncertain" lines={recording.missing} />
      <Notice title="No symbols" tone="mild" lines={recording.problems.map(({ module, problem }) => `${module}: ${problem}`)} />
      {panel}
      <Tiles {...shown} />
      <div class="toolbar sums"><SumChoice of={of} /><p class="dim">{SUMS[of].text}: {format.amount(sums.all[of])}</p></div>
      <LeftOut shown={shown} />
      <div class="columns wide-left">
        <Section title={`Call sites, ${SUMS[of].short}`} id="sites"
          aside={ranked.length > most ? <a href={link({ view: 'sites', from: shown.route.get('from'), to: shown.route.get('to'), of: shown.route.get('of') })}>all {format.grouped(ranked.length)}</a> : format.count(ranked.length, 'call site')}>
          {ranked.length === 0
            ? <p class="quiet">{facts.shown && sums.all.total.blocks === 0 ? 'Nothing matches. A pattern is a glob of the whole name: write *Pool* for what has Pool in it.' : noneText(shown)}</p>
            : <SiteRows tables={recording} label={`Call sites by bytes ${SUMS[of].short}`} heads={heads(of)}
                rows={ranked.slice(0, most).map((one) => siteRow(shown, one, ranked[0].amount.bytes))} />}
          {ranked.length > most && <p class="more">and {format.count(ranked.length - most, 'more call site')}</p>}
        </Section>
        <Lifetimes {...shown} />
      </div>
      <div class="flame-page overview-flame"><Flame shown={shown} /></div>
      <FactsPanel title="How it was recorded" id="facts" facts={[file]} more={more} />
    </>
  );
}

function Sites({ shown, panel }: { shown: Shown; panel: ComponentChildren }) {
  const { recording, route, of, byStack, isMoving } = shown;
  const text = route.get('q');
  const [most, setMost] = useState(STEP);
  const ranked = useMemo(() => rankedSites(recording, byStack), [recording, byStack]);
  const rows = useMemo(() => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    return ranked.filter(({ site }) => words.every((word) => `${site.name} ${site.file}`.toLowerCase().includes(word)));
  }, [ranked, text]);
  const total = rows.reduce((sum, { amount }) => ({ bytes: sum.bytes + amount.bytes, blocks: sum.blocks + amount.blocks }), { bytes: 0, blocks: 0 });
  const left = rows.length - most;
  const notListed = recording.siteCount - recording.sites.length;
  return (
    <>
      <header class="page-head"><h1 tabIndex={-1} id="page-title">Call sites</h1><p class="dim">{SUMS[of].text}, by the first frame of your own code</p></header>
      {panel}
      <div class="toolbar" role="search">
        <SearchBox value={text} label="Search functions and files" onInput={(q) => { setMost(STEP); change({ q }, 'replace'); }}
          onDown={() => document.querySelector<HTMLElement>('.site-rows summary')?.focus()} />
        <SumChoice of={of} />
        <p class="result" role="status">{text && `${format.grouped(rows.length)} of `}{format.count(ranked.length, 'call site')}: {format.amount(total)}</p>
      </div>
      {rows.length === 0 ? <p class="quiet">{ranked.length === 0 ? noneText(shown) : 'No call site is like that.'}</p> : (
        <section class="panel" aria-label="Call sites">
          <SiteRows tables={recording} label="Call sites" stacks={3} heads={heads(of)}
            rows={rows.slice(0, isMoving ? MOVING : most).map((one) => siteRow(shown, one, ranked[0].amount.bytes))} />
          {left > 0 && <button type="button" class="button wide" onClick={() => setMost(most + STEP)}>Show {format.grouped(Math.min(left, STEP))} of {format.grouped(left)} more</button>}
        </section>
      )}
      {notListed > 0 && (
        <LeftOutLine command={command(shown, `--group-by site${weigh(of)}`)}>
          {format.count(notListed, 'smaller call site')} {notListed === 1 ? 'is' : 'are'} not listed here.
        </LeftOutLine>
      )}
    </>
  );
}

function Tree({ shown, panel }: { shown: Shown; panel: ComponentChildren }) {
  const { route, of } = shown;
  const tree = useTree(shown);
  return (
    <>
      <header class="page-head"><h1 tabIndex={-1} id="page-title">Call tree</h1><p class="dim">{SUMS[of].text}: who called whom, from the outermost frame inwards</p></header>
      {panel}
      <div class="toolbar"><FramesChoice route={route} /><SumChoice of={of} /></div>
      <LeftOut shown={shown} />
      {tree.children.length === 0 ? <p class="quiet">{noneText(shown)}</p> : (
        <section class="panel" aria-label="Call tree">
          <CallTree root={tree} label={`Call tree of bytes ${SUMS[of].short}`} columns={[
            { title: SUMS[of].title, text: (node) => format.bytes(node.total.bytes) },
            { title: 'Share', text: (node) => format.percent(node.total.bytes, tree.total.bytes), tone: () => 'dim', isOptional: true },
            { title: 'Itself', text: (node) => format.bytes(node.self.bytes), tone: (node) => (node.self.bytes === 0 ? 'dim' : ''), isOptional: true },
            { title: 'Blocks', text: (node) => format.grouped(node.total.blocks), isOptional: true },
          ]} />
        </section>
      )}
    </>
  );
}

function FlameView({ shown, panel }: { shown: Shown; panel: ComponentChildren }) {
  return (
    <>
      <header class="page-head"><h1 tabIndex={-1} id="page-title">Flame graph</h1><p class="dim">{SUMS[shown.of].text}, by call stack: callers above, widths add up</p></header>
      {panel}
      <LeftOut shown={shown} />
      <Flame shown={shown} />
    </>
  );
}

const VIEWS: Record<string, typeof Overview> = { overview: Overview, sites: Sites, tree: Tree, flame: FlameView };

export function RecordingPage({ recording, route }: { recording: Recording; route: Route }) {
  const { interval, choose, isMoving } = useInterval(recording, route);
  const of = sumIn(route);
  const { sums, byStack } = useMemo(() => sumsOf(recording, interval, of), [recording, interval, of]);
  // While the interval moves, a zoom would lead elsewhere in each tree.
  const place = isMoving ? { ...route, get: (key: string) => (key === 'zoom' ? '' : route.get(key)) } : route;
  const shown: Shown = { recording, route: place, interval, sums, of, byStack, isMoving };
  const View = VIEWS[route.view] ?? Overview;
  return (
    <div class="page recording">
      <View shown={shown} panel={<IntervalPanel key="interval" recording={recording} interval={interval} choose={choose} sums={sums} />} />
    </div>
  );
}

