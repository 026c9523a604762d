import * as z from 'zod';
import { shape } from '../../http/shape.ts';

const labelFields = () => ({
  id: z.int(),
  name: z.string(),
  description: z.string().nullable(),
  description_html: z.string().nullable(),
  text_color: z.string().describe('Color of text that is readable on `color`'),
  color: z.string().describe('`#` and three or six hexadecimal digits'),
});

const containerFields = () => ({
  ...labelFields(),
  subscribed: z.boolean().describe('Whether you are subscribed to the label, in this project or group'),
  open_issues_count: z.int().optional().describe('Only with `with_counts=true`'),
  closed_issues_count: z.int().optional().describe('Only with `with_counts=true`'),
  open_merge_requests_count: z.int().optional().describe('Only with `with_counts=true`'),
});

export const groupLabel = shape(() => z.object(containerFields()).meta({ id: 'GroupLabel' }));
export const groupLabels = shape(() => z.array(groupLabel()));

export const projectLabel = shape(() =>
  z
    .object({
      ...containerFields(),
      priority: z.int().nullable().describe('Rank in the project, 0 being the highest; null: none'),
      is_project_label: z.boolean().describe("Whether it is the project's own, not a group's"),
    })
    .meta({ id: 'ProjectLabel' }),
);
export const projectLabels = shape(() => z.array(projectLabel()));

/** A label inside of what has it. */
export const labelDetails = shape(() => z.object(labelFields()).meta({ id: 'LabelDetails' }));
