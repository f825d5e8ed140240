// A call stack, innermost first: the user's frames in full, the others folded.
import * as format from './format';
import type { Frame } from './tables';
import { Position } from './parts';

interface Group {
  isUsers: boolean;
  first: number;
  frames: Frame[];
}

function groupsOf(frames: Frame[], userFrame: number): Group[] {
  const groups: Group[] = [];
  frames.forEach((frame, index) => {
    // Every stack has a main; it tells something only where it is the call site.
    const isUsers = (frame.isUsers && frame.func !== 'main') || index === userFrame;
    const last = groups[groups.length - 1];
    if (last && last.isUsers === isUsers) last.frames.push(frame);
    else groups.push({ isUsers, first: index, frames: [frame] });
  });
  return groups;
}

function FrameLine({ frame, isCallSite }: { frame: Frame; isCallSite: boolean }) {
  const place = frame.file
    ? <Position file={frame.file} line={frame.line} />
    : <span class="position" title={frame.module}>{format.fileName(frame.module)} {frame.offset}</span>;
  return (
    <li class={isCallSite ? 'call-site' : ''}>
      <span class="function" title={frame.func}>
        {format.readable(frame.func) || 'unknown function'}
        {frame.isInlined && <span class="inlined"> inlined</span>}
        {isCallSite && <span class="off-screen"> (call site)</span>}
      </span>
      {place}
    </li>
  );
}

// "operator new, vector::push_back": what the folded frames are.
function summary(group: Group): string {
  const names = group.frames.slice(0, 2).map((frame) => {
    const name = format.functionName(frame.func).replace(/<.*>/, '<…>');
    return name.length > 48 ? `${name.slice(0, 47)}…` : name || format.fileName(frame.module) || 'unknown';
  });
  return names.join(', ') + (group.frames.length > 2 ? ', …' : '');
}

export function StackList({ frames, userFrame, end }: { frames: Frame[]; userFrame: number; end: string }) {
  return (
    <ol class="stack" aria-label="Call stack, innermost first">
      {groupsOf(frames, userFrame).map((group) =>
        group.isUsers ? (
          group.frames.map((frame, index) => (
            <FrameLine key={group.first + index} frame={frame} isCallSite={group.first + index === userFrame} />
          ))
        ) : (
          <li key={group.first} class="folded">
            <details>
              <summary><span class="count">{format.count(group.frames.length, 'frame')}</span> {summary(group)}</summary>
              <ol>{group.frames.map((frame, index) => <FrameLine key={index} frame={frame} isCallSite={false} />)}</ol>
            </details>
          </li>
        ),
      )}
      {end && <li class="cut">the stack ends here: {format.words(end)}</li>}
    </ol>
  );
}
