import type { NotedObject } from '../../domain/notes/noteable.ts';
import type { LineRequest } from '../../domain/notes/position-request.ts';
import * as p from '../../http/params.ts';
import type { NotePosition } from '../../records/notes.ts';

const lineNumber = (description: string) => p.integer({ min: 1, description });

const lineFields = () => ({
  line_code: p.string({ description: 'Code of the line; its numbers say the same' }),
  type: p.string({ description: '`new` for an added line, else `old`; its code or numbers say the same' }),
  old_line: lineNumber('Number of the line in the old file; not of an added line'),
  new_line: lineNumber('Number of the line in the new file; not of a deleted line'),
});

const pixels = (description: string) => p.number({ description });

/** Where a discussion is in the diff: `position[head_sha]=...`. */
const field = () => ({
  position: p.object(
    {
      base_sha: p.string({ required: true, description: 'Base commit of a version of the diff' }),
      start_sha: p.string({ required: true, description: 'Head of the target branch in that version' }),
      head_sha: p.string({ required: true, description: 'Head commit of that version' }),
      position_type: p.oneOf(['text', 'image', 'file'], { required: true, description: 'Type of the place' }),
      old_path: p.string({ description: 'Path of the file before the change; default: `new_path`' }),
      new_path: p.string({ description: 'Path of the file after the change; default: `old_path`' }),
      old_line: lineNumber('Number of the line before the change; not of an added line'),
      new_line: lineNumber('Number of the line after the change; not of a deleted line'),
      line_range: p.object(
        {
          start: p.object(lineFields(), { required: true, description: 'First line' }),
          end: p.object(lineFields(), { required: true, description: 'Last line' }),
        },
        { description: 'Several lines' },
      ),
      width: pixels('Width of the image'),
      height: pixels('Height of the image'),
      x: pixels('Distance from the left'),
      y: pixels('Distance from the top'),
    },
    { description: 'Place in the diff; default: the discussion is of the whole' },
  ),
});

interface LineBody {
  readonly line_code?: string | undefined;
  readonly old_line?: number | undefined;
  readonly new_line?: number | undefined;
}

/** What {@link field} takes. */
interface PositionBody {
  readonly base_sha: string;
  readonly start_sha: string;
  readonly head_sha: string;
  readonly position_type: 'text' | 'image' | 'file';
  readonly old_path?: string | undefined;
  readonly new_path?: string | undefined;
  readonly old_line?: number | undefined;
  readonly new_line?: number | undefined;
  readonly line_range?: { readonly start: LineBody; readonly end: LineBody } | undefined;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly x?: number | undefined;
  readonly y?: number | undefined;
}

/** Finds the place that a body names. @throws 400 where there is none */
async function positionIn(
  { positions }: NotedObject,
  body: object & { readonly position?: PositionBody | undefined },
): Promise<NotePosition | undefined> {
  const { position } = body;
  if (position === undefined || positions === undefined) return undefined;
  const { base_sha, start_sha, head_sha, position_type, line_range, width, height, x, y } = position;
  return positions.find({
    ...{ baseSha: base_sha, startSha: start_sha, headSha: head_sha, kind: position_type },
    ...{ oldPath: position.old_path, newPath: position.new_path },
    ...{ oldLine: position.old_line, newLine: position.new_line },
    ...{ width, height, x, y },
    range: line_range && { start: lineOf(line_range.start), end: lineOf(line_range.end) },
  });
}

const lineOf = ({ line_code, old_line, new_line }: LineBody): LineRequest => ({
  code: line_code,
  oldLine: old_line,
  newLine: new_line,
});

/** Places in diffs, for notes of what has one. */
export const diffPositions = { field, find: positionIn };
export type DiffPositions = typeof diffPositions;
