import * as z from 'zod';
import { shape } from '../../http/shape.ts';

export const version = shape(() => z.object({ version: z.string(), revision: z.string() }));

export const metadata = shape(() =>
  z.object({
    version: z.string(),
    revision: z.string(),
    kas: z.object({
      enabled: z.boolean(),
      externalUrl: z.string().nullable(),
      externalK8sProxyUrl: z.string().nullable(),
      version: z.string().nullable(),
    }),
    enterprise: z.boolean(),
  }),
);

export const openapi = shape(() =>
  z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) }),
);

export const accepted = shape(() => z.object({ message: z.literal('202 Accepted') }));
