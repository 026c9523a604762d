/**
 * What the mix of requests reads and writes: 100 users, 20 groups, 200 projects, a few of them with content and one of them
 * large, made through the API.
 */
import { git, gitBeside, lines } from './git.ts';
import type { HostProcess } from './host.ts';
import type { Subject } from './subjects.ts';

const USERS = 100;
const GROUPS = 20;
const PROJECTS = 200;
/** Projects with content, beside the large one. */
const BUSY = 12;
const MEMBERS = 10;
const FILES = 20;
const ISSUES = { large: 40, busy: 12 };
const MERGE_REQUESTS = { large: 8, busy: 3 };
/** Bytes of a file that is read or blamed: larger ones are rare. */
const USUAL_FILE = 60_000;
/** Requests at a time. */
const AT_ONCE = 6;

export interface Person {
  readonly id: number;
  readonly username: string;
  readonly token: string;
}

export interface Group {
  readonly id: number;
  readonly path: string;
  readonly members: readonly Person[];
}

export interface BusyProject {
  readonly id: number;
  readonly path: string;
  readonly large: boolean;
  readonly group: Group;
  /** Developers. */
  readonly members: readonly Person[];
  readonly branch: string;
  /** Of the first parents, newest first. */
  readonly commits: readonly string[];
  readonly files: readonly string[];
  readonly folders: readonly string[];
  readonly tags: readonly string[];
  readonly issues: number[];
  readonly mergeRequests: number[];
  readonly pipelines: number[];
  /** With commits of their own and without a merge request. */
  readonly branches: string[];
}

export interface LoadData {
  readonly administrator: Person;
  readonly users: readonly Person[];
  readonly groups: readonly Group[];
  /** Ids of projects without content. */
  readonly quiet: readonly { readonly id: number; readonly owner: Person }[];
  readonly large: BusyProject;
  readonly busy: readonly BusyProject[];
}

/** Through which data are made, as the administrator. */
export type Making = Pick<HostProcess, 'call' | 'remote'> & { readonly token: string };

