import * as z from 'zod';
import { shape } from '../../http/shape.ts';

export const fileRecord = shape(() =>
  z
    .object({
      file_name: z.string(),
      file_path: z.string(),
      size: z.int().describe('Size in bytes'),
      encoding: z.literal('base64'),
      content_sha256: z.string(),
      ref: z.string(),
      blob_id: z.string(),
      commit_id: z.string(),
      last_commit_id: z.string(),
      content: z.string(),
    })
    .meta({ id: 'File' }),
);

export const fileWritten = shape(() =>
  z.object({ file_path: z.string(), branch: z.string() }).meta({ id: 'FileWritten' }),
);
