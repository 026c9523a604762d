import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { group } from '../groups/shapes.ts';
import { issues } from '../issues/shapes.ts';
import { mergeRequests } from '../merge-requests/shapes.ts';
import { milestones } from '../milestones/shapes.ts';
import { notes } from '../notes/shapes.ts';
import { projectsListed } from '../projects/shapes.ts';
import { snippets } from '../snippets/shapes.ts';
import { userBasic } from '../users/shapes.ts';

const pageHit = () =>
  z
    .object({
      basename: z.string().describe('Slug of the page'),
      data: z.string().describe('The first lines that have the text, with those around it'),
      path: z.string(),
      filename: z.string(),
      id: z.null(),
      ref: z.string(),
      startline: z.int(),
      project_id: z.int(),
      group_id: z.null(),
    })
    .meta({ id: 'FoundInWiki' });

export const found = shape(() =>
  z
    .union([
      projectsListed(),
      z.array(group()),
      z.array(userBasic()),
      issues(),
      mergeRequests(),
      milestones(),
      notes(),
      snippets(),
      z.array(pageHit()),
    ])
    .describe('Objects of the kind given by `scope`'),
);
