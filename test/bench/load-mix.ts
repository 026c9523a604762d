/**
 * The kinds of requests, and how often each comes, after the reference of GitLab for 1,000 users: 20 requests of the API, 2
 * pulls and 0.4 pushes a second.
 */
import type { LoadClient } from './load-client.ts';
import type { BusyProject, LoadData, Person } from './load-data.ts';
import { GitClient } from './load-git.ts';

const API_RATE = 20;
/** Many who pull are jobs of CI, whose clones are shallow. Commits of the API are pushes, too. */
const GIT_RATES = { look: 0.9, fetch: 0.6, shallow: 0.5, push: 0.2, commit: 0.2 };
/** Of what is asked of projects with content. */
const LARGE_SHARE = 1 / 2;

/** What a request can use. */
export interface Mix {
  readonly client: LoadClient;
  readonly data: LoadData;
  /** A whole number below it. */
  readonly random: (below: number) => number;
}

export interface Kind {
  readonly name: string;
  /** A second, at rate 1. */
  readonly rate: number;
  /** @returns the status @throws when the answer does not come, or is not what it should be */
  readonly run: (mix: Mix) => Promise<number>;
}

/** Somebody, and a project with content of which he is a member. */
interface Scene {
  readonly mix: Mix;
  readonly project: BusyProject;
  readonly who: Person;
  readonly one: <T>(of: readonly T[]) => T;
}

type PathOf = string | ((scene: Scene) => string);
type JsonOf = (scene: Scene) => object;

const parts: { name: string; weight: number; run: (scene: Scene) => Promise<number> }[] = [];
const within = (path: PathOf, scene: Scene) => (typeof path === 'string' ? path : path(scene));

/** `path` begins with `/`; that of a project is what comes after its id. */
function get(name: string, weight: number, path: PathOf): void {
  const run = async (scene: Scene) =>
    (await scene.mix.client.api('GET', within(path, scene), scene.who.token)).status;
  parts.push({ name, weight, run });
}
function getOf(name: string, weight: number, path: PathOf): void {
  get(name, weight, (scene) => `/projects/${scene.project.id}${within(path, scene)}`);
}
function writeOf(
  name: string,
  weight: number,
  method: 'POST' | 'PUT',
  path: PathOf,
  json: JsonOf,
  then?: (scene: Scene, body: { iid: number }) => void,
): void {
  const run = async (scene: Scene) => {
    const url = `/projects/${scene.project.id}${within(path, scene)}`;
    const { status, body } = await scene.mix.client.api(method, url, scene.who.token, json(scene));
    if (status < 300) then?.(scene, JSON.parse(body.toString()));
    return status;
  };
  parts.push({ name, weight, run });
}

const file = ({ one, project }: Scene) => encodeURIComponent(one(project.files));
const sha = ({ one, project }: Scene) => one(project.commits.slice(0, 100));
const issue = ({ one, project }: Scene) => `/issues/${one(project.issues)}`;
const mergeRequest = ({ one, project }: Scene) => `/merge_requests/${one(project.mergeRequests)}`;
const group = ({ project }: Scene) => `/groups/${project.group.id}`;
const commits = (scene: Scene) => `/repository/commits/${sha(scene)}`;

get('GET /projects, of a member', 3, '/projects?membership=true');
get('GET /projects, by activity', 2, '/projects?order_by=last_activity_at&simple=true');
get('GET /projects?search', 1, ({ mix }) => `/projects?search=work${mix.random(20)}`);
getOf('GET project', 6, '');
get('GET project, by its path', 3, ({ project }) => `/projects/${encodeURIComponent(project.path)}`);
getOf('GET project/members/all', 1.5, '/members/all');
getOf('GET project/languages', 0.7, '/languages');
getOf('GET project/events', 1.5, '/events');
getOf('GET project/labels', 2, '/labels');
getOf('GET project/milestones', 1, '/milestones');
getOf('GET project/releases', 0.5, '/releases');
getOf('GET project/environments', 0.5, '/environments');
getOf('GET project/protected_branches', 0.5, '/protected_branches');
getOf('GET project/pipelines', 3, '/pipelines');
getOf('GET pipeline', 2, ({ one, project }) => `/pipelines/${one(project.pipelines)}`);
getOf('GET pipeline/jobs', 1.5, ({ one, project }) => `/pipelines/${one(project.pipelines)}/jobs`);

