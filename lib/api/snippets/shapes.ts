import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { VISIBILITIES } from '../../records/visibility.ts';
import { time, userBasic } from '../users/shapes.ts';

export const snippet = shape(() =>
  z
    .object({
      id: z.int(),
      title: z.string(),
      description: z.string().nullable(),
      visibility: z.enum(VISIBILITIES),
      author: userBasic(),
      created_at: time(),
      updated_at: time(),
      expires_at: z.null().describe('Snippets do not expire'),
      project_id: z.int().nullable().describe('Null: a personal snippet'),
      web_url: z.string(),
      raw_url: z.string(),
      ssh_url_to_repo: z.string(),
      http_url_to_repo: z.string(),
      file_name: z.string().nullable().describe('Deprecated: the first of `files`'),
      files: z.array(z.object({ path: z.string(), raw_url: z.string() })),
    })
    .meta({ id: 'Snippet' }),
);

export const snippets = shape(() => z.array(snippet()));
