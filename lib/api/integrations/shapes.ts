import * as z from 'zod';
import { SLUGS } from '../../domain/integrations/catalog.ts';
import { shape } from '../../http/shape.ts';
import { INTEGRATION_SWITCHES } from '../../records/integrations.ts';
import { time } from '../users/shapes.ts';

const fields = () => ({
  id: z.int(),
  title: z.string(),
  slug: z.enum(SLUGS),
  created_at: time(),
  updated_at: time(),
  active: z.boolean(),
  ...Object.fromEntries(INTEGRATION_SWITCHES.map((name) => [name, z.boolean()])),
  inherited: z.boolean().describe('Whether it is one of a group above'),
});

export const integrations = shape(() => z.array(z.object(fields()).meta({ id: 'Integration' })));

export const integration = shape(() =>
  z
    .object({
      ...fields(),
      properties: z
        .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
        .describe('What it was given, without secrets'),
    })
    .meta({ id: 'IntegrationWithProperties' }),
);

export const commandAnswer = shape(() =>
  z.object({ response_type: z.enum(['ephemeral']), text: z.string() }).meta({ id: 'AnswerToCommand' }),
);
