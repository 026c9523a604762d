import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { group } from '../groups/shapes.ts';
import { issues } from '../issues/shapes.ts';
import { mergeRequests } from '../merge-requests/shapes.ts';
import { milestones } from '../milestones/shapes.ts';
import { notes } from '../notes/shapes.ts';
import { projectsListed } from '../projects/shapes.ts';
import { userBasic } from '../users/shapes.ts';

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
    ])
    .describe('Objects of the kind given by `scope`'),
);
