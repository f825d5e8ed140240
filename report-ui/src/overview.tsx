// The first page: the verdict and why, and then the numbers.
import { useMemo } from 'preact/hooks';
import { CallSiteTable } from './call_site_table';
import { callSites } from './call_sites';
import * as format from './format';
import { VERDICTS, type Report, type Run, type Violation, type Window } from './model';
import { Fact, Section, TestAnchor, VerdictMark, testLink } from './parts';
import { link } from './route';
import { trendOf, type Change, type Trend } from './trend';

const WORST = ['failed', 'inconclusive', 'unconfirmed', 'pass'];

export function worstVerdict(runs: Run[]): string {
  return WORST.find((verdict) => runs.some((run) => run.verdict === verdict)) ?? 'pass';
}

function tally<T>(items: T[], of: (item: T) => string): Map<string, number> {
  const counted = new Map<string, number>();
  for (const item of items) counted.set(of(item), (counted.get(of(item)) ?? 0) + 1);
  return counted;
}

function endOf(run: Run): string {
  if (run.program.signal) return `the program was killed by signal ${run.program.signal}`;
  if (run.program.exit_code) return `the program exited with ${run.program.exit_code}`;
  return '';
}

// "12 of 214 tests are over budget".
function headline(report: Report, verdict: string): string {
  const total = report.tests.length;
  const tests = tally(report.tests, (test) => test.verdict);
  const over = tests.get('over_budget') ?? 0;
  const all = format.count(total, 'test');
  if (verdict === 'failed') {
    if (over > 0) return `${format.grouped(over)} of ${all} ${over === 1 ? 'is' : 'are'} over budget`;
    const others = report.windows.filter((window) => window.verdict === 'over_budget');
    if (others.length > 0) return `The ${others[0].kind} ${others[0].name} is over budget`;
    return 'A budget file makes the run fail';
  }
  if (verdict === 'inconclusive') return 'Not everything was measured';
  if (verdict === 'unconfirmed') return 'Not everything that is retained could be confirmed';
  if (total === 0) return 'No window is over budget';
  return total === 1 ? 'The one test is within its budget' : `All ${all} are within their budgets`;
}

function ViolationText({ violation }: { violation: Violation }) {
  return (
    <>
      <b>{format.words(violation.metric.replace(/_(bytes|blocks)$/, ''))}</b>{' '}
      {format.metricValue(violation.metric, violation.actual)}
      <span class="dim"> of {format.metricValue(violation.metric, violation.limit)}</span>
    </>
  );
}

