// Run reports to look at: small values, with what a test does not say left to a default.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// Makes a folder that is there until the process ends.
export function scratchFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'leakgate-html-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export const amount = (bytes = 0, blocks = bytes > 0 ? 1 : 0) => ({ bytes, blocks });

export const frame = (func, file = '', line = 0, module = '/home/me/project/build/http_test') =>
  ({ function: func, file, line, module, offset: '0x1a2b', inlined: false });

export const poolStack = [
  frame('operator new(unsigned long)', '', 0, '/usr/lib/x86_64-linux-gnu/libstdc++.so.6'),
  frame('net::Pool::Grow(unsigned long)', '/home/me/project/src/net/pool.cc', 88),
  frame('net::Client::Connect(net::Url const&)', '/home/me/project/src/net/client.cc', 41),
  frame('HttpTest_KeepAlive_Test::TestBody()', '/home/me/project/tests/http_test.cc', 27),
  frame('testing::Test::Run()'),
  frame('main', '/home/me/project/tests/main.cc', 5),
];

export const finding = (values = {}) => ({
  bytes: 64, blocks: 1, kind: 'new', disposition: 'outstanding', user_frame: 1, stack_end: 'outermost',
  stack: poolStack, ...values,
});

export const violation = (values = {}) => ({
  metric: 'outstanding_bytes', actual: 64, limit: 0, file: 'budgets/net.leakgate.json', line: 14, reason: null,
  component: 'net', ...values,
});

const sum = (findings) => findings.reduce((total, one) => amount(total.bytes + one.bytes, total.blocks + one.blocks), amount());

export function test(name, values = {}) {
  const findings = values.findings ?? [];
  return {
    kind: 'test', name, iteration: 1, test_result: 'passed', verdict: 'pass', component: 'net', owner: 'net-team',
    outstanding: sum(findings), lost: amount(), retained: amount(), allowed: amount(), framework: amount(),
    growth: sum(findings), allocated: amount(4096, 31), peak_live_bytes: 4096, violations: [], findings, ...values,
  };
}

export const failing = (name, values = {}) =>
  test(name, { verdict: 'over_budget', test_result: 'failed', violations: [violation()], findings: [finding()], ...values });

export const run = (windows, values = {}) => ({
  schema: 'leakgate-report-2', binary: 'build/http_test', arguments: [],
  verdict: windows.some((one) => one.verdict === 'over_budget') ? 'failed' : 'pass',
  exit_code: 0, program: { exit_code: 0, signal: null }, mode: 'gate', reasons: [], failures: [], warnings: [],
  tracing: { boundaries: 'listener', generations: 1, drops: {}, stack_ends: {},
    stacks: { proved: 5117, walked: 34, unprovable: 0, frames_walked: 201, frames_without_rule: 96 } },
  wall_seconds: 2.31, gating_seconds: 0.041, confirming_seconds: 0, windows, ...values,
});

// Three suites of ten tests; in each, the fourth fails.
export function usualRun() {
  const windows = [];
  for (const suite of ['HttpTest', 'PoolTest', 'DiskTest']) {
    for (let index = 0; index < 10; index += 1) {
      const at = windows.length;
      const timed = {
        component: suite === 'DiskTest' ? 'disk' : 'net',
        begin_seconds: at * 0.1, end_seconds: at * 0.1 + 0.08, live_bytes: { begin: 1000 + at * 64, end: 1000 + at * 64 + 64 },
      };
      const name = `${suite}.Case${index}`;
      windows.push(index === 3 ? failing(name, { ...timed, violations: [violation({ metric: 'steady_bytes', component: timed.component })], findings: [
        finding({ bytes: 64 * (at + 1), reach: 'retained', holder: 'g_pool (pool.cc:12) -> std::vector node', series: Array.from({ length: 63 }, (_, step) => 1 + (step % 2)), disposition: 'steady' }),
        finding({ bytes: 16, user_frame: 0, stack: poolStack.slice(3), disposition: 'one_time', explanation: 'once' }),
      ] }) : test(name, timed));
    }
  }
  windows.push(test('HttpTest.Unsure', { verdict: 'inconclusive', reason: 'it was interrupted', begin_seconds: 3, end_seconds: 3.1, live_bytes: { begin: 0, end: 0 } }));
  return run(windows);
}

