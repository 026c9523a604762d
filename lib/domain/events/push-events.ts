/** Events of a push, for the feeds of the project and of the pusher. */

import { titleOf } from '../../git/commit-title.ts';
import { CorruptData } from '../../git/corrupt-data.ts';
import { History, HistoryLimit, type KnownHistory } from '../../git/history.ts';
import { ObjectMissing, type ObjectStore } from '../../git/objects.ts';
import { type Oid, ZERO_OID } from '../../git/oid.ts';
import { parseCommit } from '../../git/parse.ts';
import type { RefUpdate } from '../../git/ports.ts';
import { type RefName, shortName, spaceOf } from '../../git/refname.ts';
import { LimitExceeded } from '../../git/work.ts';
import type { PushRecord } from '../../store/events/events.ts';
import type { PushedBranch } from '../../store/notes/mentions.ts';
import type { Put } from '../../store/table/write.ts';
import type { Deps } from '../deps.ts';
import { mayNameAny } from '../markdown/references.ts';
import { activity } from './record.ts';

/** Limit of the transaction: a push of more refs gets summarized events, whatever the settings say. */
const MAX_PUSH_EVENTS = 30;
/** Maximum count of a ref's new commits. */
const MAX_COUNTED = 100_000;
/** Maximum number of commits visited to count the new ones. */
const MAX_VISITED = 300_000;
/** Characters of a commit's title, including the three dots of a truncated one. */
const MAX_TITLE = 70;

export interface Push {
  readonly projectId: number;
  /** User ID. */
  readonly pusher: number;
  readonly updates: readonly RefUpdate[];
  /** Contains the new objects; not needed where refs are deleted. */
  readonly objects: ObjectStore | undefined;
  /** Cached history, if the push contains no new objects. */
  readonly known?: KnownHistory | undefined;
  /** The default branch and its tip before the push; called if a branch is created. */
  readonly defaultBranch: () => Promise<{ readonly name: RefName; readonly tip: Oid | undefined }>;
}

/** What a push brings with it. */
export interface Pushed {
  /** The writes of its events. */
  readonly events: readonly Put[];
  /** The branches whose new commits may name issues or merge requests. */
  readonly naming: readonly PushedBranch[];
}

/**
 * Returns the events of a push, for the push's transaction: one for each changed branch and tag, or one for all refs of
 * the same type and action if these are more than the instance setting allows.
 */
export async function pushed(deps: Deps, push: Push): Promise<Pushed> {
  const moved = push.updates.flatMap((update) => {
    const space = spaceOf(update.name);
    return space === undefined || update.from === update.to ? [] : [{ update, kind: kindOf(update, space) }];
  });
  if (moved.length === 0) return { events: [], naming: [] };
  const { push_event_activities_limit: configured } = await deps.settings.current();
  const limit = moved.length > MAX_PUSH_EVENTS ? Math.min(configured, MAX_PUSH_EVENTS / KINDS) : configured;
  const gains = new Gains(push);
  const groups = Object.values(Object.groupBy(moved, ({ kind }) => `${kind.refType} ${kind.action}`));
  const told = await Promise.all(
    groups.flatMap((group = []): (Told | Promise<Told>)[] =>
      group.length > limit
        ? [
            summary(
              group.map(({ update }) => update),
              group[0]!.kind,
            ),
          ]
        : group.map(({ update, kind }) => singleRef(gains, update, kind)),
    ),
  );
  const { projectId, pusher: authorId } = push;
  return {
    events: await Promise.all(
      told.map(({ record }) => activity(deps, { projectId, authorId, action: 'pushed', push: record })),
    ),
    naming: told.flatMap(({ naming }) => naming.map(({ name, from, to }) => ({ name, from, to }))),
  };
}

/** The record of an event, and those of its refs whose new commits may name issues or merge requests. */
interface Told {
  readonly record: PushRecord;
  readonly naming: readonly RefUpdate[];
}

