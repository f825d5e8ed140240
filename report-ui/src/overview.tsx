// The first page: the verdict and why, and then the numbers.
import { useMemo } from 'preact/hooks';
import { CallSiteTable } from './call_site_table';
import { callSites } from './call_sites';
import * as format from './format';
import { LimitText } from './cause_card';
import { Causes } from './causes_view';
import { endOf, headline, shownVerdict, worstVerdict } from './headline';
import { HistorySection } from './history_view';
import { VERDICTS, type Report, type Run, type Violation, type Window } from './model';
import { Fact, Section, TestAnchor, VerdictMark } from './parts';
import { Programs } from './programs_view';
import { link } from './route';
import { trendOf, type Change, type Trend } from './trend';

function tally<T>(items: T[], of: (item: T) => string): Map<string, number> {
  const counted = new Map<string, number>();
  for (const item of items) counted.set(of(item), (counted.get(of(item)) ?? 0) + 1);
  return counted;
}

function Notices({ runs, told }: { runs: Run[]; told: string }) {
  const groups: [string, string, (run: Run) => string[]][] = [
    ['Failures', 'bad', (run) => run.failures],
    ['Reasons', 'uncertain', (run) => run.reasons],
    ['Warnings', 'mild', (run) => run.warnings],
  ];
  const lists = groups.map(([title, tone, of]) => ({ title, tone, lines: [...new Set(runs.flatMap(of))].filter((line) => !told.includes(line)) }));
  if (lists.every((list) => list.lines.length === 0)) return null;
  return (
    <div class="notices">
      {lists.filter((list) => list.lines.length > 0).map((list) => (
        <section key={list.title} class={`notice ${list.tone}`} aria-label={list.title}>
          <h2>{list.title}</h2>
          <ul>{list.lines.slice(0, 50).map((line) => <li key={line}>{line}</li>)}</ul>
          {list.lines.length > 50 && <p class="more">and {list.lines.length - 50} more</p>}
        </section>
      ))}
    </div>
  );
}

