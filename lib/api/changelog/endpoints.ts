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
  { status: 422, description: 'The changelog cannot be generated; the message gives the reason' },
  { status: 429, description: 'More than five requests in a minute' },
];

const releaseFields = () => ({
  version: p.string({
    required: true,
    pattern: VERSION,
    description: 'Version of the release, in semantic versioning format',
  }),
  from: p.string({
    description:
      'Start of the commit range, exclusive: a commit SHA, branch or tag. Default: the tag of the last stable version before `version`',
  }),
  to: p.string({
    description: 'End of the commit range, inclusive: a commit SHA, branch or tag. Default: the branch',
  }),
  date: p.datetime({ description: 'Date and time of the release (ISO 8601). Default: the current time' }),
  trailer: p.string({
    default: 'Changelog',
    description: 'Git trailer that marks the commits to include, case-sensitive',
  }),
  config_file: p.string({
    default: CONFIG_FILE,
    description: 'Path of the changelog configuration file in the default branch',
  }),
});

const notes = endpoint({
  method: 'GET',
  path,
  area,
  summary: 'Generate the changelog section of a release',
  access: project('read_code', { anonymous: true }),
  query: () => p.params(releaseFields()),
  returns: { body: shapes.changelog },
  errors: failures,
  handle: async ({ actor, project, query, request }, deps) => ({
    notes: await changelogNotes(deps, actor, project, {
      ...changelogRequestOf(query),
      projectUrl: projectUrl(project.project, request.baseUrl),
      sourceIp: request.sourceIp,
    }),
  }),
});

const add = endpoint({
  method: 'POST',
  path,
  area,
  summary: 'Add the changelog section of a release to a file',
  description:
    'Commits the section of the release to the file. Does nothing if the file already has a section for the version. The response body is empty.',
  access: project('read_code'),
  body: () =>
    p.params({
      ...releaseFields(),
      branch: p.string({ description: 'Branch to commit to. Default: the default branch of the project' }),
      file: p.string({ default: 'CHANGELOG.md', description: 'Path of the changelog file' }),
      message: p.string({ description: 'Commit message. Default: `Add changelog for version X`' }),
    }),
  returns: { status: 200 },
  errors: [
    { status: 400, description: 'The changelog file cannot be committed' },
    { status: 403, description: 'Not allowed to push to the branch' },
    ...failures,
  ],
  handle: async ({ actor, project, body, request }, deps) => {
    const changelogRequest = {
      ...changelogRequestOf(body),
      projectUrl: projectUrl(project.project, request.baseUrl),
      sourceIp: request.sourceIp,
    };
    const { branch, file, message } = body;
    await addToChangelog(deps, actor, project, changelogRequest, { branch, file, message });
    return reply({ status: 200 });
  },
});

export const changelogEndpoints = [notes, add];

type Release = p.Output<ReturnType<typeof releaseFields>>;

const changelogRequestOf = ({ version, from, to, date, trailer, config_file }: Release) => ({
  version,
  from,
  to,
  date,
  trailer,
  configFile: config_file,
});
