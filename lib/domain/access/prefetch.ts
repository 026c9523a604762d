import { isDeepStrictEqual } from 'node:util';
import type { PackDescription, Ref, RefPage, RefPageQuery, RefView } from '../../git/ports.ts';
import { branchRef, type RefName, tagRef } from '../../git/refname.ts';
import { revisionNames } from '../../git/revision.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { BranchRule, TagRule } from '../../records/refs.ts';
import type { RepositoryRefs } from '../../store/repository/refs-and-objects.ts';
import type { Deps } from '../deps.ts';
import { started } from '../started.ts';

/** The reads of a project's repository that a request starts while access is checked. */
export interface Prefetch {
  /** Revision expressions; the branches, tags and `HEAD` in them are resolved. */
  readonly revisions?: readonly string[];
  /** Short names. */
  readonly branches?: readonly (string | undefined)[];
  /** Short names. */
  readonly tags?: readonly (string | undefined)[];
  readonly head?: boolean;
  /** All refs with these prefixes. */
  readonly under?: readonly ('' | 'refs/heads/' | 'refs/tags/')[];
  /** One page of the branches or tags. */
  readonly page?: RefPageQuery | undefined;
  /** The list of packs. Default: true. */
  readonly packs?: boolean;
  /** The protection rules of refs. */
  readonly rules?: 'branch' | 'tag' | 'both';
}

type RefsByName = ReadonlyMap<RefName, Ref>;
type Head = { readonly target: RefName; readonly head: Ref | undefined };
type RuleKind = NonNullable<Prefetch['rules']>;

interface Rules {
  readonly branches: readonly BranchRule[];
  readonly tags: readonly TagRule[];
}

/** Prefetched values expire soon: a request that has waited for something else reads again. */
const USABLE_MS = 1000;
/** Maximum number of refs resolved before access is decided. */
const MAX_NAMES = 40;

/**
 * Reads of a project's repository that run while access to it is checked. Without access they are dropped: nothing
 * awaits them, and their failures are not reported. Refs by name are used until refs are changed, every other read
 * once: a second read of the same thing is meant to see changes.
 */
export class Prefetched {
  readonly refs: RepositoryRefs;
  readonly #project: Prefetchable;
  readonly #requested: Prefetch;
  readonly #at = performance.now();
  readonly #names: ReadonlySet<RefName>;
  readonly #views: Map<string, Promise<RefView>>;
  #reads: Reads;
  #opened = false;

  constructor(deps: Deps, project: Prefetchable, requested: Prefetch) {
    const { store, environment } = deps;
    const head = branchRef(project.defaultBranch ?? environment.defaultBranchName);
    const refs = store.repositories.open(project.repositoryId, head);
    const { page, rules, under = [] } = requested;
    this.refs = refs;
    this.#project = project;
    this.#requested = requested;
    this.#names = namesIn(requested);
    this.#reads = {
      packs: requested.packs === false ? undefined : started(refs.listPacks()),
      head: requested.head || namesHead(requested) ? started(refs.headRef()) : undefined,
      names: this.#names.size === 0 ? undefined : started(refs.get([...this.#names])),
      page: page && started(refs.page(page)),
      rules: rules && started(readRules(deps, project.id, rules)),
    };
    this.#views = new Map(under.map((prefix) => [prefix, started(refs.view({ prefixes: [prefix] }))]));
  }

  /** Returns these reads to the first caller that opens the project's repository, while they are fresh. */
  takeFor({ id, repositoryId }: ProjectRecord): Prefetched | undefined {
    const isFirst = !this.#opened;
    this.#opened = true;
    const same = id === this.#project.id && repositoryId === this.#project.repositoryId;
    return isFirst && same && this.#isFresh() ? this : undefined;
  }

  rules({ id }: ProjectRecord, kind: RuleKind): Promise<Rules> | undefined {
    return kind === this.#requested.rules && id === this.#project.id ? this.#take('rules') : undefined;
  }

  get(names: readonly RefName[]): Promise<RefsByName> | undefined {
    if (!this.#isFresh() || names.length === 0 || !names.every((name) => this.#names.has(name)))
      return undefined;
    return this.#reads.names?.then((found) => new Map([...found].filter(([name]) => names.includes(name))));
  }

  headRef(): Promise<Head> | undefined {
    return this.#take('head');
  }

  page(query: RefPageQuery): Promise<RefPage> | undefined {
    const read = this.#take('page');
    return isDeepStrictEqual(this.#requested.page, query) ? read : undefined;
  }

  /** A view of all refs serves for any prefix. */
  view(prefixes: readonly string[]): Promise<RefView> | undefined {
    const [only, ...others] = prefixes;
    const prefix = only !== undefined && others.length === 0 && this.#views.has(only) ? only : '';
    const read = this.#views.get(prefix);
    this.#views.delete(prefix);
    return this.#isFresh() ? read : undefined;
  }

  packs(): Promise<readonly PackDescription[]> | undefined {
    return this.#take('packs');
  }

  /** Drops all reads: the refs have changed. */
  forget(): void {
    this.#reads = {};
    this.#views.clear();
  }

  #take<K extends keyof Reads>(name: K): Reads[K] {
    const read = this.#reads[name];
    this.#reads = { ...this.#reads, [name]: undefined };
    return this.#isFresh() ? read : undefined;
  }

  #isFresh(): boolean {
    return performance.now() - this.#at < USABLE_MS;
  }
}

/** The properties of a project known before access is checked. */
type Prefetchable = Pick<ProjectRecord, 'id' | 'repositoryId' | 'defaultBranch'>;

interface Reads {
  readonly packs?: Promise<readonly PackDescription[]> | undefined;
  readonly head?: Promise<Head> | undefined;
  readonly names?: Promise<RefsByName> | undefined;
  readonly page?: Promise<RefPage> | undefined;
  readonly rules?: Promise<Rules> | undefined;
}

const namesHead = ({ revisions = [] }: Prefetch): boolean =>
  revisions.some((revision) => revisionNames(revision) === 'HEAD');

/** @returns an empty set if there are more than {@link MAX_NAMES} */
function namesIn({ revisions = [], branches = [], tags = [] }: Prefetch): ReadonlySet<RefName> {
  const named = [
    ...revisions.map(revisionNames).flatMap((names) => (names === 'HEAD' ? [] : names)),
    ...branches.map((name) => name && branchRef(name)),
    ...tags.map((name) => name && tagRef(name)),
  ];
  const names = new Set(named.filter((name): name is RefName => name !== undefined && name !== ''));
  return names.size > MAX_NAMES ? new Set() : names;
}

/** Reads the protection rules of a project for branches, tags or both; empty for a kind that is not requested. */
export async function readRules(
  { store: { refRules } }: Deps,
  projectId: number,
  kind: RuleKind,
): Promise<Rules> {
  if (kind === 'both') return refRules.all(projectId);
  if (kind === 'branch') return { branches: await refRules.list(projectId, kind), tags: [] };
  return { branches: [], tags: await refRules.list(projectId, kind) };
}
