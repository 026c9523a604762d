/** The release of a tag as tools of earlier releases write it: its notes alone. */
import { changeRelease, releaseTag } from '../../domain/releases/releases.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { endpoint } from '../endpoint.ts';
import { tagRelease } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'tags';
const path = '/projects/:id/repository/tags/:tag_name/release';
const params = () => p.params({ tag_name: p.string({ required: true, description: 'Name of the tag' }) });
const body = () =>
  p.params({
    description: p.string({ required: true, description: 'Notes in Markdown, at most 56 KiB' }),
  });
const guarded = {
  status: 403,
  description: 'The caller may not change releases, or not of this protected tag',
};

const create = endpoint({
  method: 'POST',
  path,
  area,
  summary: 'Create the release of a tag',
  access: project('admin_release'),
  bodyLimit: 1024 * 1024,
  params,
  body,
  returns: { body: shapes.releaseOfTag },
  errors: [
    guarded,
    { status: 404, description: 'There is no such tag' },
    { status: 409, description: 'The tag has a release' },
    { status: 422, description: 'There are too many releases' },
  ],
  prefetch: ({ params }) => ({ tags: [params.tag_name], rules: 'tag' }),
  handle: async ({ actor, project, params, body }, deps) =>
    tagRelease(await releaseTag(deps, actor, project, params.tag_name, body.description)),
});

const update = endpoint({
  method: 'PUT',
  path,
  area,
  summary: 'Update the release of a tag',
  access: project('admin_release'),
  bodyLimit: 1024 * 1024,
  params,
  body,
  returns: { body: shapes.releaseOfTag },
  errors: [
    guarded,
    { status: 404, description: 'The tag has no release' },
    { status: 409, description: 'The release was changed by another request' },
  ],
  prefetch: ({ params }) => ({ tags: [params.tag_name], rules: 'tag' }),
  handle: async ({ actor, project, params, body }, deps) =>
    tagRelease(await changeRelease(deps, actor, project, params.tag_name, { description: body.description })),
});

export const tagReleaseEndpoints = [create, update];
