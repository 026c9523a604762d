/** Changes of an object that its system notes tell of, as events. */

import type { IterationRecord } from '../../records/iterations.ts';
import type { Container, LabelRecord } from '../../records/labels.ts';
import type { MilestoneRecord } from '../../records/milestones.ts';
import type { NotedChange, NoteRecord } from '../../records/notes.ts';
import type { UserRecord } from '../../records/users.ts';
import type { NotedEvent } from '../../store/notes/noted-events.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import type { Deps } from '../deps.ts';
import { recordNotFound } from '../errors.ts';
import { sameContainer, withAbove } from '../labels/containers.ts';
import type { NotedObject } from './noteable.ts';

export interface LoadedEvent {
  readonly id: number;
  readonly note: NoteRecord;
  /** Undefined if the account was deleted. */
  readonly author: UserRecord | undefined;
  readonly change: NotedChange;
  /** Whether it was added or removed, of a label, a milestone or an iteration. */
  readonly action: 'add' | 'remove';
  /** Undefined if it was deleted, or is of a project or group that the object is not in. */
  readonly label: LabelRecord | undefined;
  readonly milestone: MilestoneRecord | undefined;
  readonly iteration: IterationRecord | undefined;
}

/** Lists events of a kind, the oldest first. */
export async function listNotedEvents(
  deps: Deps,
  on: NotedObject,
  kind: NotedChange['kind'],
  request: PageRequest,
): Promise<Page<LoadedEvent>> {
  const page = await deps.store.notedEvents.page(eventsOf(on, kind), request);
  return { ...page, items: await loaded(deps, on, page.items) };
}

/** @throws `404 Not found` */
export async function getNotedEvent(
  deps: Deps,
  on: NotedObject,
  kind: NotedChange['kind'],
  id: number,
): Promise<LoadedEvent> {
  const event = await deps.store.notedEvents.get(eventsOf(on, kind), id);
  if (event === undefined) throw recordNotFound();
  return (await loaded(deps, on, [event]))[0]!;
}

const eventsOf = ({ projectId, noteable }: NotedObject, kind: NotedChange['kind']) => ({
  projectId,
  noteable,
  kind,
});

async function loaded(
  { store }: Deps,
  { access }: NotedObject,
  events: readonly NotedEvent[],
): Promise<LoadedEvent[]> {
  const [authors, labels, milestones, iterations] = await Promise.all([
    byId(
      events.map(({ note }) => note.author.id),
      (ids) => store.users.getMany(ids),
    ),
    byId(events.flatMap(labelOf), (ids) => store.labels.getMany(ids)),
    byId(events.flatMap(milestoneOf), (ids) => store.milestones.getMany(ids)),
    byId(events.flatMap(iterationOf), (ids) => store.iterations.getMany(ids)),
  ]);
  // An object that came from another project has events of what is there, and may not be known here.
  const containers = withAbove(access);
  const ofProject = <T extends { readonly container: Container }>(value: T | undefined): T | undefined =>
    value !== undefined && containers.some((each) => sameContainer(each, value.container))
      ? value
      : undefined;
  return events.map((event) => {
    const { note, index } = event;
    const change = note.change!;
    return {
      id: note.id + index,
      note,
      author: authors.get(note.author.id),
      change,
      action:
        change.kind === 'label'
          ? index < change.added.length
            ? 'add'
            : 'remove'
          : change.kind === 'milestone' || change.kind === 'iteration'
            ? change.action
            : 'add',
      label: ofProject(labels.get(labelOf(event)[0] ?? 0)),
      milestone: ofProject(milestones.get(milestoneOf(event)[0] ?? 0)),
      iteration: ofProject(iterations.get(iterationOf(event)[0] ?? 0)),
    };
  });
}

const labelOf = ({ note: { change }, index }: NotedEvent): number[] =>
  change?.kind === 'label' ? [change.added[index] ?? change.removed[index - change.added.length]!] : [];

const milestoneOf = ({ note: { change } }: NotedEvent): number[] =>
  change?.kind === 'milestone' ? [change.milestoneId] : [];

const iterationOf = ({ note: { change } }: NotedEvent): number[] =>
  change?.kind === 'iteration' ? [change.iterationId] : [];

/** Reads records once each, if there are any to read. */
async function byId<T>(
  ids: readonly number[],
  read: (ids: readonly number[]) => Promise<readonly (T | undefined)[]>,
): Promise<Map<number, T>> {
  const distinct = [...new Set(ids)];
  const found = distinct.length === 0 ? [] : await read(distinct);
  return new Map(distinct.flatMap((id, i) => (found[i] === undefined ? [] : [[id, found[i]] as const])));
}
