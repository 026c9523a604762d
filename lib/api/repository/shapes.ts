import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { commit, fileDiffs } from '../commits/shapes.ts';

export const treeEntries = shape(() =>
  z.array(
    z
      .object({
        id: z.string(),
        name: z.string(),
        type: z.enum(['tree', 'blob', 'commit']).describe('`commit` is a submodule'),
        path: z.string(),
        mode: z.string().describe('Six octal digits'),
      })
      .meta({ id: 'TreeEntry' }),
  ),
);

export const blob = shape(() =>
  z
    .object({ size: z.int(), encoding: z.literal('base64'), content: z.string(), sha: z.string() })
    .meta({ id: 'Blob' }),
);

export const comparison = shape(() =>
  z
    .object({
      commit: commit().nullable().describe('The last one'),
      commits: z.array(commit()).describe('Oldest first'),
      diffs: fileDiffs(),
      compare_timeout: z.boolean().describe('Limits were reached'),
      compare_same_ref: z.boolean(),
      web_url: z.string(),
    })
    .meta({ id: 'Comparison' }),
);
