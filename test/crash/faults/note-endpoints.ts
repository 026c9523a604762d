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

const snippet: Below = async ({ id, owner: { token } }, fixtures) => {
  const snippets = `/projects/${id}/snippets`;
  const json = { title: 'talk', files: [{ file_path: 'a.txt', content: 'one' }] };
  const made = await fixtures.done('POST', snippets, { token, json });
  return `${snippets}/${made.id}`;
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

/** A note with a quick action: the note and what it changes, or neither. */
const closingNote = (path: string, below: Below): Operation =>
  endpoint(`POST ${path}/notes`, async (fixtures) => {
    const made = await discussed(fixtures, below);
    const body = fixtures.fresh('note');
    const state = async () => {
      const noted = await made.state(body);
      const { state: open } = await fixtures.done('GET', made.on, { token: made.token });
      return (noted === 'after') === (open === 'closed') ? noted : `note ${noted}, but ${open}`;
    };
    return { path: `${made.on}/notes`, token: made.token, json: { body: `${body}\n/close` }, state };
  });

/** What applies a suggestion: the commit and the mark, or neither. @param send makes the request of its id */
const applying = (path: string, send: (id: number) => { readonly path: string; readonly json: object }) =>
  endpoint(`PUT ${path}`, async (fixtures) => {
    const { id, owner } = await fixtures.ground();
    const { token } = owner;
    const branch = fixtures.fresh('advised');
    const actions = [{ action: 'create', file_path: branch, content: 'one\ntwo\n' }];
    const commit = { branch, start_branch: 'main', commit_message: 'x', actions };
    await fixtures.done('POST', `/projects/${id}/repository/commits`, { token, json: commit });
    const proposal = { title: 'advised', source_branch: branch, target_branch: 'main' };
    const proposals = `/projects/${id}/merge_requests`;
    const { iid, diff_refs } = await fixtures.done('POST', proposals, { token, json: proposal });
    const place = { ...diff_refs, position_type: 'text', old_path: branch, new_path: branch, new_line: 1 };
    const json = { body: '```suggestion\n1\n```', position: place };
    const { notes } = await fixtures.done('POST', `${proposals}/${iid}/discussions`, { token, json });
    const [{ id: noteId, suggestions }] = notes;
    const state = async () => {
      const note = await fixtures.done('GET', `${proposals}/${iid}/notes/${noteId}`, { token });
      const file = `/projects/${id}/repository/files/${branch}?ref=${branch}`;
      const { content } = await fixtures.done('GET', file, { token });
      const isWritten = Buffer.from(content, 'base64').toString() === '1\ntwo\n';
      const { applied } = note.suggestions[0];
      return applied === isWritten ? (applied ? 'after' : 'before') : `applied: ${applied}, not written`;
    };
    return { token, state, ...send(suggestions[0].id) };
  });

const ISSUE = '/projects/:id/issues/:issue_iid';
const EPIC = '/groups/:id/epics/:epic_id';
const AWARDED_EPIC = '/groups/:id/epics/:epic_iid';
const SNIPPET = '/projects/:id/snippets/:snippet_id';
const MERGE_REQUEST = '/projects/:id/merge_requests/:merge_request_iid';

/** The path of the only epic of a group. */
const byNumber = (byId: string): string => byId.replace(/\d+$/, '1');

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
  closingNote(ISSUE, issue),
  closingNote(MERGE_REQUEST, mergeRequest),
  applying('/suggestions/:id/apply', (id) => ({ path: `/suggestions/${id}/apply`, json: {} })),
  applying('/suggestions/batch_apply', (id) => ({ path: '/suggestions/batch_apply', json: { ids: [id] } })),
  ...discussionWrites(EPIC, epic),
  ...singleWrites(EPIC, epic),
  ...awardWrites(AWARDED_EPIC, epic, ({ on }) => byNumber(on)),
  ...awardWrites(
    `${AWARDED_EPIC}/notes/:note_id`,
    epic,
    ({ on, noteId }) => `${byNumber(on)}/notes/${noteId}`,
  ),
  ...awardWrites(ISSUE, issue, ({ on }) => on),
  ...awardWrites(`${ISSUE}/notes/:note_id`, issue, ({ on, noteId }) => `${on}/notes/${noteId}`),
  ...discussionWrites(SNIPPET, snippet),
  ...singleWrites(SNIPPET, snippet, false),
  ...awardWrites(SNIPPET, snippet, ({ on }) => on),
  ...awardWrites(`${SNIPPET}/notes/:note_id`, snippet, ({ on, noteId }) => `${on}/notes/${noteId}`),
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
