import * as z from 'zod';
import { shape } from '../../http/shape.ts';

const hash = () => z.record(z.string(), z.unknown());

export const nothing = shape(() => z.null());

/** In the words of runners. */
export const jobPayload = shape(() =>
  z
    .object({
      id: z.int(),
      token: z.string().describe('Token of the job, which ends with it'),
      allow_git_fetch: z.boolean(),
      job_info: hash(),
      git_info: hash(),
      runner_info: hash(),
      variables: z.array(hash()),
      steps: z.array(hash()),
      image: hash().nullable(),
      services: z.array(hash()),
      artifacts: z.array(hash()),
      cache: z.array(hash()),
      credentials: z.array(hash()),
      dependencies: z.array(hash()),
      features: hash(),
    })
    .meta({ id: 'JobPayload' }),
);
