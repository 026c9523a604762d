import { addToChangelog, changelogNotes } from '../../domain/changelog/changelog.ts';
import { CONFIG_FILE } from '../../domain/changelog/config.ts';
import { VERSION } from '../../domain/changelog/version.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { reply } from '../../http/reply.ts';
import { endpoint } from '../endpoint.ts';
import { projectUrl } from '../projects/present.ts';
import * as shapes from './shapes.ts';

const area = 'changelog';
const path = '/projects/:id/repository/changelog';
const failures = [
  { status: 422, description: 'There can be no changelog; the message says why' },
  { status: 429, description: 'More than five a minute' },
];

const release = () => ({
  version: p.string({ required: true, pattern: VERSION, description: 'Semantic version of the release' }),
  from: p.string({
    description:
      'Revision behind which the range begins; the last stable release before the version when absent',
  }),
  to: p.string({ description: 'Last revision of the range; the branch when absent' }),
  date: p.datetime({ description: 'Time of the release; now when absent' }),
  trailer: p.string({ default: 'Changelog', description: 'Trailer of the commits to be told of' }),
  config_file: p.string({ default: CONFIG_FILE, description: 'Configuration, in the default branch' }),
});

const notes = endpoint({
  method: 'GET',
  path,
  area,
  summary: 'Make the section of a changelog for a release',
  access: project('read_code', { anonymous: true }),
  query: () => p.params(release()),
  returns: { body: shapes.changelog },
  errors: failures,
  handle: async ({ actor, project, query, request }, deps) => ({
    notes: await changelogNotes(deps, actor, project, {
      ...requestOf(query),
      projectUrl: projectUrl(project.project, request.baseUrl),
      sourceIp: request.sourceIp,
    }),
  }),
});

const add = endpoint({
  method: 'POST',
  path,
  area,
  summary: 'Commit the section of a release to a changelog',
  description: 'Nothing is committed when the file has a section of that version. The body is empty.',
  access: project('read_code'),
  body: () =>
    p.params({
      ...release(),
      branch: p.string({ description: 'Branch to commit to; the default branch when absent' }),
      file: p.string({ default: 'CHANGELOG.md', description: 'Path of the changelog' }),
      message: p.string({ description: 'Message of the commit; `Add changelog for version X` when absent' }),
    }),
  returns: { status: 200 },
  errors: [
    { status: 400, description: 'The file cannot be written' },
    { status: 403, description: 'No right to push to the branch' },
    ...failures,
  ],
  handle: async ({ actor, project, body, request }, deps) => {
    const what = {
      ...requestOf(body),
      projectUrl: projectUrl(project.project, request.baseUrl),
      sourceIp: request.sourceIp,
    };
    const { branch, file, message } = body;
    await addToChangelog(deps, actor, project, what, { branch, file, message });
    return reply({ status: 200 });
  },
});

export const changelogEndpoints = [notes, add];

type Release = p.Output<ReturnType<typeof release>>;

const requestOf = ({ version, from, to, date, trailer, config_file }: Release) => ({
  version,
  from,
  to,
  date,
  trailer,
  configFile: config_file,
});
