// One finding of a test: what is left, who made it, what holds it, what to do.
import { useState } from 'preact/hooks';
import * as format from './format';
import { isLost, isMappedKind } from './causes';
import { counts, ledToSum, type Finding, type Report, type Window } from './model';
import { Source } from './source_excerpt';
import { StackList } from './stack_list';

const FATES: Record<string, string> = {
  outstanding: 'counts against the budget', steady: 'grows when repeated', unconfirmed: 'retained, could not be confirmed',
  framework: 'the framework’s own', allowed: 'allowed', other_thread: 'of an older thread', replaced: 'replaces what was freed',
  released_later: 'freed later', known: 'known from the baseline', one_time: 'one-time initialisation', bounded: 'bounded cache',
};

// "grows by 1 block each time"; '' where the steps are not alike: the bars tell those.
export const growthStep = ({ growth }: Finding): string =>
  (growth.endsWith('each time') ? growth.replace(/^retained, /, '') : '');

// "g_pool (/home/me/project/src/pool.cc:12)" with the end of its path.
const withShortPath = (text: string): string => text.replace(/\((\/[^()]*)\)$/, (_, path) => `(${format.shortPath(path, 2)})`);

function SeriesBars({ series, unit, show, isToldInWords = false }: {
  series: number[]; unit: string; show: (value: number) => string; isToldInWords?: boolean;
}) {
  const largest = Math.max(1, ...series.map(Math.abs));
  const text = series.map(show).join(' ');
  return (
    <div class="series" role="img" aria-label={`Net ${unit} of each repetition: ${text}`} title={`net ${unit} of each repetition: ${text}`}>
      <span class="series-bars" aria-hidden="true">
        {series.slice(0, 40).map((value, index) => (
          <span key={index} class={value > 0 ? 'up' : value < 0 ? 'down' : 'zero'}
            style={{ height: `${Math.max((18 * Math.abs(value)) / largest, 2)}px` }} />
        ))}
      </span>
      {!isToldInWords && <span class="series-text" aria-hidden="true">{text.length > 60 ? `${text.slice(0, 58)}…` : text}</span>}
    </div>
  );
}

// Lines of 16 bytes, as numbers and as text. Nothing is said of zeros at the end.
export function contentsLines(hex: string): string[] {
  const lines = hex.match(/.{1,32}/g) ?? [];
  while (lines.length > 0 && /^0*$/.test(lines[lines.length - 1])) lines.pop();
  return lines.map((line) => {
    const bytes = line.match(/../g) ?? [];
    const text = bytes.map((byte) => (byte >= '20' && byte <= '7e' ? String.fromCharCode(parseInt(byte, 16)) : '.')).join('');
    return `${bytes.join(' ').padEnd(47)}  |${text}|`;
  });
}

function Contents({ hex }: { hex: string }) {
  const lines = contentsLines(hex);
  if (lines.length === 0) return null;
  return <pre class="contents" aria-label="what the block begins with">{lines.join('\n')}</pre>;
}

function Holder({ holder, label }: { holder: string; label: string }) {
  const steps = holder.split(' -> ');
  return (
    <div class="holder">
      <span class="label">{label}</span>
      <ol class="chain">{steps.map((step, index) => <li key={index} title={step}>{withShortPath(step)}</li>)}</ol>
    </div>
  );
}

// Drawn when it is opened: a lost database led to a hundred call stacks.
function LedTo({ report, finding, window }: { report: Report; finding: Finding; window: Window }) {
  const [isOpen, setOpen] = useState(false);
  const sum = ledToSum(finding);
  return (
    <details class="led-to" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>with {format.bytes(sum.bytes)} in {format.count(sum.blocks, 'block')} that {isLost(finding.reach) ? 'only it led to' : 'it leads to'}</summary>
      {isOpen && finding.ledTo.map((row, index) => (
        <FindingCard key={index} report={report} finding={report.finding(row)} window={window} withSource={false} />
      ))}
    </details>
  );
}

export function FindingCard({ report, finding, window, title, withSource = true }: {
  report: Report; finding: Finding; window: Window; title?: string; withSource?: boolean;
}) {
  const frames = report.stack(finding.stack);
  const site = frames[finding.userFrame];
  const isCounted = finding.rule === '' && counts(finding.disposition);
  const hasAmount = finding.bytes !== 0 || finding.blocks !== 0;
  return (
    <article class={`finding ${isCounted ? 'counted' : 'passed'}`}>
      <header>
        <h3>
          {title && <span>{title} </span>}
          {hasAmount && <span class="amount">{format.bytes(finding.bytes)} in {format.count(finding.blocks, isMappedKind(finding.kind) ? 'mapping' : 'block')}</span>}
        </h3>
        <span class="tags">
          {finding.kind && hasAmount && <span class="tag mono">{finding.kind}</span>}
          {finding.reach && <span class={`tag reach-${finding.reach}`}>{format.words(finding.reach)}</span>}
          {hasAmount && <span class={`tag fate ${isCounted ? 'bad' : ''}`}>{growthStep(finding) || FATES[finding.disposition] || format.words(finding.disposition)}</span>}
          {finding.baseline === 'new' && <span class="tag">new since the baseline</span>}
          {finding.baseline === 'known' && finding.disposition !== 'known' && <span class="tag">known from the baseline</span>}
          {finding.component && finding.component !== window.component && <span class="tag">code of {finding.component}</span>}
        </span>
        {finding.seriesBytes.length > 0
          ? <SeriesBars series={finding.seriesBytes} unit="bytes" show={format.signedBytes} isToldInWords={growthStep(finding) !== ''} />
          : finding.series.length > 0 && <SeriesBars series={finding.series} unit="blocks" show={format.signed} isToldInWords={growthStep(finding) !== ''} />}
      </header>
      {(finding.explanation || finding.rule || finding.allowance || finding.thread) && (
        <p class="explanation">
          {[finding.explanation, finding.rule && `rule: ${finding.rule}`, finding.allowance && `allowance: ${finding.allowance}`, finding.thread && `thread: ${finding.thread}`]
            .filter(Boolean).join(' · ')}
        </p>
      )}
      {finding.holder && <Holder holder={finding.holder} label={isLost(finding.reach) ? 'lost with' : 'held by'} />}
      <Contents hex={finding.contents} />
      <div class="finding-body">
        <StackList frames={frames} userFrame={finding.userFrame} end={finding.stackEnd} />
        {site && withSource && <Source tables={report} file={site.file} line={site.line} />}
      </div>
      {finding.ledTo.length > 0 && <LedTo report={report} finding={finding} window={window} />}
    </article>
  );
}
