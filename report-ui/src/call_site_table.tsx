// Call sites, the largest first, with a bar each.
import type { CallSite } from './call_sites';
import * as format from './format';
import type { Report } from './model';
import { Cut, Position, testLink } from './parts';

export function CallSiteTable({ report, sites, most, caption }: {
  report: Report; sites: CallSite[]; most: number; caption: string;
}) {
  const largest = Math.max(1, ...sites.slice(0, most).map((site) => site.bytes));
  const hidden = sites.length - most;
  return (
    <>
      <table class="plain sites">
        <caption class="off-screen">{caption}</caption>
        <thead>
          <tr><th scope="col">Call site</th><th scope="col" class="number">Bytes</th>
            <th scope="col" class="number optional">Blocks</th><th scope="col" class="number optional">Tests</th></tr>
        </thead>
        <tbody>
          {sites.slice(0, most).map((site) => (
            <tr key={site.frame ? `${site.frame.func}${site.frame.file}${site.frame.line}` : ''}>
              <td>
                <div class="site">
                  <span class="function" title={site.frame?.func} tabIndex={site.frame && site.frame.func.length > 64 ? 0 : undefined}>
                    {site.frame ? <Cut name={format.functionName(site.frame.func) || 'unknown function'} /> : 'no frame of yours'}
                  </span>
                  {site.frame && <Position file={site.frame.file} line={site.frame.line} />}
                </div>
                <span class="bar" aria-hidden="true"><span style={{ width: `${(100 * site.bytes) / largest}%` }} /></span>
              </td>
              <td class="number">{format.bytes(site.bytes)}</td>
              <td class="number optional">{format.grouped(site.blocks)}</td>
              <td class="number optional">
                {site.windows.size === 1
                  ? <a href={testLink(report.windows[[...site.windows][0]])} title={report.windows[[...site.windows][0]].name}>1</a>
                  : format.grouped(site.windows.size)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {hidden > 0 && <p class="more">and {format.count(hidden, 'more call site')}</p>}
    </>
  );
}
