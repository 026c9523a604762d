import { hasKnownEntry } from '../../git/known-entry.ts';
import { ZERO_OID } from '../../git/oid.ts';
import { PackStore } from '../../git/pack/store.ts';
import { type Ref, RefConflict, type RefPageQuery, type RefUpdate } from '../../git/ports.ts';
import type { RefDatabase } from '../../git/ref-database.ts';
import { branchRef, type RefName, shortName, spaceOf } from '../../git/refname.ts';
import type { Repository } from '../../git/wire/repository.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { Missing, TransactionRefused } from '../../store/errors.ts';
import { followPushMessage } from '../../store/merge-requests/merge-requests.ts';
import { type PushedBranch, pushedMessage, type Writer } from '../../store/notes/mentions.ts';
import type { OutboxMessage } from '../../store/outbox/outbox.ts';
import { createPipelinesMessages } from '../../store/pipelines/pipelines.ts';
import { addRule } from '../../store/refs/protection-rules.ts';
import { RELEASE_REFUSED } from '../../store/releases/releases.ts';
import type { NetworkMember } from '../../store/repository/fork-networks.ts';
import { GitObjects } from '../../store/repository/pack-objects.ts';
import { snapshotOf } from '../../store/repository/ref-views.ts';
import type { RepositoryRefs } from '../../store/repository/refs-and-objects.ts';
import { scheduleMeasuring } from '../../store/statistics/statistics.ts';
import { joined, type Write } from '../../store/table/write.ts';
import type { Prefetched } from '../access/prefetch.ts';
import type { Actor } from '../actor.ts';
import { type AuditAuthor, prepareAudited, SYSTEM } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../errors.ts';
import { type Pushed, pushed } from '../events/push-events.ts';
import { tellHooks } from '../hook-events/tell.ts';
import { defaultBranchProtection, levelsOf } from '../refs/default-branch-protection.ts';
import { besideProposals } from '../refs/hidden-refs.ts';
import { newBranchRule } from '../refs/new-branch-rule.ts';
import { RuleSet } from '../refs/pattern.ts';
import { auditedRule } from '../refs/rule-audit.ts';
import { started } from '../started.ts';
import { ciConfigPath } from './ci-config-path.ts';
import { emptyRefs, importFills, isImporting } from './import-state.ts';
import { releasesOfDeleted } from './tag-releases.ts';

/** Minimum interval between updates of a project's last activity: frequent pushes must not contend for one item. */
const ACTIVITY_MS = 60_000;
/** Branches of one push in whose new commits a worker looks for issues. */
const MAX_NAMING = 20;
/** Branches and tags of one push that hooks hear of. */
const MAX_HEARD = 200;
/** Options of a push that hooks hear of, and characters of each. */
const MAX_OPTIONS = 20;
const MAX_OPTION = 1_000;
/** Branches of one push whose merge requests a worker brings in line. */
const MAX_FOLLOWED = 100;

/**
 * Opens the repository of a project for one request. Reads nothing itself.
 * @param options.prefetched reads in progress, used by the first call of a request
 * @param options.pusher the author of the push events of writes
 * @param options.hidesProposals true for readers for whom the refs of merge requests do not exist
 * @param options.importer true for the worker that fills it; for others it is empty until the import has finished
 * @param options.finishing the first compare-and-swap finishes the import, in the same transaction
 */
export function openRepository(
  deps: Deps,
  project: ProjectRecord,
  options: {
    readonly prefetched?: Prefetched | undefined;
    readonly pusher?: Pusher | undefined;
    readonly hidesProposals?: boolean | undefined;
    readonly importer?: boolean;
    readonly finishing?: boolean;
  } = {},
): ProjectRepository {
  const hidden = isImporting(project) && options.importer !== true;
  const likelyHead = project.defaultBranch === null ? undefined : branchRef(project.defaultBranch);
  const prefetched = options.prefetched?.takeFor(project);
  const stored = prefetched?.refs ?? deps.store.repositories.open(project.repositoryId, likelyHead);
  const catalogue = {
    listPacks: async ({ fresh }: { fresh?: boolean } = {}) => {
      if (hidden) return [];
      return present((fresh === true ? undefined : prefetched?.packs()) ?? stored.listPacks());
    },
    derived: stored.derived.bind(stored),
  };
  const objects = new GitObjects(
    deps.store.blobs,
    catalogue,
    project.repositoryId,
    project.networkId,
    project.storagePrefix,
  );
  const store = new PackStore(objects, { cache: deps.packs });
  const { pusher, finishing = false, hidesProposals = false } = options;
  // Read beside all that comes before the refs move, and not on the way there. One that is opened meanwhile begins with
  // what its branch is by then, and is brought in line when it is looked at.
  const areProposed =
    pusher === undefined || finishing ? undefined : started(deps.store.mergeRequests.areOpen(project.id));
  const open = (together?: Together): Repository => {
    const refs = new ProjectRefs(deps, project, stored, {
      prefetched,
      hidesProposals,
      finishing,
      pusher,
      together,
      areProposed,
      store,
    });
    return { objects, refs: hidden ? emptyRefs(refs) : refs, store, cache: deps.packs };
  };
  return { ...open(), together: open };
}

