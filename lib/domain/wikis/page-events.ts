/** Events of wiki pages, however they are changed: what differs between the tips of the default branch. */
import { createHash } from 'node:crypto';
import { CorruptData } from '../../git/corrupt-data.ts';
import type { TreeChange } from '../../git/diff/tree-diff.ts';
import { ObjectMissing, type ObjectStore } from '../../git/objects.ts';
import { EMPTY_TREE, type Oid, ZERO_OID } from '../../git/oid.ts';
import { parseCommitLinks } from '../../git/parse.ts';
import type { RefUpdate } from '../../git/ports.ts';
import type { RefName } from '../../git/refname.ts';
import { decodePath } from '../../git/tree/path.ts';
import { LimitExceeded } from '../../git/work.ts';
import type { EventTarget } from '../../store/events/events.ts';
import type { EventAction } from '../../store/events/facet.ts';
import type { Put } from '../../store/table/write.ts';
import type { Deps } from '../deps.ts';
import { activity } from '../events/record.ts';
import type { Pusher } from '../repository/open.ts';
import { type PageName, pageNameOf } from './page-names.ts';

/** Pages of one write that have events: the first by path. */
const MAX_EVENTS = 20;
/** Files that are compared to find them. */
const MAX_CHANGES = 1_000;

interface Write {
  readonly projectId: number;
  readonly pusher: Pusher | undefined;
  readonly updates: readonly RefUpdate[];
  readonly head: () => Promise<RefName>;
  /** Contains the new objects. */
  readonly objects: ObjectStore | undefined;
  /** Former paths of files that are known to be moved, by their new paths. */
  readonly moves?: ReadonlyMap<string, string> | undefined;
}

/** The writes of the events, and the changes that they tell of, for the transaction of the updates. None without a pusher, or for other branches. */
export async function pageEvents(
  deps: Deps,
  { projectId, pusher, ...write }: Write,
): Promise<{ readonly writes: Put[]; readonly changes: readonly PageChange[] }> {
  const authorId =
    pusher?.kind === 'requester' ? pusher.userId : pusher?.kind === 'user' ? pusher.user.id : undefined;
  if (authorId === undefined) return { writes: [], changes: [] };
  const changes = (await changedPages(write)).slice(0, MAX_EVENTS);
  const writes = await Promise.all(
    changes.map(({ action, page }) =>
      activity(deps, { projectId, authorId, action, target: targetOf(projectId, page) }),
    ),
  );
  return { writes, changes };
}

export interface PageChange {
  readonly action: EventAction;
  readonly page: PageName;
}

async function changedPages({
  updates,
  head,
  objects,
  moves = new Map(),
}: Omit<Write, 'projectId' | 'pusher'>): Promise<PageChange[]> {
  const target = objects && (await head());
  const update = updates.find(({ name }) => name === target);
  if (objects === undefined || update === undefined || update.from === update.to) return [];
  const treeOf = (commit: Oid) =>
    commit === ZERO_OID
      ? EMPTY_TREE
      : objects.run((stored) => parseCommitLinks(stored.read(commit).data).tree);
  try {
    const [before, after] = await Promise.all([treeOf(update.from), treeOf(update.to)]);
    const { diffTrees } = await import('../../git/diff/tree-diff.ts');
    const { changes } = await diffTrees(objects, before, after, { limit: MAX_CHANGES });
    return pagesIn(changes, moves);
  } catch (error) {
    // Damage in the existing history must not block a write.
    if (error instanceof ObjectMissing || error instanceof CorruptData || error instanceof LimitExceeded)
      return [];
    throw error;
  }
}

/** A page that is deleted and another one of the same content that is added are one that is moved. */
function pagesIn(changes: readonly TreeChange[], moves: ReadonlyMap<string, string>): PageChange[] {
  const pages = changes.flatMap((change) => {
    const path = decodePath(change.path);
    const page = pageNameOf(path);
    return page === undefined ? [] : [{ ...change, path, page }];
  });
  const gone = pages.filter((change) => change.new === undefined);
  const sources = new Map(gone.map(({ path, old }) => [path, old!.oid]));
  const moved = new Set<string>();
  const take = (path: string | undefined): boolean =>
    path !== undefined && sources.delete(path) && !!moved.add(path);
  const byContent = Map.groupBy(gone, ({ old }) => old!.oid);
  const isMoved = ({ path, new: added }: (typeof pages)[number]): boolean =>
    take(moves.get(path)) || take(byContent.get(added!.oid)?.find((from) => sources.has(from.path))?.path);
  const found = pages
    .filter((change) => change.new !== undefined)
    .map((change): PageChange => {
      const action = change.old !== undefined || isMoved(change) ? 'updated' : 'created';
      return { action, page: change.page };
    });
  const destroyed = gone
    .filter(({ path }) => !moved.has(path))
    .map(({ page }): PageChange => ({ action: 'destroyed', page }));
  return [...found, ...destroyed];
}

function targetOf(projectId: number, { slug, title, format }: PageName): EventTarget {
  return { type: 'WikiPage::Meta', id: idOf(projectId, slug), title: cut(title), page: { slug, format } };
}

/** Pages have no rows: a number made from project and slug, the same for all events of a page. */
const idOf = (projectId: number, slug: string): number =>
  createHash('sha256').update(`${projectId} ${slug}`).digest().readUIntBE(0, 6);

const cut = (title: string): string => [...title].slice(0, 255).join('');
