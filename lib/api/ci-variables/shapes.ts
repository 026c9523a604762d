import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { VARIABLE_TYPES } from '../../records/ci-variables.ts';

const fields = () => ({
  variable_type: z.enum(VARIABLE_TYPES),
  key: z.string(),
  value: z.string(),
  protected: z.boolean().describe('Only for jobs of protected branches and tags'),
  masked: z.boolean().describe('Hidden in traces'),
  raw: z.boolean().describe('References to other variables in the value stay text'),
});

export const instanceVariable = shape(() => z.object(fields()).meta({ id: 'InstanceVariable' }));
export const instanceVariables = shape(() => z.array(instanceVariable()));

export const variable = shape(() =>
  z
    .object({
      ...fields(),
      environment_scope: z.string().describe('Environments of the jobs; `*`: all jobs'),
    })
    .meta({ id: 'CiVariable' }),
);
export const variables = shape(() => z.array(variable()));

/** A variable of one pipeline, or of the pipelines of a schedule. */
export const plainVariable = shape(() =>
  z
    .object({ variable_type: z.enum(VARIABLE_TYPES), key: z.string(), value: z.string() })
    .meta({ id: 'PipelineVariable' }),
);