getOf('GET branches', 3, '/repository/branches');
getOf('GET branches?search', 1, '/repository/branches?search=change');
getOf('GET branch', 3, ({ project }) => `/repository/branches/${project.branch}`);
getOf('GET tags', 1.5, '/repository/tags');
getOf('GET tag', 0.5, ({ one, project }) => `/repository/tags/${encodeURIComponent(one(project.tags))}`);
getOf('GET commits', 4, '/repository/commits');
getOf('GET commits of a path', 2, (scene) => `/repository/commits?path=${file(scene)}`);
getOf('GET commit', 4, commits);
getOf('GET commit/diff', 2, (scene) => `${commits(scene)}/diff`);
getOf('GET commit/statuses', 1.5, (scene) => `${commits(scene)}/statuses`);
getOf('GET commit/refs', 0.5, (scene) => `${commits(scene)}/refs`);
getOf(
  'GET tree',
  4,
  ({ one, project }) => `/repository/tree?path=${encodeURIComponent(one(project.folders))}`,
);
getOf('GET tree, recursive', 1, '/repository/tree?recursive=true');
getOf('GET file', 4, (scene) => `/repository/files/${file(scene)}?ref=HEAD`);
getOf('GET file/raw', 5, (scene) => `/repository/files/${file(scene)}/raw?ref=HEAD`);
getOf('GET file/blame', 0.7, (scene) => `/repository/files/${file(scene)}/blame?ref=HEAD`);
getOf('GET compare', 1.5, compare);
getOf('GET merge_base', 0.5, (scene) => `/repository/merge_base?refs[]=${sha(scene)}&refs[]=${sha(scene)}`);
getOf('GET contributors', 0.7, '/repository/contributors');

getOf('GET merge_requests', 4, '/merge_requests?state=opened');
get('GET merge_requests of a group', 1, (scene) => `${group(scene)}/merge_requests`);
get('GET merge_requests, assigned', 1.5, '/merge_requests?scope=assigned_to_me');
getOf('GET merge_request', 5, mergeRequest);
for (const [part, weight] of Object.entries({
  changes: 2,
  commits: 1.5,
  discussions: 3,
  notes: 2,
  approvals: 1,
}))
  getOf(`GET merge_request/${part}`, weight, (scene) => `${mergeRequest(scene)}/${part}`);
getOf('GET issues', 4, '/issues?state=opened');
getOf('GET issues of a label', 1, '/issues?labels=bug');
get('GET issues of a group', 1, (scene) => `${group(scene)}/issues`);
get('GET issues, assigned', 1.5, '/issues?scope=assigned_to_me');
getOf('GET issue', 4, issue);
getOf('GET issue/notes', 2, (scene) => `${issue(scene)}/notes`);
getOf('GET issue/discussions', 1, (scene) => `${issue(scene)}/discussions`);

get('GET /groups', 1.5, '/groups');
get('GET group', 3, group);
get('GET group/projects', 2, (scene) => `${group(scene)}/projects`);
get('GET group/members', 1, (scene) => `${group(scene)}/members`);
get('GET /user', 5, '/user');
get('GET /users?search', 1, ({ mix }) => `/users?search=user${mix.random(100)}`);
get('GET /users/:id', 1.5, ({ one, mix }) => `/users/${one(mix.data.users).id}`);
get('GET /users/:id/events', 1, ({ who }) => `/users/${who.id}/events`);
get('GET /events', 1, '/events');
get('GET /todos', 2, '/todos');
get('GET /namespaces', 0.5, '/namespaces');
get('GET /search, projects', 0.7, '/search?scope=projects&search=busy');
getOf('GET project/search, issues', 0.7, '/search?scope=issues&search=wrong');
get('GET /version', 2, '/version');

const text = ({ mix }: Scene) => `Written under load ${mix.random(1_000_000)}`;
writeOf(
  'POST issue',
  2,
  'POST',
  '/issues',
  (scene) => ({ title: text(scene), labels: 'bug' }),
  (scene, { iid }) => {
    scene.project.issues.push(iid);
  },
);
writeOf('PUT issue', 1.6, 'PUT', issue, (scene) => ({ description: text(scene) }));
writeOf(
  'POST issue/notes',
  2.4,
  'POST',
  (scene) => `${issue(scene)}/notes`,
  (scene) => ({ body: text(scene) }),
);
writeOf(
  'POST merge_request/notes',
  2,
  'POST',
  (scene) => `${mergeRequest(scene)}/notes`,
  (scene) => ({
    body: text(scene),
  }),
);
writeOf('PUT merge_request', 0.8, 'PUT', mergeRequest, (scene) => ({ description: text(scene) }));
writeOf(
  'POST commit status',
  2.2,
  'POST',
  (scene) => `/statuses/${sha(scene)}`,
  ({ one }) => ({
    state: one(['pending', 'running', 'success']),
    name: unique('check'),
  }),
);
writeOf('POST branch', 0.8, 'POST', '/repository/branches', ({ project }) => ({
  branch: unique('branch'),
  ref: project.branch,
}));
parts.push(
  {
    name: 'POST merge_request',
    weight: 0.5,
    async run(scene) {
      const { mix, project, who } = scene;
      const from = mix.data.busy.find(({ id, branches }) => id === project.id && branches.length > 0);
      const source_branch = from?.branches.shift();
      // What was pushed until now has its merge requests: another is looked at.
      const [method, path] =
        source_branch === undefined ? ['GET', mergeRequest(scene)] : ['POST', '/merge_requests'];
      const json = { source_branch, target_branch: project.branch, title: text(scene) };
      const url = `/projects/${project.id}${path}`;
      return (await mix.client.api(method!, url, who.token, source_branch === undefined ? undefined : json))
        .status;
    },
  },
  {
    name: 'POST user',
    weight: 0.2,
    async run({ mix }) {
      const username = unique('newcomer');
      const json = {
        username,
        name: username,
        email: `${username}@example.com`,
        password: unique('secret word'),
      };
      return (await mix.client.api('POST', '/users', mix.data.administrator.token, json)).status;
    },
  },
);

