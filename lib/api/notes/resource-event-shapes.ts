import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { iteration } from '../iterations/shapes.ts';
import { labelDetails } from '../labels/shapes.ts';
import { milestone } from '../milestones/shapes.ts';
import { time, userBasic } from '../users/shapes.ts';

const eventFields = () => ({
  id: z.int(),
  user: userBasic(),
  created_at: time(),
});

const resourceFields = () => ({
  ...eventFields(),
  resource_type: z.enum(['Commit', 'Issue', 'MergeRequest']),
  resource_id: z.int(),
});

const action = () => z.enum(['add', 'remove']);

export const labelEvent = shape(() =>
  z
    .object({
      ...resourceFields(),
      label: labelDetails().nullable().describe('Null: it was deleted, or is of another project or group'),
      action: action(),
    })
    .meta({ id: 'ResourceLabelEvent' }),
);

export const stateEvent = shape(() =>
  z.object({ ...resourceFields(), state: z.enum(['closed', 'reopened']) }).meta({ id: 'ResourceStateEvent' }),
);

export const milestoneEvent = shape(() =>
  z
    .object({
      ...resourceFields(),
      milestone: milestone().nullable().describe('Null: it was deleted, or is of another project or group'),
      action: action(),
      state: z.enum(['opened', 'closed']).describe('State of the object'),
    })
    .meta({ id: 'ResourceMilestoneEvent' }),
);

export const iterationEvent = shape(() =>
  z
    .object({
      ...resourceFields(),
      iteration: iteration().nullable().describe('Null: it was deleted, or is of another group'),
      action: action(),
    })
    .meta({ id: 'ResourceIterationEvent' }),
);

export const weightEvent = shape(() =>
  z
    .object({ ...eventFields(), issue_id: z.int(), weight: z.int().nullable() })
    .meta({ id: 'ResourceWeightEvent' }),
);

export const labelEvents = shape(() => z.array(labelEvent()));
export const stateEvents = shape(() => z.array(stateEvent()));
export const milestoneEvents = shape(() => z.array(milestoneEvent()));
export const iterationEvents = shape(() => z.array(iterationEvent()));
export const weightEvents = shape(() => z.array(weightEvent()));
