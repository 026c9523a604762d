import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { plainVariable } from '../ci-variables/shapes.ts';
import { userBasic } from '../users/shapes.ts';

const fields = () => ({
  id: z.int(),
  description: z.string(),
  ref: z.string(),
  cron: z.string(),
  cron_timezone: z.string(),
  next_run_at: z.string(),
  active: z.boolean(),
  created_at: z.string(),
  updated_at: z.string(),
  owner: userBasic().nullable().describe('With whose rights its pipelines are made'),
});

export const pipelineSchedules = shape(() => z.array(z.object(fields()).meta({ id: 'PipelineSchedule' })));

export const pipelineSchedule = shape(() =>
  z
    .object({
      ...fields(),
      last_pipeline: z
        .object({ id: z.int(), sha: z.string(), ref: z.string(), status: z.string() })
        .nullable(),
      variables: z.array(plainVariable()).optional().describe('Only for its owner and for Maintainers'),
    })
    .meta({ id: 'PipelineScheduleDetails' }),
);

export const played = shape(() => z.object({ message: z.string() }).meta({ id: 'PipelineSchedulePlayed' }));
