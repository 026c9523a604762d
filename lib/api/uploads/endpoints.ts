import * as z from 'zod';
import { attachFile } from '../../domain/uploads/uploads.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { shape } from '../../http/shape.ts';
import { endpoint } from '../endpoint.ts';

/** The largest file that a process holds in memory, whatever `max_attachment_size` says, and the form around it. */
const bodyLimit = 101 * 1024 * 1024;

const upload = endpoint({
  method: 'POST',
  path: '/projects/:id/uploads',
  area: 'uploads',
  summary: 'Upload a file for texts of a project',
  description:
    'The answer has the Markdown that shows or links the file. Who may see the project may read the file by its URL.',
  access: project('upload_file'),
  bodyLimit,
  body: () => p.params({ file: p.file({ required: true, description: 'The file' }) }),
  returns: {
    body: shape(() =>
      z
        .object({
          alt: z.string(),
          url: z.string().describe('Path below the web URL of the project'),
          full_path: z.string().describe('Path below the URL of the instance'),
          markdown: z.string(),
        })
        .meta({ id: 'Upload' }),
    ),
  },
  errors: [{ status: 413, description: 'The file is larger than `max_attachment_size`' }],
  handle: async ({ project: { project }, body: { file } }, deps) => {
    const { name, secret, alt, embedded } = await attachFile(deps, project, file);
    const url = `/uploads/${secret}/${name}`;
    return {
      alt,
      url,
      full_path: `/${project.fullPath}${url}`,
      markdown: `${embedded ? '!' : ''}[${alt}](${url})`,
    };
  },
});

export const projectUploadEndpoints = [upload];
