import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { award } from '../award-emoji/shapes.ts';
import { basicFields, time, userBasic } from '../users/shapes.ts';

const line = () =>
  z.object({
    line_code: z.string(),
    type: z.enum(['new', 'old']).nullable(),
    old_line: z.int().nullable(),
    new_line: z.int().nullable(),
  });

const positionShape = shape(() =>
  z
    .object({
      base_sha: z.string(),
      start_sha: z.string(),
      head_sha: z.string().describe('Not that of the merge request: the place is outdated'),
      old_path: z.string(),
      new_path: z.string(),
      position_type: z.enum(['text', 'image', 'file']),
      old_line: z.int().nullable().optional(),
      new_line: z.int().nullable().optional(),
      line_range: z.object({ start: line(), end: line() }).nullable().optional(),
      width: z.number().optional(),
      height: z.number().optional(),
      x: z.number().optional(),
      y: z.number().optional(),
    })
    .meta({ id: 'NotePosition' }),
);

export const suggestion = shape(() =>
  z
    .object({
      id: z.int(),
      from_line: z.int(),
      to_line: z.int(),
      appliable: z.boolean().describe('Whether the merge request is open, and has the lines still'),
      applied: z.boolean(),
      from_content: z.string(),
      to_content: z.string(),
    })
    .meta({ id: 'Suggestion' }),
);
export const suggestions = shape(() => z.array(suggestion()));

export const note = shape(() =>
  z
    .object({
      id: z.int(),
      type: z
        .enum(['DiscussionNote', 'DiffNote'])
        .nullable()
        .describe('Null for a note that stands alone; `DiffNote` for one on a line of a diff'),
      body: z.string(),
      attachment: z.null(),
      author: z.object({
        ...basicFields(),
        email: z.string().nullable().describe('Public email address; null when the author has none'),
        created_at: time().nullable().describe('Null for a private profile, and once the account is gone'),
      }),
      created_at: time(),
      updated_at: time(),
      system: z.boolean().describe('Whether the note was written by the service, about a change'),
      noteable_id: z.int().nullable().describe('Null for a commit'),
      noteable_type: z.enum(['Commit', 'Issue', 'MergeRequest', 'Snippet', 'Epic', 'AlertManagement::Alert']),
      noteable_iid: z.int().nullable().describe('ID within the project; null for a commit'),
      commit_id: z.string().optional().describe('Of a note on a commit: its SHA'),
      position: positionShape().optional().describe('Of a note on a diff: where it is'),
      suggestions: z.array(suggestion()).optional().describe('Of a note on lines of a diff'),
      resolvable: z.boolean().describe('Whether it is in a discussion that can be resolved'),
      resolved: z.boolean().optional().describe('Only if `resolvable`'),
      resolved_by: userBasic().nullable().optional().describe('Only if `resolvable`'),
      resolved_at: time().nullable().optional().describe('Only if `resolvable`'),
      confidential: z
        .boolean()
        .describe('Whether the note is only for those who may read confidential issues'),
      internal: z.boolean().describe('Same as `confidential`'),
      commands_changes: z
        .record(z.string(), z.unknown())
        .describe('What quick actions of the note changed; empty in lists'),
    })
    .meta({ id: 'Note' }),
);
export const noteOrAward = shape(() => z.union([note(), award()]));
export const notes = shape(() => z.array(note()));

export const discussion = shape(() =>
  z
    .object({
      id: z.string().describe('40 hexadecimal digits'),
      individual_note: z.boolean().describe('Whether it is a note that stands alone'),
      notes: z.array(note()).describe('Oldest first'),
      more_notes_after: z
        .number()
        .int()
        .optional()
        .describe('Only where an answer has no room for all notes: others follow the one with this ID'),
    })
    .meta({ id: 'Discussion' }),
);
export const discussions = shape(() => z.array(discussion()));

export const commands = shape(() =>
  z
    .object({
      commands_changes: z.record(z.string(), z.unknown()).describe('What the quick actions changed'),
      summary: z.array(z.string()).describe('What they did, in sentences'),
    })
    .meta({ id: 'NoteCommands' }),
);
