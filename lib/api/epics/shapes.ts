import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { ISSUE_STATES } from '../../records/issues.ts';
import { labelDetails } from '../labels/shapes.ts';
import { day, time, userBasic } from '../users/shapes.ts';

const fields = () => ({
  id: z.int(),
  iid: z.int().describe('Number in its group'),
  group_id: z.int(),
  parent_id: z.int().nullable(),
  parent_iid: z.int().nullable(),
  title: z.string(),
  description: z.string().nullable(),
  state: z.enum(ISSUE_STATES),
  confidential: z.boolean(),
  web_url: z.string(),
  reference: z.string().describe('Deprecated: use `references`'),
  references: z.object({
    short: z.string(),
    relative: z.string().describe('As written in the group that was asked'),
    full: z.string(),
  }),
  author: userBasic(),
  start_date: day()
    .nullable()
    .describe('The fixed one, while it is said to be fixed; else that of milestones'),
  start_date_is_fixed: z.boolean(),
  start_date_fixed: day().nullable(),
  start_date_from_inherited_source: day().nullable(),
  start_date_from_milestones: day().nullable().describe('The earliest start of the milestones of its issues'),
  end_date: day().nullable().describe('Deprecated: use `due_date`'),
  due_date: day().nullable().describe('The fixed one, while it is said to be fixed; else that of milestones'),
  due_date_is_fixed: z.boolean(),
  due_date_fixed: day().nullable(),
  due_date_from_inherited_source: day().nullable(),
  due_date_from_milestones: day().nullable().describe('The latest end of the milestones of its issues'),
  created_at: time(),
  updated_at: time(),
  closed_at: time().nullable(),
  labels: z.array(z.string()).describe('Titles'),
  upvotes: z.int(),
  downvotes: z.int(),
  _links: z.object({
    self: z.string(),
    epic_issues: z.string(),
    group: z.string(),
    parent: z.string().nullable(),
  }),
});

export const epic = shape(() => z.object(fields()).meta({ id: 'Epic' }));

const labelsShown = () => z.union([z.array(z.string()), z.array(labelDetails())]);

export const epics = shape(() =>
  z.array(
    z
      .object({ ...fields(), labels: labelsShown().describe('Titles; objects with `with_labels_details`') })
      .meta({ id: 'ListedEpic' }),
  ),
);
