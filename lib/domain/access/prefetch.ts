import { isDeepStrictEqual } from 'node:util';
import type { PackDescription, Ref, RefPage, RefPageQuery, RefView } from '../../git/ports.ts';
import { branchRef, type RefName, tagRef } from '../../git/refname.ts';
import { revisionNames } from '../../git/revision.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { BranchRule, TagRule } from '../../records/refs.ts';
import type { RepositoryRefs } from '../../store/repository/refs-and-objects.ts';
import type { Deps } from '../deps.ts';
import { started } from '../started.ts';

/** What a request is to read of a project's repository while access is checked. */
export interface Prefetch {
  /** What branches, tags or `HEAD` in these expressions point to. */
  readonly revisions?: readonly string[];
  /** Short names. */
  readonly branches?: readonly (string | undefined)[];
  /** Short names. */
  readonly tags?: readonly (string | undefined)[];
  readonly head?: boolean;
  /** All refs whose names begin so. */
  readonly under?: readonly ('' | 'refs/heads/' | 'refs/tags/')[];
  /** A part of the branches or tags. */
  readonly page?: RefPageQuery | undefined;
  /** Which packs there are; read when not given. */
  readonly packs?: boolean;
  /** The rules that protect refs. */
  readonly rules?: 'branch' | 'tag' | 'both';
}

type Found = ReadonlyMap<RefName, Ref>;
type Head = { readonly target: RefName; readonly head: Ref | undefined };
type RuleKind = NonNullable<Prefetch['rules']>;

interface Rules {
  readonly branches: readonly BranchRule[];
  readonly tags: readonly TagRule[];
}

/** What was read is used at once or not at all: a request that waits for something else reads again. */
const USABLE_MS = 1000;
/** Names that are looked up before it is known whether their repository may be seen. */
const MAX_NAMES = 40;

/**
 * Reads of a project's repository that run while access to it is checked. A caller without access never gets hold of
 * them: nothing waits for them then, and no failure of theirs is reported. Refs by name are used until refs are changed,
 * every other read once: a rule that reads again wants to know what has changed.
 */
export class Prefetched {
  readonly refs: RepositoryRefs;
  readonly #project: Prefetchable;
  readonly #wanted: Prefetch;
  readonly #at = performance.now();
  readonly #names: ReadonlySet<RefName>;
  readonly #views: Map<string, Promise<RefView>>;
  #reads: Reads;
  #opened = false;

  constructor(deps: Deps, project: Prefetchable, wanted: Prefetch) {
    const { store, environment } = deps;
    const head = branchRef(project.defaultBranch ?? environment.defaultBranchName);
    const refs = store.repositories.open(project.repositoryId, head);
    const { page, rules, under = [] } = wanted;
    this.refs = refs;
    this.#project = project;
    this.#wanted = wanted;
    this.#names = namesIn(wanted);
    this.#reads = {
      packs: wanted.packs === false ? undefined : started(refs.listPacks()),
      head: wanted.head || namesHead(wanted) ? started(refs.headRef()) : undefined,
      names: this.#names.size === 0 ? undefined : started(refs.get([...this.#names])),
      page: page && started(refs.page(page)),
      rules: rules && started(readRules(deps, project.id, rules)),
    };
    this.#views = new Map(under.map((prefix) => [prefix, started(refs.view({ prefixes: [prefix] }))]));
  }

  /** These reads, for the first that opens the project's repository. */
  openedBy({ id, repositoryId }: ProjectRecord): Prefetched | undefined {
    const isFirst = !this.#opened;
    this.#opened = true;
    const same = id === this.#project.id && repositoryId === this.#project.repositoryId;
    return isFirst && same && this.#isFresh() ? this : undefined;
  }

  rules({ id }: ProjectRecord, kind: RuleKind): Promise<Rules> | undefined {
    return kind === this.#wanted.rules && id === this.#project.id ? this.#take('rules') : undefined;
  }

  get(names: readonly RefName[]): Promise<Found> | undefined {
    if (!this.#isFresh() || names.length === 0 || !names.every((name) => this.#names.has(name)))
      return undefined;
    return this.#reads.names?.then((found) => new Map([...found].filter(([name]) => names.includes(name))));
  }

  headRef(): Promise<Head> | undefined {
    return this.#take('head');
  }

  page(query: RefPageQuery): Promise<RefPage> | undefined {
    const read = this.#take('page');
    return isDeepStrictEqual(this.#wanted.page, query) ? read : undefined;
  }

  /** That of all refs serves for any of them. */
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

  /** The refs have changed, or were found to have. */
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

/** What is known of a project before access to it is checked. */
type Prefetchable = Pick<ProjectRecord, 'id' | 'repositoryId' | 'defaultBranch'>;

interface Reads {
  readonly packs?: Promise<readonly PackDescription[]> | undefined;
  readonly head?: Promise<Head> | undefined;
  readonly names?: Promise<Found> | undefined;
  readonly page?: Promise<RefPage> | undefined;
  readonly rules?: Promise<Rules> | undefined;
}

const namesHead = ({ revisions = [] }: Prefetch): boolean =>
  revisions.some((revision) => revisionNames(revision) === 'HEAD');

/** @returns none where there are too many */
function namesIn({ revisions = [], branches = [], tags = [] }: Prefetch): ReadonlySet<RefName> {
  const named = [
    ...revisions.map(revisionNames).flatMap((names) => (names === 'HEAD' ? [] : names)),
    ...branches.map((name) => name && branchRef(name)),
    ...tags.map((name) => name && tagRef(name)),
  ];
  const names = new Set(named.filter((name): name is RefName => name !== undefined && name !== ''));
  return names.size > MAX_NAMES ? new Set() : names;
}

/** The rules of a project that protect branches, tags or both; of a kind that is not asked for, none. */
export async function readRules(
  { store: { refRules } }: Deps,
  projectId: number,
  kind: RuleKind,
): Promise<Rules> {
  if (kind === 'both') return refRules.all(projectId);
  if (kind === 'branch') return { branches: await refRules.list(projectId, kind), tags: [] };
  return { branches: [], tags: await refRules.list(projectId, kind) };
}
