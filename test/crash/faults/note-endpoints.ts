import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { countOf, endpoint } from './sent.ts';

/** Notes and discussions. */
export const noteWrites: readonly Operation[] = [
  endpoint('POST /projects/:id/repository/commits/:sha/discussions', async (fixtures) => {
    const { path, token, texts } = await discussed(fixtures);
    const body = fixtures.fresh('note');
    return { path, token, json: { body }, state: async () => countOf((await texts()).filter(is(body))) };
  }),
  endpoint(
    'POST /projects/:id/repository/commits/:sha/discussions/:discussion_id/notes',
    async (fixtures) => {
      const { path, token, texts, discussion } = await discussed(fixtures);
      const body = fixtures.fresh('note');
      return {
        path: `${path}/${discussion.id}/notes`,
        token,
        json: { body },
        state: async () => countOf((await texts()).filter(is(body))),
      };
    },
  ),
  endpoint(
    'PUT /projects/:id/repository/commits/:sha/discussions/:discussion_id/notes/:note_id',
    async (fixtures) => {
      const { note, token, texts } = await discussed(fixtures);
      const body = fixtures.fresh('note');
      return {
        path: note,
        token,
        json: { body },
        state: async () => countOf((await texts()).filter(is(body))),
      };
    },
  ),
  endpoint(
    'DELETE /projects/:id/repository/commits/:sha/discussions/:discussion_id/notes/:note_id',
    async (fixtures) => {
      const { note, token, texts, text } = await discussed(fixtures);
      return {
        path: note,
        token,
        state: async () => ((await texts()).some(is(text)) ? 'before' : 'after'),
      };
    },
  ),
];

interface Note {
  readonly id: number;
  readonly body: string;
}

/** A discussion of a commit with a note, and the texts of all notes on that commit. */
async function discussed(fixtures: Fixtures) {
  const ground = await fixtures.ground();
  const { token } = ground.owner;
  const path = `/projects/${ground.id}/repository/commits/${ground.side}/discussions`;
  const text = fixtures.fresh('first');
  const discussion = await fixtures.done('POST', path, { token, json: { body: text } });
  const texts = async () => {
    const found = await fixtures.done('GET', `${path}?per_page=100`, { token });
    return (found as { notes: Note[] }[]).flatMap(({ notes }) => notes.map(({ body }) => body));
  };
  return {
    path,
    token,
    discussion,
    text,
    texts,
    note: `${path}/${discussion.id}/notes/${discussion.notes[0].id}`,
  };
}

const is = (text: string) => (one: string) => one === text;
