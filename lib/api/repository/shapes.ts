import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { commit, fileDiffs } from '../commits/shapes.ts';

export const treeEntries = shape(() =>
  z.array(
    z
      .object({
        id: z.string(),
        name: z.string(),
        type: z.enum(['tree', 'blob', 'commit']).describe('Kind of entry; `commit` is a submodule'),
        path: z.string(),
        mode: z.string().describe('File mode, six octal digits'),
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
      commit: commit().nullable().describe('Newest commit; null when there are none'),
      commits: z.array(commit()).describe('Commits, oldest first'),
      diffs: fileDiffs(),
      compare_timeout: z.boolean().describe('Whether a limit was reached and commits or diffs were left out'),
      compare_same_ref: z.boolean().describe('Whether both revisions are the same commit'),
      web_url: z.string(),
    })
    .meta({ id: 'Comparison' }),
);
