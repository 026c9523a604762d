/** Payloads of pushes to branches and tags. */
import { CorruptData } from '../../../git/corrupt-data.ts';
import { HistoryLimit } from '../../../git/history.ts';
import { ObjectMissing } from '../../../git/objects.ts';
import { type Oid, ZERO_OID } from '../../../git/oid.ts';
import { branchRef, type RefName, shortName, spaceOf } from '../../../git/refname.ts';
import type { CommitRecord, GitRepository } from '../../../git/repository.ts';
import { decodePath } from '../../../git/tree/path.ts';
import type { Deps } from '../../deps.ts';
import type { HookEvent } from '../../hook-events/events.ts';
import { codeOf } from '../../repository/read.ts';
import {
  commitPart,
  type Payload,
  type ProjectFacts,
  projectPart,
  publicEmail,
  userAvatar,
  wholeRepository,
} from './parts.ts';

type Push = Extract<HookEvent, { kind: 'push' }>;
type Update = Push['updates'][number];

/** Commits that a payload lists, the newest. */
const MAX_COMMITS = 20;
/** Commits that are counted. */
const MAX_COUNTED = 10_000;
/** Files that a payload names of one commit. */
const MAX_FILES = 1_000;

export async function pushPayloads(
  deps: Deps,
  facts: ProjectFacts,
  { updates, options = [] }: Push,
  wants: (trigger: Payload['trigger']) => boolean,
): Promise<Payload[]> {
  const { push_event_hooks_limit: limit } = await deps.settings.current();
  const of = (space: 'heads' | 'tags') => updates.filter(({ name }) => spaceOf(name as RefName) === space);
  const told = (some: readonly Update[]) => (some.length > limit ? [] : some);
  const git = codeOf(deps, { project: facts.project, level: 0 });
  const payloads: Payload[] = [];
  if (wants('push_events'))
    for (const update of told(of('heads')))
      payloads.push(...(await branchPayloads(git, facts, update, optionsPart(options))));
  if (wants('tag_push_events'))
    for (const update of told(of('tags')))
      payloads.push(...(await tagPayloads(git, facts, update, optionsPart(options))));
  if (wants('repository_update_events')) payloads.push(repositoryUpdate(facts, updates));
  return payloads;
}

async function branchPayloads(
  git: GitRepository,
  facts: ProjectFacts,
  update: Update,
  push_options: object,
): Promise<Payload[]> {
  const { commits, total } = await gained(git, facts, update);
  const listed = [];
  for (const commit of commits)
    listed.push({ ...commitPart(facts.project, commit, facts), ...(await filesOf(git, commit)) });
  const checkout = update.to === ZERO_OID ? null : update.to;
  const body = {
    object_kind: 'push',
    event_name: 'push',
    ...refPart(facts, update, checkout, null),
    commits: listed,
    total_commits_count: total,
    push_options,
    repository: wholeRepository(facts),
  };
  const branch = shortName(update.name as RefName);
  const common = { trigger: 'push_events', event: 'Push Hook', branch } as const;
  return [
    { ...common, body, for: ['project', 'group'] },
    // Hooks of the instance never see commits.
    { ...common, body: { ...body, commits: [], total_commits_count: 0 }, for: ['system'] },
  ];
}

async function tagPayloads(
  git: GitRepository,
  facts: ProjectFacts,
  update: Update,
  push_options: object,
): Promise<Payload[]> {
  const gone = update.to === ZERO_OID;
  const [tip] = gone ? [] : await tipOf(git, update);
  const message = tip?.tag?.message ?? (gone ? null : '');
  const body = {
    object_kind: 'tag_push',
    event_name: 'tag_push',
    ...refPart(facts, update, gone ? null : (tip?.commit.oid ?? update.to), message),
    commits: [],
    total_commits_count: 0,
    push_options,
    repository: wholeRepository(facts),
  };
  return [{ trigger: 'tag_push_events', event: 'Tag Push Hook', body, for: ['project', 'group', 'system'] }];
}

