import * as z from 'zod';
import { shape } from '../../http/shape.ts';

const named = () => ({
  format: z.enum(['markdown', 'rdoc', 'asciidoc', 'org']),
  slug: z.string().describe('Path of the page without its extension'),
  title: z.string().describe('The last part of the slug, with spaces for hyphens'),
});

export const page = shape(() =>
  z
    .object({
      ...named(),
      content: z.string(),
      encoding: z.literal('UTF-8'),
    })
    .meta({ id: 'WikiPage' }),
);
export const pages = shape(() =>
  z.array(
    z
      .object({ ...named(), content: z.string().optional(), encoding: z.literal('UTF-8').optional() })
      .meta({ id: 'ListedWikiPage' }),
  ),
);
export const attachment = shape(() =>
  z
    .object({
      file_name: z.string(),
      file_path: z.string().describe('Path in the wiki repository'),
      branch: z.string(),
      link: z.object({ url: z.string(), markdown: z.string() }),
    })
    .meta({ id: 'WikiAttachment' }),
);
