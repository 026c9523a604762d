import * as z from 'zod';
import { shape } from '../../http/shape.ts';

const job = () =>
  z.object({
    name: z.string(),
    stage: z.string(),
    before_script: z.array(z.string()),
    script: z.array(z.string()),
    after_script: z.array(z.string()),
    tag_list: z.array(z.string()),
    environment: z.string().nullable(),
    when: z.string(),
    allow_failure: z.boolean(),
    needs: z.array(z.object({ name: z.string() })).nullable(),
  });

const common = () => ({
  errors: z.array(z.string()),
  warnings: z.array(z.string()),
  merged_yaml: z
    .string()
    .nullable()
    .optional()
    .describe('The configuration with all that it includes and extends'),
  jobs: z.array(job()).optional().describe('Only with `include_jobs`'),
});

export const textLint = shape(() =>
  z.object({ status: z.enum(['valid', 'invalid']), ...common() }).meta({ id: 'CiLintOfText' }),
);

export const projectLint = shape(() => z.object({ valid: z.boolean(), ...common() }).meta({ id: 'CiLint' }));