// The same some time before: one test failed that passes now, two passed, one was not there.
export function earlierRun() {
  const { windows } = usualRun();
  const isSince = (window) => window.name === 'DiskTest.Case9' || window.name === 'DiskTest.Case3';
  return run([...windows.filter((window) => !isSince(window)).map((window) => (
    window.name === 'PoolTest.Case3' ? test(window.name, { findings: [finding({ bytes: 32 })] }) : window)),
  failing('DiskTest.Case3', { component: 'disk' }), failing('HttpTest.Removed')].map((window) => (
    window.name === 'PoolTest.Case7' ? failing(window.name) : window)));
}

// 5,000 tests with ten findings each.
export function largeRun() {
  const windows = [];
  for (let at = 0; at < 5000; at += 1) {
    const findings = [];
    for (let index = 0; index < 10; index += 1) {
      const place = (at * 7 + index * 13) % 900;
      const file = `/home/me/project/src/module${place % 40}/file${place % 90}.cc`;
      const stack = [frame('operator new(unsigned long)', '', 0, '/usr/lib/x86_64-linux-gnu/libstdc++.so.6')];
      for (let depth = 0; depth < 9; depth += 1) {
        stack.push(frame(`project::module${place % 40}::Function${(place + depth * (place % 7)) % 300}(int)`, file, 10 + depth));
      }
      findings.push(finding({ bytes: 16 + ((at + index * 97) % 4000), stack, disposition: index % 3 === 0 ? 'outstanding' : 'released_later' }));
    }
    const name = `Suite${at % 120}.TestNumber${at}`;
    const timed = { component: `component${at % 25}`, begin_seconds: at * 0.01, end_seconds: at * 0.01 + 0.009, live_bytes: { begin: 5000 + at * 7, end: 5000 + at * 7 + 5 } };
    windows.push(at % 9 === 0 ? failing(name, { ...timed, findings }) : test(name, { ...timed, findings }));
  }
  return run(windows);
}

// What `leakgate history add` makes of earlier runs: [run, commit, time] each.
function historyOf(folder, write, earlier) {
  const database = join(folder, 'leaks.sqlite');
  earlier.forEach(([one, commit, time], index) => execFileSync(join(process.env.LEAKGATE_BIN, 'leakgate'),
    ['history', 'add', database, write(`earlier${index}.json`, one), '--commit', commit, '--time', time], { stdio: 'ignore' }));
  return database;
}

// The path of an HTML report that `leakgate merge` makes, with a history.
export function mergedReport(runs, earlier) {
  const folder = scratchFolder();
  const write = (name, one) => {
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify(one));
    return path;
  };
  const page = join(folder, 'report.html');
  const inputs = runs.map((one, index) => write(`run${index}.json`, one));
  const history = historyOf(folder, write, earlier);
  const merge = spawnSync(join(process.env.LEAKGATE_BIN, 'leakgate'),
    ['merge', ...inputs, '--history', history, '--report', `html=${page}`], { encoding: 'utf8' });
  if (merge.status === 2) throw new Error(merge.stderr);
  return page;
}

// The path of an HTML report.
export function report(runs, { baseline = [] } = {}) {
  const folder = scratchFolder();
  const write = (name, one) => {
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify(one));
    return path;
  };
  const page = join(folder, 'report.html');
  const inputs = runs.map((one, index) => write(`run${index}.json`, one));
  const before = baseline.map((one, index) => write(`baseline${index}.json`, one));
  execFileSync(join(process.env.LEAKGATE_BIN, 'write_html'), [page, ...inputs, ...(before.length > 0 ? ['--baseline', ...before] : [])]);
  return page;
}
