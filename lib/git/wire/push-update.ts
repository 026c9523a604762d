/** Validates the commands of a push one by one, before anything is stored. */

import { History, HistoryLimit } from '../history.ts';
import { type Oid, ZERO_OID } from '../oid.ts';
import type { PackStore } from '../pack/store.ts';
import { parseCommitLinks } from '../parse.ts';
import type { Ref, RefUpdate } from '../ports.ts';
import { fitsFile, parseRefName, type RefName } from '../refname.ts';
import { peel } from './commits.ts';
import type { Command } from './receive-request.ts';
import type { Visibility } from './visible.ts';

/** The change of one ref by a push: the input of policies and events. */
export interface PushUpdate {
  readonly name: RefName;
  readonly from: Oid;
  readonly to: Oid;
  readonly kind: 'create' | 'update' | 'delete';
  /** An update that drops commits, because `to` does not reach `from`; or of a ref that is not a plain commit. */
  readonly forced: boolean;
}

/** A command being processed. It is refused once it has a reason, which git clients print. */
export interface Candidate {
  readonly command: Command;
  /** undefined for an invalid ref name */
  readonly name: RefName | undefined;
  reason: string | undefined;
  peeled?: Oid;
  /** See {@link Ref.committed}. */
  committed?: number | null;
  update?: PushUpdate;
}

/** Checks what needs no objects: the names, and the current values of the refs. */
export function candidates(
  commands: readonly Command[],
  current: ReadonlyMap<RefName, Ref>,
  head: RefName,
  pushable: Visibility | undefined,
): Candidate[] {
  const count = new Map<string, number>();
  for (const { name } of commands) count.set(name, (count.get(name) ?? 0) + 1);
  return commands.map((command) => {
    const name = pushableName(command.name);
    return { command, name, reason: reasonFor(command, name) };
  });

  function reasonFor(command: Command, name: RefName | undefined): string | undefined {
    if (name === undefined) return 'funny refname';
    if ((count.get(command.name) ?? 0) > 1) return 'multiple updates for ref not allowed';
    const deletes = command.to === ZERO_OID;
    if (pushable && !pushable(name))
      return deletes ? 'deny deleting a hidden ref' : 'deny updating a hidden ref';
    if (!fitsFile(name) && !current.has(name))
      return 'failed to update ref: a part of its name exceeds 250 bytes';
    if (deletes && name === head && current.has(name)) return 'deletion of the current branch prohibited';
    return staleReason(command, current.get(name)?.oid ?? ZERO_OID);
  }
}

/** Why a command that expects `command.from` cannot be applied to a ref with the value `now`. */
export function staleReason(command: Command, now: Oid): string | undefined {
  if (command.from === now) return undefined;
  if (command.from === ZERO_OID && command.to !== ZERO_OID) return 'reference already exists';
  if (command.to === ZERO_OID) return now === ZERO_OID ? 'reference does not exist' : 'failed to update ref';
  return now === ZERO_OID ? 'reference does not exist' : 'fetch first';
}

/** A ref name of the form `refs/<space>/<name>`; branches and tags by the rules of `git branch` and `git tag`. */
export function pushableName(text: string): RefName | undefined {
  if (!/^refs\/[^/]+\//.test(text)) return undefined;
  if (/^refs\/heads\/(-|HEAD$|@$)/.test(text) || /^refs\/tags\/(-|HEAD$)/.test(text)) return undefined;
  return parseRefName(text);
}

/**
 * Checks the objects: that the new value exists and that a branch gets a commit. Also finds the peeled object of a tag,
 * and whether the update drops commits.
 * @param store includes the received pack
 */
export async function validate(candidate: Candidate, store: PackStore, walks: AncestryWalks): Promise<void> {
  const { command, name } = candidate;
  if (candidate.reason !== undefined || name === undefined) return;
  const { from, to } = command;
  let forced = false;
  if (to !== ZERO_OID) {
    const found = await store.run((objects) => {
      if (!objects.has(to)) return undefined;
      const type = objects.header(to).type;
      const end = type === 'tag' ? peel(objects, to) : to;
      const isCommit = objects.has(end) && objects.header(end).type === 'commit';
      const committed = isCommit ? parseCommitLinks(objects.read(end).data).committed : null;
      return { type, end, committed };
    });
    if (found === undefined) candidate.reason = 'missing necessary objects';
    else if (found.type !== 'commit' && name.startsWith('refs/heads/')) {
      candidate.reason = 'cannot update ref: trying to write non-commit object to branch';
    }
    if (found === undefined || candidate.reason !== undefined) return;
    if (found.end !== to) candidate.peeled = found.end;
    candidate.committed = found.committed;
    if (from !== ZERO_OID && from !== to) {
      const commits = found.type === 'commit' && (await store.header(from)).type === 'commit';
      forced = !commits || !(await walks.isForward(from, to));
    }
  }
  const kind = to === ZERO_OID ? 'delete' : from === ZERO_OID ? 'create' : 'update';
  candidate.update = { name, from, to, kind, forced };
}

/** Ancestry checks of one push, with a time limit for all of them: thousands of refs may have been rewritten. */
export class AncestryWalks {
  readonly #history: History;
  readonly #bound: AbortSignal;

  constructor(store: PackStore, milliseconds = 60_000) {
    this.#history = new History(store);
    this.#bound = AbortSignal.timeout(milliseconds);
  }

  /** Whether `to` reaches `from`. False after the time limit, so that policies refuse rather than allow. */
  async isForward(from: Oid, to: Oid): Promise<boolean> {
    try {
      return await this.#history.isAncestor(from, to, { signal: this.#bound });
    } catch (error) {
      if (error instanceof HistoryLimit || this.#bound.aborted) return false;
      throw error;
    }
  }
}

export function refUpdate({ command, name, peeled, committed, update }: Candidate): RefUpdate {
  return {
    name: name!,
    from: command.from,
    to: command.to,
    ...(peeled === undefined ? {} : { peeled }),
    ...(committed === undefined ? {} : { committed }),
    ...(update?.forced === true ? { forced: true } : {}),
  };
}