function Why({ report }: { report: Report }) {
  const over = report.windows.filter((window) => window.verdict === 'over_budget');
  over.sort((a, b) => b.outstanding.bytes - a.outstanding.bytes);
  const shown = over.slice(0, 8);
  if (over.length === 0) return null;
  return (
    <Section title="Over budget" id="why"
      aside={over.length > shown.length && <a href={link({ view: 'tests', verdict: 'over_budget' })}>all {format.grouped(over.length)}</a>}>
      <ul class="why">
        {shown.map((window) => (
          <li key={window.id}>
            <a class="row" href={testLink(window)}>
              <span class="what">
                {window.kind !== 'test' && <span class="kind">{window.kind} </span>}
                <span class="name">{window.name}</span>
                {window.iteration > 1 && <span class="dim"> #{window.iteration}</span>}
              </span>
              <span class="limits">
                {window.violations.slice(0, 2).map((violation) => (
                  <span key={violation.metric}><ViolationText violation={violation} /></span>
                ))}
              </span>
              <span class="where">
                {window.component || 'no component'}
                {window.violations[0]?.file && ` · ${format.position(window.violations[0].file, window.violations[0].line ?? 0, 2)}`}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Notices({ runs }: { runs: Run[] }) {
  const groups: [string, string, (run: Run) => string[]][] = [
    ['Failures', 'bad', (run) => run.failures],
    ['Reasons', 'uncertain', (run) => run.reasons],
    ['Warnings', 'mild', (run) => run.warnings],
  ];
  const lists = groups.map(([title, tone, of]) => ({ title, tone, lines: [...new Set(runs.flatMap(of))] }));
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
      row = { name: window.component, owner: '', tests: 0, over: 0, unsure: 0, outstanding: 0, allowed: 0, worst: null };
      rows.set(window.component, row);
    }
    row.owner ||= window.owner;
    if (window.kind === 'test') {
      row.tests += 1;
      row.outstanding += window.outstanding.bytes;
      row.allowed += window.allowed.bytes;
    }
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
  return (
    <Section title="Components" id="components" aside={format.count(rows.filter((row) => row.name).length, 'budget')}>
      <div class="scroll-x" tabIndex={0} role="region" aria-labelledby="components">
        <table class="plain">
          <thead>
            <tr>
              <th scope="col">Component</th><th scope="col" class="optional">Owner</th>
              <th scope="col" class={`number ${trend ? 'optional' : ''}`}>Tests</th><th scope="col" class="number">Over</th>
              <th scope="col" class="number">Outstanding</th>
              <th scope="col" class="number optional">Allowed</th>
              {trend && <th scope="col">Since the baseline</th>}
              <th scope="col">Worst against its limit</th>
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
                <td>{row.worst ? <ViolationText violation={row.worst} /> : <span class="good">within</span>}</td>
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

function Runs({ report }: { report: Report }) {
  if (report.runs.length < 2) return null;
  const runs = [...report.runs].sort((a, b) => WORST.indexOf(a.verdict) - WORST.indexOf(b.verdict));
  const most = 30;
  return (
    <Section title="Runs" id="runs" aside={format.grouped(runs.length)}>
      <div class="scroll-x" tabIndex={0} role="region" aria-labelledby="runs">
        <table class="plain">
          <thead><tr><th scope="col">Verdict</th><th scope="col">Program</th><th scope="col" class="number">Tests</th>
            <th scope="col" class="number">Over</th><th scope="col" class="number">Exit code</th><th scope="col" class="number">Time</th></tr></thead>
          <tbody>
            {runs.slice(0, most).map((run) => {
              const tests = run.windows.filter((window) => window.kind === 'test');
              return (
                <tr key={run.index}>
                  <td><VerdictMark verdict={run.verdict} /></td>
                  <th scope="row"><a href={link({ view: 'tests', run: run.index + 1 })} title={run.binary}>{format.shortPath(run.binary, 2)}</a></th>
                  <td class="number">{format.grouped(tests.length)}</td>
                  <td class="number">{format.grouped(tests.filter((test) => test.verdict === 'over_budget').length)}</td>
                  <td class="number">{run.exitCode}</td>
                  <td class="number">{format.seconds(run.wall)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {runs.length > most && <p class="more">and {format.count(runs.length - most, 'more run')}</p>}
    </Section>
  );
}

const sumOf = (windows: Window[], of: (window: Window) => number): number =>
  windows.reduce((total, window) => total + of(window), 0);

function numbersText(numbers: Record<string, number>): string {
  return Object.entries(numbers).map(([name, value]) => `${format.words(name)} ${format.grouped(value)}`).join(', ');
}

function RunFacts({ run }: { run: Run }) {
  const { tracing } = run;
  const hasDrops = Object.keys(tracing.drops).length > 0;
  return (
    <Section title="How it was measured" id="facts">
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
    </Section>
  );
}

export function Overview({ report }: { report: Report }) {
  const { runs, tests, windows } = report;
  const verdict = worstVerdict(runs);
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
      <header class={`hero v-${verdict}`}>
        <p class="hero-verdict"><VerdictMark verdict={verdict} /></p>
        <h1 tabIndex={-1} id="page-title">{headline(report, verdict)}</h1>
        <p class="hero-why">
          {[
            verdict !== 'pass' ? runs.find((run) => run.verdict === verdict)?.reasons[0] ?? '' : '',
            ...ends.slice(0, 2),
            isWarnOnly ? 'warn only: nothing fails' : '',
          ].filter(Boolean).join('; ')}
        </p>
        <VerdictBar report={report} />
      </header>
      <dl class="tiles">
        <Fact name="Outstanding" note={format.count(sumOf(own, (w) => w.outstanding.blocks), 'block')}>{format.bytes(sumOf(own, (w) => w.outstanding.bytes))}</Fact>
        <Fact name="Lost" note={format.count(sumOf(own, (w) => w.lost.blocks), 'block')}>{format.bytes(sumOf(own, (w) => w.lost.bytes))}</Fact>
        <Fact name="Retained" note={format.count(sumOf(own, (w) => w.retained.blocks), 'block')}>{format.bytes(sumOf(own, (w) => w.retained.bytes))}</Fact>
        <Fact name="Allowed" note={format.count(sumOf(own, (w) => w.allowed.blocks), 'block')}>{format.bytes(sumOf(own, (w) => w.allowed.bytes))}</Fact>
        {runs.some((run) => run.baseline !== '') && <Fact name="Known" note="from the baseline">{format.bytes(sumOf(own, (w) => w.known.bytes))}</Fact>}
        <Fact name="Framework’s own" note="not judged">{format.bytes(sumOf(windows, (w) => w.framework.bytes))}</Fact>
        <Fact name="Time" note={`${format.seconds(gating)} judging${confirming > 0 ? `, ${format.seconds(confirming)} confirming` : ''}`}>{format.seconds(wall)}</Fact>
      </dl>
      <Notices runs={runs} />
      <Why report={report} />
      {trend && <TrendSection trend={trend} />}
      {trend && <Components report={report} trend={trend} />}
      <div class="columns">
        <div class="column">
          {!trend && <Components report={report} trend={trend} />}
          <Runs report={report} />
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
