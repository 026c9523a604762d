/** What a push tells of itself in the feeds of the project and of whoever pushed. */

import { titleOf } from '../../git/commit-title.ts';
import { CorruptData } from '../../git/corrupt-data.ts';
import { History, HistoryLimit, type KnownHistory } from '../../git/history.ts';
import { ObjectMissing, type ObjectStore } from '../../git/objects.ts';
import { type Oid, ZERO_OID } from '../../git/oid.ts';
import { parseCommit } from '../../git/parse.ts';
import type { RefUpdate } from '../../git/ports.ts';
import { type RefName, shortName, spaceOf } from '../../git/refname.ts';
import type { PushRecord } from '../../store/events/events.ts';
import type { Put } from '../../store/table/write.ts';
import type { Deps } from '../deps.ts';
import { activity } from './record.ts';

/** A transaction has room for no more: what is above is told together, whatever the settings say. */
const MAX_PUSH_EVENTS = 30;
/** New commits of a ref are counted so far. */
const MAX_COUNTED = 100_000;
/** Commits looked at to find out which are new. */
const MAX_VISITED = 300_000;
/** Characters of a commit's title, three dots with which a longer one ends included. */
const MAX_TITLE = 70;

export interface Push {
  readonly projectId: number;
  /** User id. */
  readonly pusher: number;
  readonly updates: readonly RefUpdate[];
  /** Sees what the new values lead to; not needed where refs are deleted. */
  readonly objects: ObjectStore | undefined;
  /** What is known of the history, where all of it was accepted before. */
  readonly known?: KnownHistory | undefined;
  /** The default branch with what it points to, before the push; asked for where a branch is created. */
  readonly defaultBranch: () => Promise<{ readonly name: RefName; readonly tip: Oid | undefined }>;
}

/**
 * The rows of a push's events, for its own transaction: one for each branch and tag that moved, or one for all that were
 * created, moved or removed alike where these are more than the settings name.
 */
export async function pushEvents(deps: Deps, push: Push): Promise<Put[]> {
  const moved = push.updates.flatMap((update) => {
    const space = spaceOf(update.name);
    return space === undefined || update.from === update.to ? [] : [{ update, alike: alike(update, space) }];
  });
  if (moved.length === 0) return [];
  const { push_event_activities_limit: asked } = await deps.settings.current();
  const limit = moved.length > MAX_PUSH_EVENTS ? Math.min(asked, MAX_PUSH_EVENTS / KINDS) : asked;
  const gains = new Gains(push);
  const told = Object.values(Object.groupBy(moved, ({ alike }) => `${alike.refType} ${alike.action}`));
  const records = told.flatMap((group = []) =>
    group.length > limit
      ? [Promise.resolve(together(group[0]!.alike, group.length))]
      : group.map(({ update, alike }) => one(gains, update, alike)),
  );
  const { projectId, pusher: authorId } = push;
  const tell = async (record: Promise<PushRecord>) =>
    activity(deps, { projectId, authorId, action: 'pushed', push: await record });
  return Promise.all(records.map(tell));
}

type Alike = Pick<PushRecord, 'action' | 'refType'>;
/** How many ways there are to be alike. */
const KINDS = 6;

function alike({ from, to }: RefUpdate, space: 'heads' | 'tags'): Alike {
  return {
    action: from === ZERO_OID ? 'created' : to === ZERO_OID ? 'removed' : 'pushed',
    refType: space === 'heads' ? 'branch' : 'tag',
  };
}

const together = (alike: Alike, refCount: number): PushRecord => ({
  ...alike,
  commitCount: 0,
  from: null,
  to: null,
  ref: null,
  commitTitle: null,
  refCount,
});

async function one(gains: Gains, update: RefUpdate, { action, refType }: Alike): Promise<PushRecord> {
  const { from, to, name } = update;
  const gained = action === 'removed' ? NOTHING : await gains.of(update, refType);
  return {
    action,
    refType,
    ...gained,
    from: action === 'created' ? null : from,
    to: action === 'removed' ? null : to,
    ref: shortName(name),
    refCount: null,
  };
}

type Gained = Pick<PushRecord, 'commitCount' | 'commitTitle'>;
const NOTHING: Gained = { commitCount: 0, commitTitle: null };

/** What refs gain by one push. */
class Gains {
  readonly #push: Push;
  readonly #history: History | undefined;
  constructor(push: Push) {
    this.#push = push;
    this.#history = push.objects && new History(push.objects, push.known);
  }

  /** Of a tag: the commit it leads to. Nobody is kept from pushing because what was there before is damaged. */
  async of(update: RefUpdate, refType: PushRecord['refType']): Promise<Gained> {
    try {
      return await this.#of(update, refType);
    } catch (error) {
      if (error instanceof ObjectMissing || error instanceof CorruptData) return NOTHING;
      throw error;
    }
  }

  async #of(update: RefUpdate, refType: PushRecord['refType']): Promise<Gained> {
    if (this.#history === undefined) return NOTHING;
    const commit = update.peeled ?? update.to;
    if (refType === 'tag') return update.committed == null ? NOTHING : this.#titled(1, commit);
    const without = update.from === ZERO_OID ? await this.#elsewhere(update) : update.from;
    if (without === commit) return NOTHING;
    const query = { tips: [commit], ...(without === undefined ? {} : { exclude: [without] }) };
    const count = await this.#history
      .count(query, MAX_COUNTED, { maxCommits: MAX_VISITED })
      .catch((error: unknown) => {
        if (error instanceof HistoryLimit) return MAX_COUNTED;
        throw error;
      });
    return count === 0 ? NOTHING : this.#titled(count, commit);
  }

  /** What a new branch is compared with: the default branch, unless it is that itself. */
  async #elsewhere({ name }: RefUpdate): Promise<Oid | undefined> {
    const { name: other, tip } = await this.#push.defaultBranch();
    if (name === other) return undefined;
    const moved = this.#push.updates.find((update) => update.name === other)?.to;
    return moved === ZERO_OID ? undefined : (moved ?? tip);
  }

  async #titled(commitCount: number, commit: Oid): Promise<Gained> {
    const message = await this.#push.objects!.run(
      (objects) => parseCommit(objects.read(commit).data).message,
    );
    return { commitCount, commitTitle: cut(titleOf(message)) };
  }
}

function cut(title: string): string {
  const characters = [...title];
  return characters.length > MAX_TITLE ? `${characters.slice(0, MAX_TITLE - 3).join('')}...` : title;
}
