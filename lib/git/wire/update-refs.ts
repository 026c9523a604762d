import type { ObjectStore } from '../objects.ts';
import { ZERO_OID } from '../oid.ts';
import { type PackDescription, RefConflict, type RefRejection } from '../ports.ts';
import type { RefDatabase } from '../ref-database.ts';
import { parseRefName, type RefName } from '../refname.ts';
import { type Candidate, refUpdate, staleReason } from './push-update.ts';

export interface RefTransaction {
  readonly atomic: boolean;
  /** The stored packs that the new values need; may differ after a recheck. */
  readonly packs: () => readonly PackDescription[];
  /** Reads the objects of the new values. */
  readonly objects: ObjectStore;
  /** Short name of the branch that HEAD is set to if it is among the first ones pushed. */
  readonly defaultBranch: string | undefined;
  /** HEAD's branch existed when the push started, so that HEAD is not changed. */
  readonly hasHead: boolean;
  readonly pushOptions: readonly string[];
  /** Called after a garbage collection began: whether everything the candidates reach still exists. */
  readonly recheck: () => Promise<boolean>;
}

export interface RefResult {
  /** Whether the packs are listed now. */
  readonly listed: boolean;
  /** HEAD's new target, if this push set it. */
  readonly head: RefName | undefined;
}

/** After each refused ref, the others are tried again. */
const MAX_ATTEMPTS = 10;

/**
 * Updates the refs of all candidates without a reason in one transaction. Those that lost a race get a reason, and the
 * others are tried again without them, as in git; an atomic push ends there.
 * @throws errors of the port other than RefConflict: then it is unknown whether the transaction succeeded
 */
export async function updateRefs(
  refs: RefDatabase,
  all: readonly Candidate[],
  transaction: RefTransaction,
): Promise<RefResult> {
  const nothing: RefResult = { listed: false, head: undefined };
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    if (transaction.atomic) failTogether(all);
    const passing = all.filter((candidate) => candidate.reason === undefined);
    if (passing.length === 0) return nothing;
    const head = transaction.hasHead ? undefined : await firstHead(refs, passing, transaction.defaultBranch);
    const packs = passing.some(({ command }) => command.to !== ZERO_OID) ? transaction.packs() : [];
    try {
      await refs.compareAndSwap(passing.map(refUpdate), {
        ...(packs.length > 0 ? { packs } : {}),
        ...(head ? { head } : {}),
        objects: transaction.objects,
        ...(transaction.pushOptions.length > 0 ? { pushOptions: transaction.pushOptions } : {}),
      });
      return { listed: packs.length > 0, head };
    } catch (error) {
      if (!(error instanceof RefConflict)) throw error;
      await reject(refs, passing, error, transaction);
    }
  }
  for (const candidate of all) candidate.reason ??= 'failed to update ref';
  return nothing;
}

/** Sets the reason of every candidate that the conflict names, or of all if it names the repository. */
async function reject(
  refs: RefDatabase,
  passing: readonly Candidate[],
  conflict: RefConflict,
  transaction: RefTransaction,
): Promise<void> {
  let progress = false;
  for (const { name, reason } of conflict.rejections) {
    const named = name === null ? passing : passing.filter((candidate) => candidate.name === name);
    if (reason === 'collected') {
      progress = true;
      if (!(await transaction.recheck())) for (const one of named) one.reason = 'missing necessary objects';
      continue;
    }
    const now = reason === 'stale' && name !== null ? (await refs.get([name])).get(name)?.oid : undefined;
    for (const candidate of named) {
      candidate.reason ??=
        reason === 'stale'
          ? (staleReason(candidate.command, now ?? ZERO_OID) ?? 'failed to update ref')
          : REASONS[reason];
      progress = true;
    }
  }
  // The conflict is about none of the candidates, so further attempts would fail, too.
  if (!progress) for (const candidate of passing) candidate.reason = 'failed to update ref';
}

const REASONS: Record<Exclude<RefRejection, 'stale' | 'collected'>, string> = {
  exists: 'reference already exists',
  'prefix-conflict': 'failed to update ref: another ref is a directory of this name, or the reverse',
  'read-only': 'repository is read-only at the moment, try again later',
  deleted: 'repository is being deleted',
  importing: 'repository is being imported, try again later',
};

export function failTogether(all: readonly Candidate[]): void {
  if (all.every((candidate) => candidate.reason === undefined)) return;
  for (const candidate of all) candidate.reason ??= 'atomic push failure';
}

/** HEAD's target, which is set by the first branches pushed to a repository and never by later ones. */
async function firstHead(
  refs: RefDatabase,
  passing: readonly Candidate[],
  defaultBranch: string | undefined,
): Promise<RefName | undefined> {
  const branches = passing
    .filter(({ update, name }) => update?.kind === 'create' && name?.startsWith('refs/heads/'))
    .map(({ name }) => name!);
  const first = branches[0];
  if (first === undefined) return undefined;
  const { target: head, head: born } = await refs.headRef();
  if (born !== undefined) return undefined;
  if ((await refs.page({ space: 'heads', limit: 1 })).refs.length > 0) return undefined;
  const preferred = [
    defaultBranch === undefined ? head : parseRefName(`refs/heads/${defaultBranch}`),
    'refs/heads/master',
  ];
  const chosen = preferred.find((name) => branches.includes(name as RefName)) as RefName | undefined;
  const decided = chosen ?? first;
  return decided === head ? undefined : decided;
}
