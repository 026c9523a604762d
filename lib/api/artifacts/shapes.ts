import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { job } from '../pipelines/shapes.ts';

/** In the words of runners. */
export const authorized = shape(() =>
  z
    .object({
      MaximumSize: z.int().describe('Bytes'),
      RemoteObject: z
        .object({
          ID: z.string(),
          StoreURL: z.string().describe('Where to `PUT` the file'),
          PutHeaders: z.record(z.string(), z.string()),
          Timeout: z.int().describe('Seconds within which the upload has to begin'),
        })
        .optional(),
    })
    .meta({ id: 'ArtifactUpload' }),
);

export const keptJob = shape(() =>
  z
    .object({
      ...job().shape,
      download_url: z.string().nullable().describe('Where its archive is downloaded; null without one'),
    })
    .meta({ id: 'KeptJob' }),
);