/** Options by area and name; of those that may be given several times, how often each value was. */
function optionsPart(options: readonly string[]) {
  const areas: Record<string, Record<string, unknown>> = {};
  for (const option of options) {
    const [, area, name, value] = OPTION.exec(option) ?? [];
    if (area === undefined || name === undefined) continue;
    const shown = (areas[area === 'mr' ? 'merge_request' : area] ??= {});
    if (!SEVERAL.has(name)) shown[name] = value ?? true;
    else if (value !== undefined) {
      const counts = (shown[name] ??= {}) as Record<string, number>;
      counts[value] = (Object.hasOwn(counts, value) ? counts[value]! : 0) + 1;
    }
  }
  return areas;
}
const OPTION =
  /^(ci|mr|merge_request)\.(skip|variable|create|description|draft|label|merge_when_pipeline_succeeds|milestone|remove_source_branch|target|title|unlabel|assign|unassign)(?:=(.*))?$/s;
const SEVERAL: ReadonlySet<string> = new Set(['variable', 'label', 'unlabel', 'assign', 'unassign']);

/** The tag as it is now, if it still is what was pushed. */
async function tipOf(git: GitRepository, { name, to }: Update) {
  try {
    const ref = await git.ref(name as RefName);
    return ref?.oid === to ? await git.tips([ref]) : [];
  } catch {
    return [];
  }
}

function repositoryUpdate(facts: ProjectFacts, updates: readonly Update[]): Payload {
  const { user, project } = facts;
  const body = {
    event_name: 'repository_update',
    user_id: user?.id ?? null,
    user_name: user?.name ?? null,
    user_email: publicEmail(user),
    user_avatar: userAvatar(user, facts.baseUrl),
    project_id: project.id,
    project: projectPart(project, facts),
    changes: updates.map(({ from, to, name }) => ({ before: from, after: to, ref: name })),
    refs: [...new Set(updates.map(({ name }) => name))],
  };
  return { trigger: 'repository_update_events', event: 'System Hook', body, for: ['system'] };
}

const refPart = (facts: ProjectFacts, update: Update, checkout: string | null, message: string | null) => ({
  before: update.from,
  after: update.to,
  ref: update.name,
  checkout_sha: checkout,
  message,
  user_id: facts.user?.id ?? null,
  user_name: facts.user?.name ?? null,
  user_username: facts.user?.username ?? null,
  user_email: publicEmail(facts.user),
  user_avatar: userAvatar(facts.user, facts.baseUrl),
  project_id: facts.project.id,
  project: projectPart(facts.project, facts),
});

/** The commits that a branch gained, the newest last. A new branch is compared with the default branch. */
async function gained(
  git: GitRepository,
  { project }: ProjectFacts,
  { from, to, name }: Update,
): Promise<{ readonly commits: readonly CommitRecord[]; readonly total: number }> {
  const none = { commits: [], total: 0 };
  if (to === ZERO_OID) return none;
  try {
    let base: Oid | undefined = from === ZERO_OID ? undefined : (from as Oid);
    if (base === undefined && project.defaultBranch !== null) {
      const ref = branchRef(project.defaultBranch);
      if (ref !== undefined && ref !== name) base = (await git.ref(ref))?.oid;
    }
    const query = { tips: [to as Oid], ...(base === undefined ? {} : { exclude: [base] }) };
    const [commits, total] = await Promise.all([
      git.log({ ...query, limit: MAX_COMMITS }),
      git.history.count(query, MAX_COUNTED).catch((error: unknown) => {
        if (error instanceof HistoryLimit) return MAX_COUNTED;
        throw error;
      }),
    ]);
    return { commits: commits.toReversed(), total };
  } catch (error) {
    if (isDamage(error)) return none;
    throw error;
  }
}

async function filesOf(git: GitRepository, { oid, parents }: CommitRecord) {
  const files = { added: [] as string[], modified: [] as string[], removed: [] as string[] };
  try {
    const [parent] = parents;
    if (parent === undefined) {
      const page = await git.listTree(oid, { recursive: true, limit: MAX_FILES });
      files.added.push(...(page?.entries ?? []).flatMap(({ type, path }) => (type === 'tree' ? [] : path)));
      return files;
    }
    const { changes } = await git.changes(parent, oid, { limit: MAX_FILES });
    for (const { path, old, new: now } of changes)
      (old === undefined ? files.added : now === undefined ? files.removed : files.modified).push(
        decodePath(path),
      );
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
  return files;
}

const isDamage = (error: unknown): boolean =>
  error instanceof ObjectMissing || error instanceof CorruptData || error instanceof HistoryLimit;
