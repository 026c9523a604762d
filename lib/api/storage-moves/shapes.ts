import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { STORAGE_MOVE_STATES } from '../../records/storage-moves.ts';
import { identityFields } from '../projects/identity-shapes.ts';
import { snippet } from '../snippets/shapes.ts';
import { time } from '../users/shapes.ts';

const moveFields = () => ({
  id: z.int(),
  created_at: time(),
  state: z
    .enum(STORAGE_MOVE_STATES)
    .describe('`replicated`: everything is in the new storage, and the old one is emptied a day later'),
  source_storage_name: z.string(),
  destination_storage_name: z.string(),
  error_message: z.string().nullable().describe('Why it failed, or could not be cleaned up'),
});

const GONE = 'Null: it was deleted a moment ago';

export const projectMove = shape(() =>
  z
    .object({
      ...moveFields(),
      project: z.object(identityFields()).nullable().describe(GONE),
    })
    .meta({ id: 'ProjectStorageMove' }),
);
export const projectMoves = shape(() => z.array(projectMove()));

export const groupMove = shape(() =>
  z
    .object({
      ...moveFields(),
      group: z.object({ id: z.int(), web_url: z.string(), name: z.string() }).nullable().describe(GONE),
    })
    .meta({ id: 'GroupStorageMove' }),
);
export const groupMoves = shape(() => z.array(groupMove()));

export const snippetMove = shape(() =>
  z
    .object({ ...moveFields(), snippet: snippet().nullable().describe(GONE) })
    .meta({ id: 'SnippetStorageMove' }),
);
export const snippetMoves = shape(() => z.array(snippetMove()));
