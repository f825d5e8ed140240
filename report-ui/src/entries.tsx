// What to paste into a budget file, as leakgate's other reports offer it.
import { CopyButton } from './parts';
import type { Report } from './model';

// `remedy` has the texts: places, each followed by the entry.
export function Entries({ report, remedy }: { report: Report; remedy: number[] }) {
  const texts = remedy.map((one) => report.string(one));
  return (
    <>
      {texts.map((place, index) => index % 2 === 0 && (
        <div class="allow standalone" key={index}>
          <div class="allow-head">
            <span class="label">to allow it, in {place}</span>
            <CopyButton text={texts[index + 1]} label="Copy the entry" />
          </div>
          <pre tabIndex={0} aria-label="Entry"><code>{texts[index + 1]}</code></pre>
        </div>
      ))}
    </>
  );
}