type PushKind = Pick<PushRecord, 'action' | 'refType'>;
/** Number of combinations of action and ref type. */
const KINDS = 6;

function kindOf({ from, to }: RefUpdate, space: 'heads' | 'tags'): PushKind {
  return {
    action: from === ZERO_OID ? 'created' : to === ZERO_OID ? 'removed' : 'pushed',
    refType: space === 'heads' ? 'branch' : 'tag',
  };
}

const summary = (updates: readonly RefUpdate[], kind: PushKind): Told => ({
  record: {
    ...kind,
    commitCount: 0,
    from: null,
    to: null,
    ref: null,
    commitTitle: null,
    refCount: updates.length,
  },
  naming: kind.refType === 'branch' && kind.action !== 'removed' ? updates : [],
});

async function singleRef(gains: Gains, update: RefUpdate, { action, refType }: PushKind): Promise<Told> {
  const { from, to, name } = update;
  const { mayName, ...gained } = action === 'removed' ? NOTHING : await gains.of(update, refType);
  const record = {
    action,
    refType,
    ...gained,
    from: action === 'created' ? null : from,
    to: action === 'removed' ? null : to,
    ref: shortName(name),
    refCount: null,
  };
  return { record, naming: refType === 'branch' && mayName ? [update] : [] };
}

interface Gained extends Pick<PushRecord, 'commitCount' | 'commitTitle'> {
  /** Of several commits only the last was read. */
  readonly mayName: boolean;
}
const NOTHING: Gained = { commitCount: 0, commitTitle: null, mayName: false };

/** Counts the commits that refs gain by a push. */
class Gains {
  readonly #push: Push;
  readonly #history: History | undefined;
  constructor(push: Push) {
    this.#push = push;
    this.#history = push.objects && new History(push.objects, push.known);
  }

  /** For a tag: its commit. Errors are ignored: damage in the existing history must not block a push. */
  async of(update: RefUpdate, refType: PushRecord['refType']): Promise<Gained> {
    try {
      return await this.#of(update, refType);
    } catch (error) {
      if (error instanceof ObjectMissing || error instanceof CorruptData || error instanceof LimitExceeded)
        return NOTHING;
      throw error;
    }
  }

  async #of(update: RefUpdate, refType: PushRecord['refType']): Promise<Gained> {
    if (this.#history === undefined) return NOTHING;
    const commit = update.peeled ?? update.to;
    if (refType === 'tag') return update.committed == null ? NOTHING : this.#titled(1, commit);
    const base = update.from === ZERO_OID ? await this.#baseOfNewBranch(update) : update.from;
    if (base === commit) return NOTHING;
    const query = { tips: [commit], ...(base === undefined ? {} : { exclude: [base] }) };
    const count = await this.#history
      .count(query, MAX_COUNTED, { maxCommits: MAX_VISITED })
      .catch((error: unknown) => {
        if (error instanceof HistoryLimit) return MAX_COUNTED;
        throw error;
      });
    return count === 0 ? NOTHING : this.#titled(count, commit);
  }

  /** The tip that a new branch is compared with: the default branch's; none for the default branch itself. */
  async #baseOfNewBranch({ name }: RefUpdate): Promise<Oid | undefined> {
    const { name: defaultBranch, tip } = await this.#push.defaultBranch();
    if (name === defaultBranch) return undefined;
    const moved = this.#push.updates.find((update) => update.name === defaultBranch)?.to;
    return moved === ZERO_OID ? undefined : (moved ?? tip);
  }

  async #titled(commitCount: number, commit: Oid): Promise<Gained> {
    const message = await this.#push.objects!.run(
      (objects) => parseCommit(objects.read(commit).data).message,
    );
    return {
      commitCount,
      commitTitle: truncated(titleOf(message)),
      mayName: commitCount > 1 || mayNameAny(message),
    };
  }
}

function truncated(title: string): string {
  const characters = [...title];
  return characters.length > MAX_TITLE ? `${characters.slice(0, MAX_TITLE - 3).join('')}...` : title;
}
