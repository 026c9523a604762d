import { isDeepStrictEqual } from 'node:util';
import type { PackDescription, Ref, RefPage, RefPageQuery, RefView } from '../../git/ports.ts';
import { branchRef, type RefName, tagRef } from '../../git/refname.ts';
import { type RevisionNames, revisionNames } from '../../git/revision.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { BranchRule, TagRule } from '../../records/refs.ts';
import type { RepositoryRefs } from '../../store/repository/refs-and-objects.ts';
import type { Deps } from '../deps.ts';
import { started } from '../started.ts';

/** What is known of a project before its right is decided. */
interface Foreseen {
  readonly id: number;
  readonly repositoryId: string;
  /** Null or absent: not known. */
  readonly defaultBranch?: string | null;
}

type Found = ReadonlyMap<RefName, Ref>;
type Head = { readonly target: RefName; readonly head: Ref | undefined };

/** What was read is used at once or not at all: a request that waits for something else reads anew. */
const USABLE_MS = 1000;
/** Names that are looked at before it is known whether their repository may be seen. */
const MOST_NAMES = 40;

/**
 * The first reads of a project's repository, under way while it is decided whether the caller may see it. Whoever may
 * not never gets hold of this; nothing waits for it then, and no failure of it is told.
 */
export class ReadAhead {
  readonly #about: Foreseen;
  readonly #at = performance.now();
  #rules: { readonly kind: FirstReads['rules']; readonly read: Promise<Rules> } | undefined;
  #repository: FirstLook | undefined;

  constructor(deps: Deps, about: Foreseen, first: FirstReads) {
    const { store, environment } = deps;
    this.#about = about;
    const head = branchRef(about.defaultBranch ?? environment.defaultBranchName);
    this.#repository = new FirstLook(store.repositories.open(about.repositoryId, head), first);
    const { rules } = first;
    if (rules !== undefined) this.#rules = { kind: rules, read: started(rulesOf(deps, about.id, rules)) };
  }

  /** The repository with what was read of it, for the first who asks for it. */
  repositoryOf({ id, repositoryId }: ProjectRecord): FirstLook | undefined {
    const taken = this.#repository;
    this.#repository = undefined;
    const same = id === this.#about.id && repositoryId === this.#about.repositoryId;
    return same && this.#isFresh() ? taken : undefined;
  }

  /** The rules for branches, for tags or both, where they were read. */
  rulesOf({ id }: ProjectRecord, kind: NonNullable<FirstReads['rules']>): Promise<Rules> | undefined {
    const taken = this.#rules;
    if (taken?.kind !== kind) return undefined;
    this.#rules = undefined;
    return id === this.#about.id && this.#isFresh() ? taken.read : undefined;
  }

  #isFresh(): boolean {
    return performance.now() - this.#at < USABLE_MS;
  }
}

interface Rules {
  readonly branches: readonly BranchRule[];
  readonly tags: readonly TagRule[];
}

/**
 * A repository and the reads of it that are under way. Lists are used once, refs by name until they are to be moved: who
 * looks again wants to know what has changed.
 */
export class FirstLook {
  readonly refs: RepositoryRefs;
  readonly #at = performance.now();
  readonly #names = new Set<RefName>();
  readonly #found: Promise<Found> | undefined;
  readonly #under = new Map<string, Promise<RefView>>();
  #page: { readonly query: RefPageQuery; readonly read: Promise<RefPage> } | undefined;
  #head: Promise<Head> | undefined;
  #packs: Promise<readonly PackDescription[]> | undefined;

  constructor(refs: RepositoryRefs, first: FirstReads) {
    this.refs = refs;
    const revisions = (first.revisions ?? []).map(revisionNames);
    if (first.packs !== false) this.#packs = started(refs.listPacks());
    if (first.head === true || revisions.includes('HEAD')) this.#head = started(refs.headRef());
    const names = namesIn(first, revisions);
    if (names.size > 0 && names.size <= MOST_NAMES) {
      this.#names = names;
      this.#found = started(refs.get([...names]));
    }
    for (const prefix of first.under ?? [])
      this.#under.set(prefix, started(refs.view({ prefixes: [prefix] })));
    const { page } = first;
    if (page !== undefined) this.#page = { query: page, read: started(refs.page(page)) };
  }

  get(names: readonly RefName[]): Promise<Found> | undefined {
    if (!this.#isFresh() || names.length === 0 || !names.every((name) => this.#names.has(name)))
      return undefined;
    return this.#found?.then((found) => new Map([...found].filter(([name]) => names.includes(name))));
  }

  headRef(): Promise<Head> | undefined {
    const read = this.#head;
    this.#head = undefined;
    return this.#isFresh() ? read : undefined;
  }

  page(query: RefPageQuery): Promise<RefPage> | undefined {
    const page = this.#page;
    this.#page = undefined;
    return page !== undefined && isDeepStrictEqual(page.query, query) && this.#isFresh()
      ? page.read
      : undefined;
  }

  /** That of all refs serves for any of them. */
  view(prefixes: readonly string[]): Promise<RefView> | undefined {
    const [only, ...others] = prefixes;
    const prefix = only !== undefined && others.length === 0 && this.#under.has(only) ? only : '';
    const read = this.#under.get(prefix);
    this.#under.delete(prefix);
    return this.#isFresh() ? read : undefined;
  }

  packs(): Promise<readonly PackDescription[]> | undefined {
    const read = this.#packs;
    this.#packs = undefined;
    return this.#isFresh() ? read : undefined;
  }

  /** The refs have moved, or were found to have. */
  forget(): void {
    this.#names.clear();
    this.#under.clear();
    this.#page = undefined;
    this.#head = undefined;
    this.#packs = undefined;
  }

  #isFresh(): boolean {
    return performance.now() - this.#at < USABLE_MS;
  }
}

function namesIn(first: FirstReads, revisions: readonly RevisionNames[]): Set<RefName> {
  const asked = [
    ...revisions.flatMap((names) => (names === 'HEAD' ? [] : names)),
    ...(first.branches ?? []).map((name) => name && branchRef(name)),
    ...(first.tags ?? []).map((name) => name && tagRef(name)),
  ];
  return new Set(asked.filter((name): name is RefName => name !== undefined && name !== ''));
}

async function rulesOf(
  { store: { refRules } }: Deps,
  projectId: number,
  kind: NonNullable<FirstReads['rules']>,
): Promise<Rules> {
  if (kind === 'both') return refRules.all(projectId);
  if (kind === 'branch') return { branches: await refRules.list(projectId, kind), tags: [] };
  return { branches: [], tags: await refRules.list(projectId, kind) };
}

/** What a request reads first of a project's repository, whatever else it does. */
export interface FirstReads {
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