export interface ProjectRepository extends Repository {
  /**
   * The same repository, of which each compare-and-swap also makes these writes, in the same transaction. Where one of
   * them is refused, TransactionRefused is thrown as the store throws it, and no ref is changed.
   */
  together(companions: Together): Repository;
}

/** What is to happen if and only if refs move. At most 60 writes and messages in all. */
export interface Together {
  /** Each with a `reason`, where it has a condition: not `project`, `rule` or `import`, nor one of the refs themselves. */
  readonly writes: readonly Write[];
  readonly messages?: readonly OutboxMessage[];
  /** Number of the merge request that is merged so. */
  readonly merged?: number;
  /** Nobody does it: it is no activity of the project. */
  readonly quiet?: boolean;
}

/** Who writes to a repository: an actor, or the requester of a worker's job. */
export type Pusher = Actor | { readonly kind: 'requester'; readonly userId: number };

/**
 * The refs of a project. Updates also write the push events and the default branch (if it is the first branch) in the
 * same transaction, and the project's last activity.
 */
class ProjectRefs implements RefDatabase {
  readonly #deps: Deps;
  readonly #project: ProjectRecord;
  readonly #refs: RepositoryRefs;
  readonly #prefetched: Prefetched | undefined;
  readonly #hidesProposals: boolean;
  readonly #finishing: boolean;
  readonly #pusher: Writer | undefined;
  readonly #together: Together;
  readonly #store: PackStore;
  readonly #areProposed: Promise<boolean> | undefined;
  /** The latest read of HEAD. */
  #head: Promise<{ readonly target: RefName; readonly head: Ref | undefined }> | undefined;

