import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { LINK_TYPES } from '../../records/releases.ts';
import { commit } from '../commits/shapes.ts';
import { milestone } from '../milestones/shapes.ts';
import { time, userBasic } from '../users/shapes.ts';

export const link = shape(() =>
  z
    .object({
      id: z.int(),
      name: z.string(),
      url: z.string(),
      direct_asset_url: z.string().describe('Permanent address, if the link has a path; otherwise the URL'),
      external: z.boolean().describe('Whether the URL leads out of the project'),
      link_type: z.enum(LINK_TYPES),
    })
    .meta({ id: 'ReleaseLink' }),
);
export const links = shape(() => z.array(link()));

const milestoneWithStats = shape(() =>
  milestone()
    .extend({
      issue_stats: z
        .object({ total: z.int(), closed: z.int() })
        .optional()
        .describe(
          "The project's issues with it that the caller may see, at most 10,000 of each state. Absent for milestones after the first 100 of an answer",
        ),
    })
    .meta({ id: 'MilestoneOfRelease' }),
);

export const release = shape(() =>
  z
    .object({
      tag_name: z.string().optional().describe('Only for callers who may read code, as are tags and commits'),
      name: z.string(),
      description: z.string(),
      description_html: z.string().optional(),
      created_at: time(),
      released_at: time(),
      upcoming_release: z.boolean().describe('Whether it is to be released in the future'),
      author: userBasic().optional(),
      commit: commit().nullable().optional(),
      milestones: z.array(milestoneWithStats()).optional().describe('Absent if there are none'),
      commit_path: z.string().optional(),
      tag_path: z.string().optional(),
      assets: z.object({
        count: z.int(),
        sources: z.array(z.object({ format: z.string(), url: z.string() })).optional(),
        links: links(),
      }),
      evidences: z
        .array(
          z.object({
            sha: z.string().describe('SHA-256 of the document'),
            filepath: z.string().describe('Address of the document'),
            collected_at: time(),
          }),
        )
        .optional()
        .describe('What the release was when it was collected, the oldest first'),
      _links: z.record(z.string(), z.string()),
    })
    .meta({ id: 'Release' }),
);
export const releases = shape(() => z.array(release()));
