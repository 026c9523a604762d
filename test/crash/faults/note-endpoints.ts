import type { Operation } from './driver.ts';
import type { Fixtures, Ground } from './fixtures.ts';
import { proposed } from './merge-request-endpoints.ts';
import { after, counted, countOf, endpoint, flip } from './sent.ts';

/** @returns the path of what the notes are on */
type Below = (ground: Ground, fixtures: Fixtures) => Promise<string>;

const commit: Below = async ({ id, side }) => `/projects/${id}/repository/commits/${side}`;

const issue: Below = async ({ id, owner }, fixtures) => {
  const json = { title: fixtures.fresh('talk') };
  const { iid } = await fixtures.done('POST', `/projects/${id}/issues`, { token: owner.token, json });
  return `/projects/${id}/issues/${iid}`;
};

const epic: Below = async ({ owner: { token } }, fixtures) => {
  const name = fixtures.fresh('planned');
  const group = await fixtures.done('POST', '/groups', { token, json: { name, path: name } });
  const epics = `/groups/${group.id}/epics`;
  const { id } = await fixtures.done('POST', epics, { token, json: { title: 'talk' } });
  return `${epics}/${id}`;
};

const mergeRequest: Below = (ground, fixtures) => proposed(fixtures, ground);

/** Writes of discussions, and of notes in them. */
const discussionWrites = (path: string, below: Below): readonly Operation[] => [
  endpoint(`POST ${path}/discussions`, async (fixtures) => {
    const { discussions, token, state } = await discussed(fixtures, below);
    const body = fixtures.fresh('note');
    return { path: discussions, token, json: { body }, state: () => state(body) };
  }),
  endpoint(`POST ${path}/discussions/:discussion_id/notes`, async (fixtures) => {
    const { discussions, id, token, state } = await discussed(fixtures, below);
    const body = fixtures.fresh('note');
    return { path: `${discussions}/${id}/notes`, token, json: { body }, state: () => state(body) };
  }),
  ...changes(`${path}/discussions/:discussion_id/notes/:note_id`, below, ({ discussions, id, noteId }) => {
    return `${discussions}/${id}/notes/${noteId}`;
  }),
];

const changes = (
  path: string,
  below: Below,
  noteOf: (of: Awaited<ReturnType<typeof discussed>>) => string,
): readonly Operation[] => [
  endpoint(`PUT ${path}`, async (fixtures) => {
    const made = await discussed(fixtures, below);
    const body = fixtures.fresh('note').padEnd(40_000, '.');
    return { path: noteOf(made), token: made.token, json: { body }, state: () => made.state(body) };
  }),
  endpoint(`DELETE ${path}`, async (fixtures) => {
    const made = await discussed(fixtures, below);
    const state = async () => ((await made.state(made.text)) === 'after' ? 'before' : 'after');
    return { path: noteOf(made), token: made.token, state };
  }),
];

/** Writes of notes without regard to discussions. */
const singleWrites = (path: string, below: Below, internal = true): readonly Operation[] => [
  endpoint(`POST ${path}/notes`, async (fixtures) => {
    const { on, token, state } = await discussed(fixtures, below);
    const body = fixtures.fresh('note');
    return { path: `${on}/notes`, token, json: { body, internal }, state: () => state(body) };
  }),
  ...changes(`${path}/notes/:note_id`, below, ({ on, noteId }) => `${on}/notes/${noteId}`),
];

const ISSUE = '/projects/:id/issues/:issue_iid';
const EPIC = '/groups/:id/epics/:epic_id';
const MERGE_REQUEST = '/projects/:id/merge_requests/:merge_request_iid';

/** Writes of awards on an object, or on a note on it. */
function awardWrites(
  path: string,
  below: Below,
  awardable: (of: Awaited<ReturnType<typeof discussed>>) => string,
): readonly Operation[] {
  const name = 'thumbsup';
  return [
    endpoint(`POST ${path}/award_emoji`, async (fixtures) => {
      const made = await discussed(fixtures, below);
      const { token } = made;
      const awards = `${awardable(made)}/award_emoji`;
      return { path: awards, token, json: { name }, state: () => counted(fixtures, awards, token) };
    }),
    endpoint(`DELETE ${path}/award_emoji/:award_id`, async (fixtures) => {
      const made = await discussed(fixtures, below);
      const { token } = made;
      const awards = `${awardable(made)}/award_emoji`;
      const { id } = await fixtures.done('POST', awards, { token, json: { name } });
      const state = async () => flip(await counted(fixtures, awards, token));
      return { path: `${awards}/${id}`, token, state };
    }),
  ];
}

/** Notes and discussions. */
export const noteWrites: readonly Operation[] = [
  ...discussionWrites('/projects/:id/repository/commits/:sha', commit),
  ...discussionWrites(ISSUE, issue),
  ...singleWrites(ISSUE, issue),
  // With a quick action: the note and what it changes, or neither.
  endpoint(`POST ${ISSUE}/notes`, async (fixtures) => {
    const made = await discussed(fixtures, issue);
    const body = fixtures.fresh('note');
    const state = async () => {
      const noted = await made.state(body);
      const { state: open } = await fixtures.done('GET', made.on, { token: made.token });
      return (noted === 'after') === (open === 'closed') ? noted : `note ${noted}, issue ${open}`;
    };
    return { path: `${made.on}/notes`, token: made.token, json: { body: `${body}\n/close` }, state };
  }),
  ...discussionWrites(EPIC, epic),
  ...singleWrites(EPIC, epic),
  ...awardWrites(ISSUE, issue, ({ on }) => on),
  ...awardWrites(`${ISSUE}/notes/:note_id`, issue, ({ on, noteId }) => `${on}/notes/${noteId}`),
  ...discussionWrites(MERGE_REQUEST, mergeRequest),
  ...singleWrites(MERGE_REQUEST, mergeRequest, false),
  ...awardWrites(MERGE_REQUEST, mergeRequest, ({ on }) => on),
  ...awardWrites(
    `${MERGE_REQUEST}/notes/:note_id`,
    mergeRequest,
    ({ on, noteId }) => `${on}/notes/${noteId}`,
  ),
  endpoint(`PUT ${MERGE_REQUEST}/discussions/:discussion_id`, async (fixtures) => {
    const { discussions, id, token } = await discussed(fixtures, mergeRequest);
    const path = `${discussions}/${id}`;
    const state = async () => {
      const { notes } = await fixtures.done('GET', path, { token });
      return after((notes as { resolved: boolean }[])[0]!.resolved, false, true);
    };
    return { path, token, json: { resolved: true }, state };
  }),
];

interface Note {
  readonly id: number;
  readonly body: string;
}

/** A discussion with a note, and how many notes of its object have a text. */
async function discussed(fixtures: Fixtures, below: Below) {
  const ground = await fixtures.ground();
  const { token } = ground.owner;
  const on = await below(ground, fixtures);
  const discussions = `${on}/discussions`;
  const text = fixtures.fresh('first');
  const { id, notes } = await fixtures.done('POST', discussions, { token, json: { body: text } });
  const state = async (body: string) => {
    const found = await fixtures.done('GET', `${discussions}?per_page=100`, { token });
    const all = (found as { notes: Note[] }[]).flatMap((discussion) => discussion.notes);
    return countOf(all.filter((note) => note.body === body));
  };
  return { on, discussions, id, noteId: (notes as Note[])[0]!.id, text, token, state };
}