/** @returns what was made */
export async function makeData(host: Making, subject: Subject): Promise<LoadData> {
  const made = async (method: string, path: string, json: unknown) =>
    // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
    (await (await host.call(method, path, json)).json()) as any;
  // A few users make what a thousand would: limits of one user are not what is measured.
  await made('PUT', '/application/settings', {
    notes_create_limit: 0,
    issues_create_limit: 0,
    raw_blob_request_limit: 0,
    users_get_by_id_limit: 0,
    search_rate_limit: 0,
  });
  const users = await each(USERS, async (i): Promise<Person> => {
    const username = `user${i}`;
    const { id } = await made('POST', '/users', {
      username,
      name: `Person ${i}`,
      email: `${username}@example.com`,
      force_random_password: true,
      skip_confirmation: true,
    });
    const scopes = ['api', 'read_repository', 'write_repository'];
    const { token } = await made('POST', `/users/${id}/personal_access_tokens`, { name: 'load', scopes });
    return { id, username, token };
  });
  const { id: rootId } = await made('GET', '/user', undefined);
  const groups: Group[] = [];
  // Four on top, four in each.
  for (let level = 0; level < 2; level++)
    groups.push(
      ...(await each(level === 0 ? GROUPS / 5 : (GROUPS * 4) / 5, async (i) => {
        const path = level === 0 ? `department${i}` : `team${i}`;
        const parent = level === 0 ? undefined : groups[i % (GROUPS / 5)]!;
        const { id, full_path } = await made('POST', '/groups', {
          name: path,
          path,
          visibility: 'internal',
          ...(parent === undefined ? {} : { parent_id: parent.id }),
        });
        const members = Array.from(
          { length: MEMBERS },
          (_, n) => users[(i * 7 + level * 3 + n * 9) % USERS]!,
        );
        for (const { id: user_id } of members)
          await made('POST', `/groups/${id}/members`, { user_id, access_level: 30 });
        return { id, path: full_path as string, members };
      })),
    );
  const quiet = await each(PROJECTS - BUSY - 1, async (i) => {
    const owner = users[i % USERS]!;
    const visibility = ['public', 'internal', 'private'][i % 3];
    const { id } = await made('POST', i % 2 === 0 ? '/projects' : `/projects/user/${owner.id}`, {
      name: `Work ${i}`,
      path: `work${i}`,
      visibility: i % 2 === 0 ? 'internal' : visibility,
      ...(i % 2 === 0 ? { namespace_id: groups[i % GROUPS]!.id } : {}),
    });
    return { id: id as number, owner };
  });
  const large = await largeProject(host, made, subject, groups[0]!);
  const busy = await each(BUSY, (i) => busyProject(made, i, groups[(i % (GROUPS - 1)) + 1]!));
  const administrator = { id: rootId, username: 'root', token: host.token };
  return { administrator, users, groups, quiet, large, busy: [large, ...busy] };
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Made = (method: string, path: string, json: unknown) => Promise<any>;

async function largeProject(host: Making, made: Made, subject: Subject, group: Group): Promise<BusyProject> {
  const { directory, name } = subject;
  const branch = git(directory, 'symbolic-ref', '--short', 'HEAD').toString().trim();
  const { id, path_with_namespace: path } = await made('POST', '/projects', {
    name,
    path: name,
    namespace_id: group.id,
    default_branch: branch,
    visibility: 'private',
    emails_disabled: true,
  });
  const remote = host.remote(name).replace(`/root/${name}.git`, `/${path}.git`);
  await gitBeside(
    directory,
    'push',
    '--quiet',
    remote,
    'refs/heads/*:refs/heads/*',
    'refs/tags/*:refs/tags/*',
  );
  const listed = lines(directory, 'ls-tree', '-r', '-l', 'HEAD').map((line) =>
    /^(\d+) \S+ \S+ +(\S+)\t([^"]+)$/.exec(line),
  );
  const files = listed.flatMap((file) =>
    file?.[1] === '100644' && Number(file[2]) > 0 && Number(file[2]) < USUAL_FILE ? [file[3]!] : [],
  );
  return filled(made, {
    id,
    path,
    large: true,
    group,
    members: group.members,
    branch,
    commits: lines(directory, 'rev-list', '--first-parent', '-n', '400', 'HEAD'),
    files,
    folders: ['', ...folders(directory)],
    tags: lines(directory, 'tag').slice(-40),
    issues: [],
    mergeRequests: [],
    pipelines: [],
    branches: [],
  });
}

/** Of the top level, without submodules. */
const folders = (directory: string) =>
  lines(directory, 'ls-tree', 'HEAD').flatMap((line) => /^\d+ tree \S+\t([^"]+)$/.exec(line)?.[1] ?? []);

async function busyProject(made: Made, i: number, group: Group): Promise<BusyProject> {
  const { id, path_with_namespace: path } = await made('POST', '/projects', {
    name: `Busy ${i}`,
    path: `busy${i}`,
    namespace_id: group.id,
    default_branch: 'main',
    visibility: i % 2 === 0 ? 'private' : 'internal',
    emails_disabled: true,
  });
  const files = Array.from({ length: FILES }, (_, n) =>
    n === 0 ? 'README.md' : `src/part${n % 4}/file${n}.ts`,
  );
  const text = (n: number) =>
    `${Array.from({ length: 80 }, (_, line) => `line ${line} of ${n}`).join('\n')}\n`;
  const commits: string[] = [];
  for (let n = 0; n < 3; n++) {
    const { id: sha } = await made('POST', `/projects/${id}/repository/commits`, {
      branch: 'main',
      commit_message: `Step ${n}`,
      actions: (n === 0 ? files : files.slice(n, n + 3)).map((file_path, at) => ({
        action: n === 0 ? 'create' : 'update',
        file_path,
        content: text(at + 100 * n),
      })),
    });
    commits.unshift(sha);
  }
  await made('POST', `/projects/${id}/repository/tags`, { tag_name: 'v1.0', ref: 'main' });
  return filled(made, {
    id,
    path,
    large: false,
    group,
    members: group.members,
    branch: 'main',
    commits,
    files,
    folders: ['', 'src', 'src/part1'],
    tags: ['v1.0'],
    issues: [],
    mergeRequests: [],
    pipelines: [],
    branches: [],
  });
}

/** Adds labels, milestones, issues, merge requests with notes, and statuses of commits. */
async function filled(made: Made, project: BusyProject): Promise<BusyProject> {
  const { id, branch, commits, members, large } = project;
  for (const name of ['bug', 'feature', 'later'])
    await made('POST', `/projects/${id}/labels`, { name, color: '#336699' });
  await made('POST', `/projects/${id}/milestones`, { title: 'v1' });
  await each(large ? ISSUES.large : ISSUES.busy, async (i) => {
    const { iid } = await made('POST', `/projects/${id}/issues`, {
      title: `Something ${i} is wrong`,
      description: 'It happens **often**, as one can see.\n\n- one\n- two\n',
      labels: i % 2 === 0 ? 'bug' : 'feature,later',
      assignee_ids: [members[i % members.length]!.id],
    });
    await made('POST', `/projects/${id}/issues/${iid}/notes`, { body: 'I saw it *again*.' });
    project.issues.push(iid);
  });
  for (let i = 0; i < (large ? MERGE_REQUESTS.large : MERGE_REQUESTS.busy) + 2; i++) {
    const source_branch = `change-${i}`;
    await made('POST', `/projects/${id}/repository/commits`, {
      branch: source_branch,
      start_branch: branch,
      commit_message: `Change ${i}`,
      actions: [{ action: 'create', file_path: `changes/change${i}.md`, content: `What ${i} changes\n` }],
    });
    project.branches.push(source_branch);
  }
  for (let i = 0; i < (large ? MERGE_REQUESTS.large : MERGE_REQUESTS.busy); i++) {
    const { iid } = await made('POST', `/projects/${id}/merge_requests`, {
      source_branch: project.branches.shift(),
      target_branch: branch,
      title: `Change ${i}`,
    });
    for (let n = 0; n < 2; n++)
      await made('POST', `/projects/${id}/merge_requests/${iid}/notes`, { body: `Looks good, ${n}.` });
    project.mergeRequests.push(iid);
  }
  for (const sha of commits.slice(0, 3)) {
    for (const name of ['build', 'test'])
      await made('POST', `/projects/${id}/statuses/${sha}`, { state: 'success', name });
  }
  const pipelines: { id: number }[] = await made('GET', `/projects/${id}/pipelines`, undefined);
  project.pipelines.push(...pipelines.map((pipeline) => pipeline.id));
  // Mails take most of the time of an issue or note: they are for what is measured.
  await made('PUT', `/projects/${id}`, { emails_disabled: false });
  return project;
}

/** A few at a time. */
async function each<T>(count: number, make: (i: number) => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  let next = 0;
  const worker = async () => {
    for (let i = next++; i < count; i = next++) made[i] = await make(i);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return made;
}