function VerdictBar({ report }: { report: Report }) {
  const counted = tally(report.tests, (test) => test.verdict);
  const present = VERDICTS.filter((verdict) => counted.has(verdict));
  if (present.length === 0) return null;
  return (
    <div class="verdict-bar">
      <div class="segments" aria-hidden="true">
        {present.map((verdict) => (
          <span key={verdict} class={`segment v-${verdict}`} style={{ flexGrow: String(counted.get(verdict)) }} />
        ))}
      </div>
      <ul class="legend">
        {present.map((verdict) => (
          <li key={verdict}>
            <a href={link({ view: 'tests', verdict })}>
              <VerdictMark verdict={verdict} /> <b>{format.grouped(counted.get(verdict)!)}</b>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

interface ComponentRow {
  name: string;
  owner: string;
  tests: number;
  over: number;
  unsure: number;
  judged: number;
  outstanding: number;
  allowed: number;
  worst: Violation | null;
}

const excess = (violation: Violation): number => violation.actual - violation.limit;

function componentRows(report: Report): ComponentRow[] {
  const rows = new Map<string, ComponentRow>();
  for (const window of report.windows) {
    if (window.kind !== 'test' && window.violations.length === 0) continue;
    let row = rows.get(window.component);
    if (!row) {
      row = { name: window.component, owner: '', tests: 0, over: 0, unsure: 0, judged: 0, outstanding: 0, allowed: 0, worst: null };
      rows.set(window.component, row);
    }
    row.owner ||= window.owner;
    if (window.kind === 'test') {
      row.tests += 1;
      row.outstanding += window.outstanding.bytes;
      row.allowed += window.allowed.bytes;
    }
    if (window.verdict === 'pass' || window.verdict === 'over_budget') row.judged += 1;
    if (window.verdict === 'over_budget') row.over += 1;
    if (window.verdict === 'inconclusive' || window.verdict === 'unconfirmed') row.unsure += 1;
    for (const violation of window.violations) {
      const isBytes = violation.metric.endsWith('_bytes');
      const wasBytes = row.worst?.metric.endsWith('_bytes') ?? false;
      const isWorse = row.worst === null || (isBytes && !wasBytes) || (isBytes === wasBytes && excess(violation) > excess(row.worst));
      if (isWorse) row.worst = violation;
    }
  }
  return [...rows.values()].sort((a, b) => b.over - a.over || b.unsure - a.unsure || b.outstanding - a.outstanding);
}

function AgainstBaseline({ trend, component }: { trend: Trend; component: string }) {
  const change = trend.components.get(component);
  if (!change) return <span class="dim">–</span>;
  const texts = [
    change.bytes !== 0 && format.signedBytes(change.bytes),
    change.newlyOver > 0 && `${format.grouped(change.newlyOver)} newly over`,
    change.fixed > 0 && `${format.grouped(change.fixed)} no longer over`,
  ].filter(Boolean);
  if (texts.length === 0) return <span class="dim">{change.compared > 0 ? 'no change' : 'not in it'}</span>;
  const tone = change.newlyOver > 0 ? 'bad' : change.bytes > 0 ? 'uncertain' : 'good';
  return <span class={tone}>{texts.join(', ')}</span>;
}

function Components({ report, trend }: { report: Report; trend: Trend | null }) {
  const rows = useMemo(() => componentRows(report), [report]);
  const most = 12;
  if (rows.length === 0) return null;
  return (
    <Section title="Components" id="components" aside={rows.some((row) => row.name) && format.count(rows.filter((row) => row.name).length, 'budget')}>
      <div class="scroll-x" tabIndex={0} role="region" aria-labelledby="components">
        <table class="plain">
          <thead>
            <tr>
              <th scope="col">Component</th><th scope="col" class="optional">Owner</th>
              <th scope="col" class={`number ${trend ? 'optional' : ''}`}>Tests</th><th scope="col" class="number">Over</th>
              <th scope="col" class="number">Outstanding</th>
              <th scope="col" class="number optional">Allowed</th>
              {trend && <th scope="col">Since the baseline</th>}
              <th scope="col" class="optional">Worst against its limit</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, most).map((row) => (
              <tr key={row.name}>
                <th scope="row">
                  {row.name ? <a href={link({ view: 'tests', component: row.name })}>{row.name}</a> : <span class="dim">no budget file</span>}
                </th>
                <td class="optional dim">{row.owner || '–'}</td>
                <td class={`number ${trend ? 'optional' : ''}`}>{format.grouped(row.tests)}</td>
                <td class={`number ${row.over > 0 ? 'bad' : 'dim'}`}>{format.grouped(row.over)}</td>
                <td class="number">{format.bytes(row.outstanding)}</td>
                <td class="number optional dim">{format.bytes(row.allowed)}</td>
                {trend && <td><AgainstBaseline trend={trend} component={row.name} /></td>}
                <td class="optional">{row.worst ? <LimitText violation={row.worst} /> : row.over > 0 ? <span class="bad">freed wrongly</span> : row.judged > 0 ? <span class="good">within</span> : <span class="dim">not judged</span>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > most && <p class="more">and {format.count(rows.length - most, 'more component')}</p>}
    </Section>
  );
}

function ChangeList({ title, changes, tone }: { title: string; changes: Change[]; tone: string }) {
  if (changes.length === 0) return null;
  return (
    <div class="changes">
      <h3>{title} <span class={`badge ${tone}`}>{format.grouped(changes.length)}</span></h3>
      <ul>
        {changes.slice(0, 5).map((change) => (
          <li key={change.now.id}>
            <TestAnchor window={change.now} />
            <span class="number">{format.signedBytes(change.bytes)}</span>
          </li>
        ))}
      </ul>
      {changes.length > 5 && <p class="more">and {format.grouped(changes.length - 5)} more</p>}
    </div>
  );
}

function TrendSection({ trend }: { trend: Trend }) {
  const lists = [trend.newlyOver, trend.fixed, trend.known, trend.untold, trend.more, trend.less];
  const isSame = lists.every((changes) => changes.length === 0);
  return (
    <Section title="Against the baseline" id="trend"
      aside={`${format.count(trend.added, 'test')} new, ${format.grouped(trend.gone)} gone`}>
      {isSame && <p class="quiet">Nothing that both ran has changed.</p>}
      <div class="change-lists">
        <ChangeList title="Newly over budget" changes={trend.newlyOver} tone="bad" />
        <ChangeList title="No longer over budget" changes={trend.fixed} tone="good" />
        <ChangeList title="Over budget before, and known" changes={trend.known} tone="" />
        <ChangeList title="Over budget before, not told now" changes={trend.untold} tone="uncertain" />
        <ChangeList title="More outstanding" changes={trend.more} tone="uncertain" />
        <ChangeList title="Less outstanding" changes={trend.less} tone="good" />
      </div>
    </Section>
  );
}

const sumOf = (windows: Window[], of: (window: Window) => number): number =>
  windows.reduce((total, window) => total + of(window), 0);

// What neither is lost nor retained, for nobody had to know.
function NotToldApart({ windows }: { windows: Window[] }) {
  const of = (metric: 'bytes' | 'blocks') => sumOf(windows, (window) => Math.max(0, window.outstanding[metric] - window.lost[metric] - window.retained[metric]));
  if (of('blocks') === 0 && of('bytes') === 0) return null;
  return <Fact name="Lost or retained" note={`${format.count(of('blocks'), 'block')}: not looked into`}>{format.bytes(of('bytes'))}</Fact>;
}

function numbersText(numbers: Record<string, number>): string {
  return Object.entries(numbers).map(([name, value]) => `${format.words(name)} ${format.grouped(value)}`).join(', ');
}

function RunFacts({ run }: { run: Run }) {
  const { tracing } = run;
  const hasDrops = Object.keys(tracing.drops).length > 0;
  return (
    <details class="panel diagnostics">
      <summary class="panel-head"><h2 id="facts">How it was measured</h2></summary>
      <dl class="facts">
        <Fact name="Program"><code>{run.binary}</code></Fact>
        {run.arguments.length > 0 && <Fact name="Arguments"><code>{run.arguments.join(' ')}</code></Fact>}
        {run.baseline && <Fact name="Baseline"><code>{run.baseline}</code></Fact>}
        <Fact name="Mode">{format.words(run.mode)}, exit code {run.exitCode}{endOf(run) && `; ${endOf(run)}`}</Fact>
        <Fact name="Boundaries">{tracing.boundaries}{tracing.generations > 1 && `, ${tracing.generations} generations`}</Fact>
        <Fact name="Drops">{hasDrops ? <span class="bad">{numbersText(tracing.drops)}</span> : 'none'}</Fact>
        <Fact name="Cut stacks">{numbersText(tracing.stack_ends) || 'none'}</Fact>
        <Fact name="Stacks">{numbersText(tracing.stacks) || 'none'}</Fact>
      </dl>
    </details>
  );
}

export function Overview({ report }: { report: Report }) {
  const { runs, tests, windows } = report;
  const verdict = worstVerdict(runs);
  const shown = shownVerdict(report);
  const title = headline(report);
  const sites = useMemo(() => {
    const counted = callSites(report, windows, 'counted');
    return counted.length > 0 ? counted : callSites(report, windows, 'users');
  }, [report]);
  const trend = useMemo(() => trendOf(report), [report]);
  const wall = runs.reduce((total, run) => total + run.wall, 0);
  const gating = runs.reduce((total, run) => total + run.gating, 0);
  const confirming = runs.reduce((total, run) => total + run.confirming, 0);
  const ends = [...new Set(runs.map(endOf).filter(Boolean))];
  const own = windows.filter((window) => window.kind !== 'program' || tests.length === 0);
  const isWarnOnly = runs.some((run) => run.mode === 'warn_only');
  return (
    <div class="page overview">
      <header class={`hero v-${shown}`}>
        <p class="hero-verdict"><VerdictMark verdict={shown} /></p>
        <h1 tabIndex={-1} id="page-title">{title}</h1>
        <p class="hero-why">
          {[
            ...(verdict === 'pass' ? [] : runs.find((run) => run.verdict === verdict)?.reasons.slice(0, 1) ?? []).filter((reason) => !title.includes(reason)),
            ...ends.slice(0, 2),
            isWarnOnly ? 'warn only: nothing fails' : '',
          ].filter(Boolean).join('; ')}
        </p>
        <VerdictBar report={report} />
      </header>
      <Causes report={report} />
      <dl class="tiles">
        <Fact name="Outstanding" note={format.count(sumOf(own, (w) => w.outstanding.blocks), 'block')}>{format.bytes(sumOf(own, (w) => w.outstanding.bytes))}</Fact>
        <Fact name="Lost" note={format.count(sumOf(own, (w) => w.lost.blocks), 'block')}>{format.bytes(sumOf(own, (w) => w.lost.bytes))}</Fact>
        <Fact name="Retained" note={format.count(sumOf(own, (w) => w.retained.blocks), 'block')}>{format.bytes(sumOf(own, (w) => w.retained.bytes))}</Fact>
        <NotToldApart windows={own} />
        <Fact name="Allowed" note={format.count(sumOf(own, (w) => w.allowed.blocks), 'block')}>{format.bytes(sumOf(own, (w) => w.allowed.bytes))}</Fact>
        {runs.some((run) => run.baseline !== '') && <Fact name="Known" note="from the baseline">{format.bytes(sumOf(own, (w) => w.known.bytes))}</Fact>}
        <Fact name="Framework’s own" note="not judged">{format.bytes(sumOf(windows, (w) => w.framework.bytes))}</Fact>
        <Fact name="Time" note={`${format.seconds(gating)} judging${confirming > 0 ? `, ${format.seconds(confirming)} confirming` : ''}`}>{format.seconds(wall)}</Fact>
      </dl>
      <Notices runs={runs} told={title} />
      {trend && <TrendSection trend={trend} />}
      <HistorySection report={report} />
      {trend && <Components report={report} trend={trend} />}
      <div class="columns">
        <div class="column">
          {!trend && <Components report={report} trend={trend} />}
          <Programs report={report} />
          {runs.length === 1 && <RunFacts run={runs[0]} />}
        </div>
        <Section title="Where it comes from" id="sites" aside={<a href={link({ view: 'flame' })}>flame graph</a>}>
          {sites.length > 0
            ? <CallSiteTable report={report} sites={sites} most={10} caption="Call sites by outstanding bytes" />
            : <p class="quiet">Nothing is outstanding.</p>}
        </Section>
      </div>
    </div>
  );
}
