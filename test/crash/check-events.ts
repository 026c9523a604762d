import { isDeepStrictEqual } from 'node:util';
import type { Noteable } from '../../lib/records/notes.ts';
import { eventOf, eventWrite } from '../../lib/store/events/events.ts';
import { groupKey } from '../../lib/store/row-keys/groups.ts';
import { noteKey } from '../../lib/store/row-keys/notes.ts';
import { projectKey } from '../../lib/store/row-keys/projects.ts';
import type { ExpectedState } from './expected-state.ts';
import { livingOf } from './records.ts';
import { keyText, type Rows, rowCheck } from './rows.ts';

/** Events stand where feeds look for them, and are of what is there. */
export const events = rowCheck(['event'], function* (rows) {
  for (const row of rows.of('EVENTS#')) {
    const event = eventOf({ ...row });
    if (!isDeepStrictEqual({ ...eventWrite(event).put }, { ...row }))
      yield `event ${event.id} stands at ${keyText(row)}, where no feed finds it`;
    const { projectId, groupId, target } = event;
    if (groupId !== undefined && rows.get(groupKey(groupId)) === undefined)
      yield `event ${event.id} is of group ${groupId}, which does not exist`;
    if (groupId === undefined && rows.get(projectKey(projectId)) === undefined)
      yield `event ${event.id} is of project ${projectId}, which does not exist`;
    const noteable: Noteable | undefined =
      target?.commit !== undefined
        ? { kind: 'commit', id: target.commit }
        : target?.snippet !== undefined
          ? { kind: 'snippet', id: target.snippet.id }
          : target?.epic !== undefined && groupId !== undefined
            ? { kind: 'epic', id: target.epic.id, groupId }
            : target?.issue && { kind: 'issue', id: target.issue.id };
    if (target !== null && noteable !== undefined && !rows.get(noteKey(projectId, noteable, target.id)))
      yield `event ${event.id} is of note ${target.id}, which does not exist`;
  }
});

/**
 * Each acknowledged push and commit has one event. The events of a branch are a chain, each from where another ended: none
 * is of a move that was not made, and none is told twice.
 */
export function* pushEventProblems(rows: Rows, { pushed }: ExpectedState): Iterable<string> {
  const living = new Set(livingOf(rows).map(({ id }) => id));
  const all = rows.of('EVENTS#').map((row) => eventOf({ ...row }));
  const byProject = Map.groupBy(all, (event) => event.projectId);
  for (const [projectId, acknowledged] of pushed) {
    if (!living.has(projectId)) continue;
    const pushes = (byProject.get(projectId) ?? []).flatMap(({ push }) =>
      push?.refType === 'branch' && push.ref !== null ? [push] : [],
    );
    for (const [ref, moves] of Map.groupBy(pushes, (push) => push.ref!)) {
      // One that was deleted and made again may be at one commit twice.
      if (moves.some(({ to }) => to === null)) continue;
      const ends = new Set(moves.map(({ to }) => to));
      const begins = new Set(moves.map(({ from }) => from));
      const at = `project ${projectId}, ${ref}`;
      if (ends.size < moves.length || begins.size < moves.length) yield `${at}: a move is told twice`;
      const last = [...ends].filter((to) => !begins.has(to));
      const first = [...begins].filter((from) => !ends.has(from));
      if (last.length !== 1 || first.length !== 1)
        yield `${at}: ${moves.length} moves begin at ${first.length} and end at ${last.length} commits`;
    }
    const told = new Set(pushes.map(({ ref, to }) => `${ref} ${to}`));
    for (const push of acknowledged) if (!told.has(push)) yield `project ${projectId}: no event of ${push}`;
  }
}