const weights = parts.reduce((sum, { weight }) => sum + weight, 0);
const kind = (name: string, rate: number, run: (scene: Scene) => Promise<number>): Kind => ({
  name,
  rate,
  run: (mix) => run(scene(mix)),
});
const gitOf = ({ mix, project, who }: Scene) => new GitClient(mix.client, project, who);

/** All of them, with their rates. */
export const MIX: readonly Kind[] = [
  ...parts.map(({ name, weight, run }) => kind(name, (weight / weights) * API_RATE, run)),
  kind('git pull, nothing new', GIT_RATES.look, async (scene) => (await gitOf(scene).look()).status),
  kind('git pull', GIT_RATES.fetch, (scene) => {
    const most = scene.project.commits.length - 1;
    return gitOf(scene).fetch(1 + scene.mix.random(Math.min(most, 40)));
  }),
  kind('git clone --depth 1', GIT_RATES.shallow, (scene) => gitOf(scene).clone(1)),
  kind('git push', GIT_RATES.push, async (scene) => {
    const branch = unique('pushed');
    const status = await gitOf(scene).push(branch);
    if (status === 200) scene.project.branches.push(branch);
    return status;
  }),
  kind('POST commits', GIT_RATES.commit, async ({ mix, project, who }) => {
    const branch = unique('committed');
    const { status } = await mix.client.api('POST', `/projects/${project.id}/repository/commits`, who.token, {
      branch,
      start_branch: project.branch,
      commit_message: 'A change under load',
      actions: [{ action: 'create', file_path: `notes/${branch}.md`, content: `${branch}\n` }],
    });
    if (status === 201) project.branches.push(branch);
    return status;
  }),
];

/** What is cheap to answer, at five a second. */
export const CHEAP: readonly Kind[] = [
  kind('GET project', 2.5, async ({ mix, project, who }) => {
    return (await mix.client.api('GET', `/projects/${project.id}`, who.token)).status;
  }),
  kind(
    'GET /version',
    2.5,
    async ({ mix, who }) => (await mix.client.api('GET', '/version', who.token)).status,
  ),
];

/** What takes long, of the large project: each runs again as soon as it has ended. */
export const HEAVY: readonly Kind[] = (
  [
    ['GET file/blame', (scene) => `/repository/files/${file(scene)}/blame?ref=HEAD`],
    ['GET contributors', () => '/repository/contributors'],
    [
      'GET compare',
      ({ project }) => `/repository/compare?from=${project.commits.at(-1)}&to=${project.branch}`,
    ],
  ] as [string, (scene: Scene) => string][]
)
  .map(([name, path], i) => ({
    name,
    rate: 0,
    run: async (mix: Mix) => {
      const scene = largeScene(mix, i);
      const url = `/projects/${scene.project.id}${path(scene)}`;
      return (await mix.client.api('GET', url, scene.who.token)).status;
    },
  }))
  .concat([
    { name: 'git clone', rate: 0, run: (mix) => gitOf(largeScene(mix, 3)).clone() },
    { name: 'git clone --depth 1', rate: 0, run: (mix) => gitOf(largeScene(mix, 4)).clone(1) },
  ]);

function compare({ mix, project }: Scene): string {
  const from = project.commits[Math.min(project.commits.length - 1, 1 + mix.random(20))];
  return `/repository/compare?from=${from}&to=${project.branch}`;
}

function scene(mix: Mix): Scene {
  const { large, busy } = mix.data;
  const one = <T>(of: readonly T[]): T => of[mix.random(of.length)]!;
  const project = mix.random(1000) < LARGE_SHARE * 1000 ? large : one(busy.slice(1));
  return { mix, project, who: one(project.members), one };
}

/** Each of a person of its own: long reads of one person are limited. */
function largeScene(mix: Mix, person: number): Scene {
  const project = mix.data.large;
  return { ...scene(mix), project, who: project.members[person % project.members.length]! };
}

let made = 0;
const unique = (word: string) => `${word}-${++made}`;