  constructor(
    deps: Deps,
    project: ProjectRecord,
    refs: RepositoryRefs,
    {
      prefetched,
      hidesProposals,
      finishing,
      pusher,
      together = { writes: [] },
      areProposed,
      store,
    }: {
      readonly prefetched: Prefetched | undefined;
      readonly hidesProposals: boolean;
      readonly finishing: boolean;
      readonly pusher: Pusher | undefined;
      readonly together: Together | undefined;
      /** Whether branches of the project are source or target of open merge requests. */
      readonly areProposed: Promise<boolean> | undefined;
      readonly store: PackStore;
    },
  ) {
    this.#together = together;
    this.#store = store;
    this.#areProposed = areProposed;
    this.#prefetched = prefetched;
    this.#hidesProposals = hidesProposals;
    this.#finishing = finishing;
    this.#pusher = pusher && writerOf(deps, pusher);
    if (this.#pusher !== undefined) deps.store.events.prepare();
    this.#deps = deps;
    this.#project = project;
    this.#refs = refs;
  }

  all(options?: { prefix?: string }) {
    const view = this.#prefetched?.view([options?.prefix ?? '']);
    return present(view?.then((read) => snapshotOf(read, options?.prefix)) ?? this.#refs.all(options));
  }

  view(options?: Parameters<RefDatabase['view']>[0]) {
    return present(this.#prefetched?.view(options?.prefixes ?? []) ?? this.#refs.view(options));
  }

  page(query: RefPageQuery) {
    return present(this.#prefetched?.page(query) ?? this.#refs.page(query));
  }

  get(names: readonly RefName[]) {
    const shown = this.#hidesProposals ? names.filter(besideProposals) : names;
    return present(this.#prefetched?.get(shown) ?? this.#refs.get(shown));
  }

  head() {
    return present(this.#refs.head());
  }

  headRef() {
    this.#head = this.#prefetched?.headRef() ?? this.#refs.headRef();
    return present(this.#head);
  }

  pinned() {
    return this.#refs.pinned();
  }

  recentTips() {
    return this.#refs.recentTips();
  }

  async compareAndSwap(updates: readonly RefUpdate[], options: SwapCompanions = {}): Promise<void> {
    const { projects } = this.#deps.store;
    const { id } = this.#project;
    const [first, { events, naming }, following, released, heard] = await Promise.all([
      this.#firstBranch(updates, options.head),
      this.#pushed(updates, options),
      this.#following(updates),
      releasesOfDeleted(this.#deps, id, updates),
      this.#heard(updates, options),
    ]);
    // Now the new commits are in memory.
    const pipelines = await this.#pipelines(updates, options);
    const messages = [
      ...this.#mentions(naming),
      ...following,
      ...pipelines,
      ...released.messages,
      ...heard,
      ...(this.#together.messages ?? []),
    ];
    this.#prefetched?.forget();
    const now = this.#deps.now();
    const change = first === undefined ? {} : { defaultBranch: first };
    const alongside = first === undefined ? [] : await protectionWrites(this.#deps, this.#project, first);
    if (this.#finishing) alongside.push(importFills(this.#deps, id, change));
    else if (first !== undefined) alongside.push(projects.activity(id, now, change));
    alongside.push(scheduleMeasuring(id, now), ...events, ...released.writes, ...this.#together.writes);
    try {
      const { pushOptions: _, ...companions } = options;
      await this.#refs.compareAndSwap(updates, { ...companions, alongside: joined(alongside), messages });
    } catch (error) {
      if (this.isRefusal(error)) throw error;
      // The branch was protected concurrently: that rule is kept. Or the release of a deleted tag was changed.
      if (error instanceof TransactionRefused && (error.has('rule') || error.has(RELEASE_REFUSED)))
        return this.compareAndSwap(updates, options);
      const deleted =
        error instanceof Missing ||
        (error instanceof TransactionRefused && (error.has('project') || error.has('import')));
      throw deleted ? new RefConflict([{ name: null, reason: 'deleted' }]) : error;
    }
    await this.#recordActivity(first, now);
  }

  /** Whether one of the writes beside the refs was refused. */
  isRefusal(error: unknown): boolean {
    if (!(error instanceof TransactionRefused)) return false;
    return this.#together.writes.some(({ reason }) => reason !== undefined && error.has(reason));
  }

  async #recordActivity(first: string | undefined, now: Date): Promise<void> {
    const { projects, table } = this.#deps.store;
    if (
      this.#finishing ||
      this.#together.quiet === true ||
      first !== undefined ||
      now.getTime() - Date.parse(this.#project.lastActivityAt) < ACTIVITY_MS
    )
      return;
    // Best effort: the refs have moved in any case, and the next push updates it.
    await table.update(projects.activity(this.#project.id, now)).catch(() => {});
  }

  /** A worker looks for issues in the messages of pushed commits, those of the default branch first. */
  #mentions(naming: Pushed['naming']): OutboxMessage[] {
    const { id: projectId, defaultBranch } = this.#project;
    if (this.#finishing || this.#pusher === undefined || naming.length === 0) return [];
    const isDefault = ({ name }: PushedBranch) => shortName(name as RefName) === defaultBranch;
    const inOrder = [...naming].sort((a, b) => Number(isDefault(b)) - Number(isDefault(a)));
    const branches = inOrder.slice(0, MAX_NAMING);
    return [pushedMessage({ projectId, branches, merged: this.#together.merged }, this.#pusher)];
  }

  /**
   * A worker brings open merge requests in line with branches that are moved or deleted. New ones have none, or had one
   * before.
   */
  async #following(updates: readonly RefUpdate[]): Promise<OutboxMessage[]> {
    const { id: projectId } = this.#project;
    const branches = updates.filter(
      ({ name, from, to }) => spaceOf(name) === 'heads' && from !== ZERO_OID && from !== to,
    );
    if (this.#finishing || this.#pusher?.actorId == null || branches.length === 0) return [];
    if ((await this.#areProposed) !== true) return [];
    const moved = branches.slice(0, MAX_FOLLOWED).map(({ name, from, to }) => ({ name, from, to }));
    return [followPushMessage({ projectId, branches: moved }, this.#pusher)];
  }

  /**
   * A worker makes pipelines for branches and tags that were created or moved, and stops what was deployed from branches that
   * were deleted, unless they are known to have no configuration.
   */
  async #pipelines(
    updates: readonly RefUpdate[],
    { objects = this.#store, pushOptions = [] }: SwapCompanions,
  ): Promise<OutboxMessage[]> {
    const { id: projectId, settings, archived } = this.#project;
    if (this.#finishing || this.#pusher?.actorId == null || archived) return [];
    if (settings['builds_access_level'] === 'disabled') return [];
    const refs = updates
      .filter(({ name, from, to }) => spaceOf(name) !== undefined && from !== to)
      .filter(({ name, to }) => to !== ZERO_OID || spaceOf(name) === 'heads')
      .map(({ name, from, to }) => ({ name, from, to }));
    const messages = createPipelinesMessages({ projectId, refs, options: pushOptions }, this.#pusher);
    if (messages.length === 0) return [];
    const path = ciConfigPath(this.#project);
    // Such a file is in another project.
    if (path.includes('@') || path.includes('://')) return messages;
    const known = await Promise.all(
      refs.map(({ from, to }) => hasKnownEntry(objects, to === ZERO_OID ? from : to, path)),
    );
    return known.every((has) => has === false) ? [] : messages;
  }

  /** Hooks hear of branches and tags that are moved. */
  async #heard(
    updates: readonly RefUpdate[],
    { pushOptions = [] }: SwapCompanions,
  ): Promise<OutboxMessage[]> {
    if (this.#finishing || this.#pusher === undefined) return [];
    const moved = updates.filter(({ name, from, to }) => spaceOf(name) !== undefined && from !== to);
    if (moved.length === 0) return [];
    const told = moved.slice(0, MAX_HEARD).map(({ name, from, to }) => ({ name, from, to }));
    const options = pushOptions.slice(0, MAX_OPTIONS).filter(({ length }) => length <= MAX_OPTION);
    return tellHooks(this.#deps, this.#pusher, this.#project, [
      { kind: 'push', updates: told, ...(options.length === 0 ? {} : { options }) },
    ]);
  }

  /** The push events of these updates, if there is a pusher. */
  async #pushed(updates: readonly RefUpdate[], { head, packs, objects }: SwapCompanions): Promise<Pushed> {
    if (this.#pusher?.actorId == null) return { events: [], naming: [] };
    const { id, repositoryId } = this.#project;
    const known = packs === undefined ? this.#deps.histories.of(repositoryId) : undefined;
    const defaultBranch = async () => {
      const { target, head: previous } = await (this.#head ?? this.headRef());
      const name = head ?? target;
      return { name, tip: previous?.name === name ? previous.oid : undefined };
    };
    const push = { projectId: id, pusher: this.#pusher.actorId, updates, objects, known, defaultBranch };
    return pushed(this.#deps, push);
  }

  /** The branch that HEAD points to, if these updates create it in an empty repository. */
  async #firstBranch(updates: readonly RefUpdate[], head: RefName | undefined): Promise<string | undefined> {
    if (this.#project.defaultBranch !== null) return undefined;
    const target = head ?? (await this.head());
    return updates.some((update) => update.name === target && update.to !== ZERO_OID)
      ? shortName(target)
      : undefined;
  }
}

/**
 * The writes that protect a new default branch by the setting of its group or the instance; none if a rule matches it.
 * @param author who chose the branch; the service, if it became the default as the first one
 */
export async function protectionWrites(
  deps: Deps,
  project: ProjectRecord,
  branch: string,
  author: AuditAuthor = SYSTEM,
): Promise<Write[]> {
  const [protection, rules] = await Promise.all([
    defaultBranchProtection(deps, project),
    deps.store.refRules.list(project.id, 'branch'),
  ]);
  const levels = levelsOf(protection);
  if (levels === undefined || new RuleSet(rules).matching(branch).length > 0) return [];
  const [rule, event] = await Promise.all([
    newBranchRule(deps, project.id, { name: branch, ...levels }),
    prepareAudited(deps, author),
  ]);
  return [...addRule(rule), event(auditedRule('add', project, rule))];
}

/** What comes with updates of refs. */
export type SwapCompanions = NonNullable<Parameters<RefDatabase['compareAndSwap']>[1]>;

function writerOf({ environment }: Deps, pusher: Pusher): Writer | undefined {
  const baseUrl =
    (pusher.kind === 'requester' ? undefined : pusher.origin?.baseUrl) ?? environment.baseUrl ?? '';
  if (pusher.kind === 'requester') return { actorId: pusher.userId, baseUrl };
  return pusher.kind === 'user' ? { actorId: pusher.user.id, baseUrl } : undefined;
}

/** A project's repository in its fork network, and in its storage. */
export const networkMember = ({
  repositoryId,
  networkId = repositoryId,
  storagePrefix,
}: ProjectRecord): NetworkMember => ({
  repositoryId,
  networkId,
  ...(storagePrefix ? { storagePrefix } : {}),
});

/** Translates the deletion of a project during a request into 404. */
async function present<T>(read: Promise<T>): Promise<T> {
  try {
    return await read;
  } catch (error) {
    throw error instanceof Missing ? notFound('Project') : error;
  }
}
