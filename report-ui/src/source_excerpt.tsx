// The source lines around a call site, where the page has them.
import { Position } from './parts';
import type { Tables } from './tables';

export function Source({ tables, file, line }: { tables: Tables; file: string; line: number }) {
  const excerpt = tables.source(file, line);
  if (!excerpt) return null;
  return (
    <figure class="source">
      <figcaption><Position file={file} line={line} /></figcaption>
      <pre tabIndex={0} aria-label={`Source around line ${line}`}>
        {excerpt.lines.map((text, index) => {
          const number = excerpt.first + index;
          return (
            <span key={number} class={number === line ? 'line hit' : 'line'}>
              <span class="line-number">{number}</span><code>{text || ' '}</code>{'\n'}
            </span>
          );
        })}
      </pre>
    </figure>
  );
}
