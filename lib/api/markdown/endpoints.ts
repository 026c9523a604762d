import * as z from 'zod';
import { locateProject } from '../../domain/access/locate.ts';
import { projectAccesses } from '../../domain/access/project-accesses.ts';
import { notFound } from '../../domain/errors.ts';
import { rendered } from '../../domain/markdown/render.ts';
import { renderedFor } from '../../domain/references/render.ts';
import { signedIn } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { shape } from '../../http/shape.ts';
import { endpoint } from '../endpoint.ts';

const render = endpoint({
  method: 'POST',
  path: '/markdown',
  area: 'markdown',
  summary: 'Generate HTML from Markdown',
  description:
    'CommonMark with tables, task lists, strikethrough, autolinks, footnotes and emoji. The HTML is sanitized. A text that is longer than 262,144 characters or takes too long is returned as written, in `<pre>`.',
  access: signedIn(),
  // Changes nothing.
  inMaintenance: true,
  bodyLimit: 2 * 1024 * 1024,
  body: () =>
    p.params({
      text: p.string({ required: true, description: 'The text' }),
      gfm: p.boolean({
        default: false,
        description: 'Whether references such as `#1` and `@user` become links',
      }),
      project: p.string({ description: 'Full path of the project that references without a path belong to' }),
    }),
  returns: {
    body: shape(() => z.object({ html: z.string() }).meta({ id: 'RenderedMarkdown' })),
  },
  errors: [{ status: 404, description: 'There is no such project' }],
  handle: async ({ body: { text, gfm, project: path }, actor, request: { baseUrl } }, deps) => {
    if (!gfm && path === undefined) return { html: await rendered(text, { baseUrl }) };
    const located = path === undefined ? undefined : await locateProject(deps, path);
    const [project] = located === undefined ? [] : await projectAccesses(deps, actor, [located.id]);
    if (path !== undefined && project === undefined) throw notFound('Project');
    return {
      html: gfm
        ? await renderedFor(deps, text, { actor, baseUrl, project })
        : await rendered(text, { baseUrl, projectUrl: `${baseUrl}/${project!.project.fullPath}` }),
    };
  },
});

export const markdownEndpoints = [render];
