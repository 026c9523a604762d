import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { CI_STATUSES } from '../../records/pipelines.ts';
import { time, userBasic } from '../users/shapes.ts';

const commitStats = shape(() =>
  z.object({ additions: z.int(), deletions: z.int(), total: z.int() }).meta({ id: 'CommitStats' }),
);

const basicFields = () => ({
  id: z.string(),
  short_id: z.string(),
  created_at: time(),
  parent_ids: z.array(z.string()),
  title: z.string(),
  message: z.string(),
  author_name: z.string(),
  author_email: z.string(),
  authored_date: time(),
  committer_name: z.string(),
  committer_email: z.string(),
  committed_date: time(),
  trailers: z.record(z.string(), z.string()).describe('Git trailers of the message; empty unless requested'),
  web_url: z.string(),
});

export const commit = shape(() => z.object(basicFields()).meta({ id: 'Commit' }));

export const commits = shape(() =>
  z.array(z.object({ ...basicFields(), stats: commitStats().optional() }).meta({ id: 'ListedCommit' })),
);

export const pipeline = shape(() =>
  z
    .object({
      id: z.int(),
      iid: z.int().describe('ID within the project'),
      project_id: z.int(),
      sha: z.string(),
      ref: z.string(),
      status: z.string(),
      source: z.string(),
      created_at: time(),
      updated_at: time(),
      web_url: z.string(),
    })
    .meta({ id: 'PipelineBasic' }),
);

export const commitDetail = shape(() =>
  z
    .object({
      ...basicFields(),
      stats: commitStats().optional().describe('Absent if `stats` is false'),
      status: z.string().nullable(),
      project_id: z.int(),
      last_pipeline: pipeline()
        .nullable()
        .describe('Newest pipeline of the commit; null if the caller is not allowed to see pipelines'),
    })
    .meta({ id: 'CommitDetail' }),
);

export const fileDiff = shape(() =>
  z
    .object({
      old_path: z.string(),
      new_path: z.string(),
      a_mode: z.string().describe('Old file mode, six octal digits; `0` for an added file'),
      b_mode: z.string().describe('New file mode, six octal digits; `0` for a deleted file'),
      new_file: z.boolean(),
      renamed_file: z.boolean(),
      deleted_file: z.boolean(),
      diff: z
        .string()
        .describe(
          'Unified diff from the first `@@`; empty if only the name or mode changed, or the limits are exceeded',
        ),
    })
    .meta({ id: 'FileDiff' }),
);
export const fileDiffs = shape(() => z.array(fileDiff()));

export const dryRun = shape(() => z.object({ dry_run: z.literal('success') }).meta({ id: 'DryRun' }));

export const commitComment = shape(() =>
  z
    .object({
      note: z.string(),
      path: z.string().nullable(),
      line: z.int().nullable(),
      line_type: z.enum(['new', 'old']).nullable(),
      author: userBasic(),
      created_at: time(),
    })
    .meta({ id: 'CommitComment' }),
);
export const commitComments = shape(() => z.array(commitComment()));

export const commitStatus = shape(() =>
  z
    .object({
      id: z.int(),
      sha: z.string(),
      ref: z.string(),
      status: z.enum(CI_STATUSES),
      name: z.string(),
      target_url: z.string().nullable(),
      description: z.string().nullable(),
      created_at: time(),
      started_at: time().nullable(),
      finished_at: time().nullable(),
      allow_failure: z.boolean(),
      coverage: z.number().nullable(),
      author: userBasic().nullable(),
    })
    .meta({ id: 'CommitStatus' }),
);
export const commitStatuses = shape(() => z.array(commitStatus()));
