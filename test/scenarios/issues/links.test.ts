/** Relations between issues: who sees and makes them, what they leave on both, and what ends them. */
import { describe, expect, test } from 'vitest';
import { issueLinkCountKey } from '../../../lib/store/row-keys/issues.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { expectSchema } from '../../harness/schemas.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';

const { as, world } = ownWorld();

interface Issue {
  readonly path: string;
  readonly id: number;
  readonly iid: number;
  readonly projectId: number;
}

async function issue(project = 'public', json: object = {}): Promise<Issue> {
  const projectId = world.ids[project]!;
  const { status, body } = await as('reporter', 'POST', `/projects/${projectId}/issues`, {
    title: 'x',
    ...json,
  });
  expect(status, JSON.stringify(body)).toBe(201);
  return { path: `/projects/${projectId}/issues/${body.iid}`, id: body.id, iid: body.iid, projectId };
}

const relate = (who: Who, one: Issue, other: Issue, link_type?: string) =>
  as(who, 'POST', `${one.path}/links`, {
    target_project_id: other.projectId,
    target_issue_iid: other.iid,
    ...(link_type === undefined ? {} : { link_type }),
  });

/** Ids of the related issues, and how they relate. */
const linksOf = async (who: Who, { path }: Issue): Promise<[number, string][]> => {
  const { status, body } = await as(who, 'GET', `${path}/links`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.map((each: { id: number; link_type: string }) => [each.id, each.link_type]);
};

const notesOf = async (who: Who, { path }: Issue): Promise<string[]> =>
  (await as(who, 'GET', `${path}/notes?sort=asc`)).body.map(({ body }: { body: string }) => body);

/** The schema is of a later release, whose people have `locked` and always an avatar. */
const shownAsLater = (body: unknown) =>
  JSON.parse(JSON.stringify(body), (_, value) =>
    value?.username === undefined ? value : { ...value, locked: false, avatar_url: 'http://localhost/a.png' },
  );

describe('a relation between issues', () => {
  test.each([
    [
      undefined,
      'relates_to',
      'relates_to',
      'marked this issue as related to',
      'marked this issue as related to',
    ],
    ['blocks', 'blocks', 'is_blocked_by', 'marked this issue as blocking', 'marked this issue as blocked by'],
    [
      'is_blocked_by',
      'is_blocked_by',
      'blocks',
      'marked this issue as blocked by',
      'marked this issue as blocking',
    ],
  ])(
    'made as %s is there for both, noted on both, and ends for both',
    async (type, here, there, told, toldThere) => {
      const [one, other] = [await issue(), await issue()];
      const made = await relate('reporter', one, other, type);
      expect(made).toMatchObject({
        status: 201,
        body: { link_type: here, source_issue: { id: one.id }, target_issue: { id: other.id } },
      });
      expectSchema('issue_link', shownAsLater(made.body));
      const { body: related } = await as('anonymous', 'GET', `${one.path}/links`);
      expectSchema('related_issues', shownAsLater(related));
      expect(related).toMatchObject([{ id: other.id, issue_link_id: made.body.id, link_type: here }]);
      expect(await linksOf('anonymous', other)).toEqual([[one.id, there]]);
      expect((await as('guest', 'GET', `${other.path}/links/${made.body.id}`)).body).toMatchObject({
        id: made.body.id,
        link_type: there,
        source_issue: { id: other.id },
        target_issue: { id: one.id },
      });

      for (const [a, b] of [
        [one, other],
        [other, one],
      ] as const)
        expect(await relate('reporter', a, b, 'relates_to')).toMatchObject({
          status: 409,
          body: { message: 'Issue(s) already assigned' },
        });
      const ended = await as('reporter', 'DELETE', `${other.path}/links/${made.body.id}`);
      expect([ended.status, ended.body.id]).toEqual([200, made.body.id]);
      expect([await linksOf('guest', one), await linksOf('guest', other)]).toEqual([[], []]);
      expect((await as('reporter', 'DELETE', `${one.path}/links/${made.body.id}`)).status).toBe(404);
      expect(await notesOf('guest', one)).toEqual([
        `${told} #${other.iid}`,
        `removed the relation with #${other.iid}`,
      ]);
      expect(await notesOf('guest', other)).toEqual([
        `${toldThere} #${one.iid}`,
        `removed the relation with #${one.iid}`,
      ]);
    },
  );

  test('with an issue that a reader may not see is not there for them, nor its notes', async () => {
    const [one, hidden] = [await issue(), await issue('private')];
    const { body } = await relate('reporter', one, hidden);
    const secret = await issue('public', { confidential: true });
    await relate('reporter', one, secret, 'blocks');
    expect(await linksOf('reporter', one)).toEqual([
      [hidden.id, 'relates_to'],
      [secret.id, 'blocks'],
    ]);
    expect(await notesOf('reporter', one)).toHaveLength(2);
    for (const who of ['anonymous', 'stranger'] as const) {
      expect(await linksOf(who, one)).toEqual([]);
      expect((await as(who, 'GET', `${one.path}/links/${body.id}`)).status).toBe(404);
      expect((await as('stranger', 'GET', `${one.path}/notes`)).body).toEqual([]);
    }
    expect(await linksOf('guest', one)).toEqual([[hidden.id, 'relates_to']]);
  });

  test('is made by those who may change both issues', async () => {
    const [one, hidden, secret] = [
      await issue(),
      await issue('private'),
      await issue('public', { confidential: true }),
    ];
    const mine = { ...one, path: '' };
    for (const [who, a, b, status, message] of [
      ['guest', one, hidden, 403, '403 Forbidden'],
      ['stranger', one, mine, 403, '403 Forbidden'],
      ['stranger', secret, one, 404, '404 Not found'],
      ['reporter', one, { ...one, iid: 99_999 }, 404, '404 Not found'],
      ['reporter', one, { ...one, projectId: 99_999 }, 404, '404 Project Not Found'],
    ] as const)
      expect(await relate(who, a, b), `${who} ${message}`).toMatchObject({ status, body: { message } });
    expect(
      await as('reporter', 'POST', `${one.path}/links`, { target_project_id: one.projectId }),
    ).toMatchObject({
      status: 400,
      body: { error: 'target_issue_iid is missing' },
    });
    expect(await relate('reporter', one, one)).toMatchObject({
      status: 400,
      body: { message: { source: ['cannot be related to itself'] } },
    });
    expect(await relate('reporter', one, secret, 'hates')).toMatchObject({
      status: 400,
      body: { error: 'link_type does not have a valid value' },
    });
  });

  test('needs the right to change the other issue too, whose project may be named by its path', async () => {
    const made = await as('stranger', 'POST', '/projects', { name: 'Elsewhere', visibility: 'public' });
    const issues = `/projects/${made.body.id}/issues`;
    const { body } = await as('stranger', 'POST', issues, { title: 'There' });
    const [here, there] = [
      await issue(),
      { path: `${issues}/${body.iid}`, ...body, projectId: made.body.id },
    ];
    const message = 'No matching issue found. Make sure that you are adding a valid issue URL.';
    expect(await relate('reporter', here, there)).toMatchObject({ status: 404, body: { message } });
    const json = { user_id: world.ids['reporter'], access_level: 20 };
    await as('stranger', 'POST', `/projects/${made.body.id}/members`, json);
    const target = { target_project_id: made.body.path_with_namespace, target_issue_iid: body.iid };
    const linked = await as('reporter', 'POST', `${here.path}/links`, target);
    expect(linked.status, JSON.stringify(linked.body)).toBe(201);
    expect(await notesOf('guest', here)).toEqual([
      `marked this issue as related to ${made.body.path_with_namespace}#${body.iid}`,
    ]);
    expect((await as('stranger', 'DELETE', `${there.path}/links/${linked.body.id}`)).status).toBe(403);
  });

  test('is one where both issues are related to each other at once', async () => {
    const [one, other] = [await issue(), await issue()];
    const made = await Promise.all([relate('reporter', one, other, 'blocks'), relate('owner', other, one)]);
    expect(made.map(({ status }) => status).toSorted()).toEqual([201, 409]);
    expect([await linksOf('guest', one), await linksOf('guest', other)]).toMatchObject([
      [[other.id, expect.any(String)]],
      [[one.id, expect.any(String)]],
    ]);
    expect([...(await notesOf('guest', one)), ...(await notesOf('guest', other))]).toHaveLength(2);
  });

  test('is refused to an issue that has 200, and made once there are fewer', async () => {
    const [full, other] = [await issue(), await issue()];
    const counted = { update: issueLinkCountKey(full.projectId, full.id) };
    await world.store.table.update({ ...counted, set: { count: 200 } });
    for (const [a, b] of [
      [full, other],
      [other, full],
    ] as const)
      expect(await relate('reporter', a, b)).toMatchObject({
        status: 400,
        body: { message: { base: ['An issue has at most 200 relations'] } },
      });
    expect(await linksOf('guest', other)).toEqual([]);
    await world.store.table.update({ ...counted, set: { count: 199 } });
    expect((await relate('reporter', other, full)).status).toBe(201);
  });

  test('moves with its issue, and stays with one that is cloned', async () => {
    const [one, other, third] = [await issue(), await issue(), await issue()];
    await relate('reporter', one, other, 'blocks');
    await relate('reporter', third, one);
    const to_project_id = world.ids['internal'];
    const cloned = await as('reporter', 'POST', `${one.path}/clone`, { to_project_id });
    const { status, body } = await as('reporter', 'POST', `${one.path}/move`, { to_project_id });
    expect([cloned.status, status]).toEqual([201, 201]);
    await settled();
    const moved = { ...one, path: `/projects/${to_project_id}/issues/${body.iid}` };
    expect(await linksOf('reporter', moved)).toEqual([
      [other.id, 'blocks'],
      [third.id, 'relates_to'],
    ]);
    expect(await linksOf('reporter', other)).toEqual([[body.id, 'is_blocked_by']]);
    expect(await linksOf('reporter', third)).toEqual([[body.id, 'relates_to']]);
    const clone = { ...one, path: `/projects/${to_project_id}/issues/${cloned.body.iid}` };
    expect([await linksOf('reporter', one), await linksOf('reporter', clone)]).toEqual([[], []]);
  });

  test('ends with either issue, and with its project', async () => {
    const [one, other] = [await issue(), await issue('internal')];
    const made = await as('owner', 'POST', '/projects', { name: 'Brief', visibility: 'private' });
    const { body } = await as('owner', 'POST', `/projects/${made.body.id}/issues`, { title: 'x' });
    const gone = { path: '', id: body.id, iid: body.iid, projectId: made.body.id };
    for (const target of [other, gone]) expect((await relate('owner', one, target)).status).toBe(201);
    await as('owner', 'DELETE', other.path);
    expect((await linksOf('owner', one)).map(([id]) => id)).toEqual([gone.id]);
    await as('administrator', 'DELETE', `/projects/${made.body.id}`);
    await settled();
    expect(await linksOf('owner', one)).toEqual([]);
    expect(await world.store.issueLinks.of(one)).toEqual([]);
  });
});
