import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { time, userBasic } from '../users/shapes.ts';

const pushData = shape(() =>
  z
    .object({
      commit_count: z.int(),
      action: z.enum(['created', 'removed', 'pushed']),
      ref_type: z.enum(['branch', 'tag']),
      commit_from: z.string().nullable(),
      commit_to: z.string().nullable(),
      ref: z.string().nullable(),
      commit_title: z.string().nullable(),
      ref_count: z
        .int()
        .nullable()
        .describe('Number of refs, if one push of many refs is recorded as one event'),
    })
    .meta({ id: 'EventPushData' }),
);

const note = shape(() =>
  z
    .object({
      id: z.int(),
      type: z.string().nullable(),
      body: z.string(),
      attachment: z.null(),
      author: userBasic(),
      created_at: time(),
      updated_at: time(),
      system: z.boolean(),
      noteable_id: z.int().nullable(),
      noteable_type: z.string(),
      noteable_iid: z.int().nullable(),
      commit_id: z.string().optional(),
      resolvable: z.boolean(),
      confidential: z.boolean(),
    })
    .meta({ id: 'EventNote' }),
);

const event = shape(() =>
  z
    .object({
      id: z.int(),
      title: z.null(),
      project_id: z.int().nullable().describe('Null for events of a group'),
      action_name: z.string(),
      target_id: z.int().nullable(),
      target_iid: z.int().nullable(),
      target_type: z.string().nullable(),
      author_id: z.int(),
      target_title: z.string().nullable(),
      created_at: time(),
      author: userBasic(),
      author_username: z.string(),
      data: z.null(),
      note: note().optional().describe('The comment, for events about comments'),
      wiki_page: z
        .object({ format: z.string(), slug: z.string(), title: z.string() })
        .optional()
        .describe('The page, for events about wiki pages'),
      push_data: pushData().optional().describe('The push, for push events'),
    })
    .meta({ id: 'ActivityEvent' }),
);

export const events = shape(() => z.array(event()));
