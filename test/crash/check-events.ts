import { isDeepStrictEqual } from 'node:util';
import { eventOf, eventWrite } from '../../lib/store/events/events.ts';
import { noteKey } from '../../lib/store/row-keys/notes.ts';
import { projectKey } from '../../lib/store/row-keys/projects.ts';
import { keyText, rowCheck } from './rows.ts';

/** Events stand where feeds look for them, and are of what is there. */
export const events = rowCheck(['event'], function* (rows) {
  for (const row of rows.of('EVENTS#')) {
    const event = eventOf({ ...row });
    if (!isDeepStrictEqual({ ...eventWrite(event).put }, { ...row }))
      yield `event ${event.id} stands at ${keyText(row)}, where no feed finds it`;
    const { projectId, target } = event;
    if (rows.get(projectKey(projectId)) === undefined)
      yield `event ${event.id} is of project ${projectId}, which does not exist`;
    else if (
      target !== null &&
      !rows.get(noteKey(projectId, { kind: 'commit', id: target.commit }, target.id))
    )
      yield `event ${event.id} is of note ${target.id}, which does not exist`;
  }
});
