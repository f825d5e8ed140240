// The programs of a merged report, with the worst verdict of their runs.
import * as format from './format';
import { byWorst, worstVerdict } from './headline';
import type { Report } from './model';
import { Section, VerdictMark } from './parts';
import { programsOf, type Program } from './programs';
import { link } from './route';

const MOST = 30;

// That of its runs; grey where there is nothing to judge.
function verdictOf(program: Program): string {
  const verdict = worstVerdict(program.runs);
  const isSkipped = program.tests.length > 0 && program.tests.every((test) => test.verdict === 'skipped');
  return verdict === 'pass' && isSkipped ? 'skipped' : verdict;
}

export function Programs({ report }: { report: Report }) {
  if (report.runs.length < 2) return null;
  const programs = programsOf(report)
    .map((program) => ({ program, verdict: verdictOf(program) }))
    .sort((a, b) => byWorst(a, b));
  return (
    <Section title="Programs" id="runs" aside={`${format.count(programs.length, 'program')}, ${format.count(report.runs.length, 'run')}`}>
      <div class="scroll-x" tabIndex={0} role="region" aria-labelledby="runs">
        <table class="plain">
          <thead><tr><th scope="col">Verdict</th><th scope="col">Program</th><th scope="col" class="number">Runs</th><th scope="col" class="number">Tests</th>
            <th scope="col" class="number">Over</th></tr></thead>
          <tbody>
            {programs.slice(0, MOST).map(({ program, verdict }) => (
              <tr key={program.binary}>
                <td><VerdictMark verdict={verdict} /></td>
                <th scope="row"><a href={link({ view: 'tests', program: program.index + 1 })} title={program.binary}>{format.shortPath(program.binary, 2)}</a></th>
                <td class="number">{format.grouped(program.runs.length)}</td>
                <td class="number">{format.grouped(program.tests.length)}</td>
                <td class="number">{format.grouped(program.tests.filter((test) => test.verdict === 'over_budget').length)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {programs.length > MOST && <p class="more">and {format.count(programs.length - MOST, 'more program')}</p>}
    </Section>
  );
}
