import type { NotePosition, PlacedLine } from '../../records/notes.ts';

export function shownPosition({ baseSha, startSha, headSha, oldPath, newPath, on }: NotePosition) {
  const at = {
    ...{ base_sha: baseSha, start_sha: startSha, head_sha: headSha, old_path: oldPath, new_path: newPath },
    position_type: on.kind,
  };
  if (on.kind === 'file') return at;
  if (on.kind === 'image') return { ...at, width: on.width, height: on.height, x: on.x, y: on.y };
  const { line, range } = on;
  return {
    ...at,
    old_line: line.oldLine,
    new_line: line.newLine,
    line_range: range === undefined ? null : { start: shownLine(range.start), end: shownLine(range.end) },
  };
}

const shownLine = ({ code, oldLine, newLine }: PlacedLine) => ({
  line_code: code,
  type: oldLine === null ? 'new' : newLine === null ? 'old' : null,
  old_line: oldLine,
  new_line: newLine,
});
