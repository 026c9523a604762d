import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, type Service, startService } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';
import { storeOf } from '../../harness/world.ts';

let service: Service;
/** A group with a project, and a subgroup with another; a group beside them. Epics are in all three. */
const ids: Record<string, number> = {};
const iids: Record<string, number> = {};
const tokens: Record<string, string> = {};

const as = (who: string | undefined, method: string, path: string, json?: unknown): Promise<Answer> =>
  service.call(method, path, {
    ...(who === undefined ? {} : { token: who === 'root' ? service.rootToken : tokens[who]! }),
    ...(json === undefined ? {} : { json }),
  });
const made = async (path: string, json: unknown, who = 'root'): Promise<Answer['body']> => {
  const answer = await as(who, 'POST', path, json);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
};
const issue = async (project: string, json: object = {}, who = 'root'): Promise<Answer['body']> =>
  made(`/projects/${ids[project]}/issues`, { title: 'x', ...json }, who);
const read = async (path: string, who = 'root'): Promise<Answer['body']> => {
  const answer = await as(who, 'GET', path);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
};
const pathOf = (one: { project_id: number; iid: number }): string =>
  `/projects/${one.project_id}/issues/${one.iid}`;
const notesOn = async (one: { project_id: number; iid: number }, who = 'root'): Promise<string[]> =>
  (await read(`${pathOf(one)}/notes?sort=asc`, who)).map(({ body }: { body: string }) => body);
const titles = async (path: string, who?: string): Promise<string[]> => {
  const answer = await as(who, 'GET', path);
  expect(answer).toMatchObject({ status: 200 });
  const found = answer.body.map(({ title }: { title: string }) => title).sort();
  expect(answer.headers.get('x-total')).toBe(String(found.length));
  return found;
};

beforeAll(async () => {
  service = await startService();
  const group = async (name: string, parent_id?: number) => {
    ids[name] = (await made('/groups', { name, path: name, parent_id, visibility: 'public' })).id;
    const epic = await made(`/groups/${ids[name]}/epics`, { title: `of ${name}` });
    [ids[`&${name}`], iids[`&${name}`]] = [epic.id, epic.iid];
  };
  await group('plan');
  await group('sub', ids['plan']);
  await group('beside');
  for (const [name, groupName] of [
    ['app', 'plan'],
    ['lib', 'sub'],
  ] as const) {
    const json = { name, path: name, namespace_id: ids[groupName], visibility: 'public' };
    ids[name] = (await made('/projects', json)).id;
  }
  const secret = await made(`/groups/${ids['plan']}/epics`, { title: 'secret', confidential: true });
  [ids['&secret'], iids['&secret']] = [secret.id, secret.iid];
  for (const [name, level] of [
    ['guest', 10],
    ['reporter', 20],
    ['stranger', 0],
  ] as const) {
    const user = await service.user(name);
    tokens[name] = user.token;
    if (level > 0) await made(`/groups/${ids['plan']}/members`, { user_id: user.id, access_level: level });
  }
  // Reporters of a project alone may see no more epics than strangers.
  const lone = await service.user('lone');
  tokens['lone'] = lone.token;
  await made(`/projects/${ids['app']}/members`, { user_id: lone.id, access_level: 20 });
});
afterAll(() => service.stop());

describe('an issue', () => {
  test('gets an epic of a group above, another, and none, each of which is noted', async () => {
    const created = await issue('lib', { epic_id: ids['&plan'] }, 'reporter');
    expect(created).toMatchObject({
      epic: {
        id: ids['&plan'],
        iid: 1,
        title: 'of plan',
        url: '/groups/plan/-/epics/1',
        group_id: ids['plan'],
      },
      epic_iid: 1,
    });
    const changed = await as('reporter', 'PUT', pathOf(created), { epic_iid: iids['&sub'] });
    expect(changed.body.epic).toMatchObject({ id: ids['&sub'], url: '/groups/plan/sub/-/epics/1' });
    const kept = await as('reporter', 'PUT', pathOf(created), { title: 'y' });
    expect(kept.body.epic.id).toBe(ids['&sub']);
    const without = await as('reporter', 'PUT', pathOf(created), { epic_id: 0 });
    expect(without.body).toMatchObject({ epic: null, epic_iid: null });
    const notes = await notesOn(created);
    expect(notes.filter((each) => each.includes('epic'))).toEqual([
      'added to epic plan&1',
      'changed epic to &1',
      'removed from epic &1',
    ]);
    const onEpic = async (epic: string, group: string, who = 'root') =>
      (await as(who, 'GET', `/groups/${ids[group]}/epics/${ids[epic]}/notes?sort=asc`)).body
        .map(({ body }: { body: string }) => body)
        .filter((body: string) => body.endsWith(created.references.full));
    expect(await onEpic('&plan', 'plan')).toEqual([
      `added issue ${created.references.full}`,
      `removed issue ${created.references.full}`,
    ]);
    expect(await onEpic('&sub', 'sub')).toHaveLength(2);
    await as('root', 'PUT', pathOf(created), { confidential: true });
    expect(await onEpic('&plan', 'plan')).toHaveLength(2);
    expect(await onEpic('&plan', 'plan', 'lone')).toEqual([]);
    const cleared = await issue('app', { epic_id: ids['&plan'] });
    expect((await as('root', 'PUT', pathOf(cleared), { epic_id: null })).body.epic).toBeNull();
  });

  test.each<[string, string, string, object, number]>([
    ['of another group', 'app', 'root', { epic_id: '&beside' }, 404],
    ['of a group below', 'app', 'root', { epic_id: '&sub' }, 404],
    ['that does not exist', 'app', 'root', { epic_id: 99_999_999 }, 404],
    ['with a number that no epic has', 'app', 'root', { epic_iid: 99_999_999 }, 404],
    ['with a negative ID', 'app', 'root', { epic_id: -1 }, 404],
    ['that is hidden', 'app', 'lone', { epic_id: '&secret' }, 404],
    ['with a hidden number', 'app', 'lone', { epic_iid: '&secret' }, 404],
    ['by ID and number', 'app', 'root', { epic_id: '&plan', epic_iid: 1 }, 400],
    ['whose ID is no number', 'app', 'root', { epic_id: 'x' }, 400],
  ])('gets no epic %s', async (_, project, who, given, status) => {
    const json = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [
        name,
        typeof value === 'string' && value.startsWith('&') ? (name === 'epic_id' ? ids : iids)[value] : value,
      ]),
    );
    const path = `/projects/${ids[project]}/issues`;
    expect((await as(who, 'POST', path, { title: 'x', ...json })).status).toBe(status);
    expect((await as(who, 'PUT', pathOf(await issue(project)), json)).status).toBe(status);
  });

  test('gets no epic in a personal namespace', async () => {
    const { id } = await made('/projects', { name: 'own', path: 'own' }, 'stranger');
    const json = { title: 'x', epic_id: ids['&plan'] };
    expect((await as('stranger', 'POST', `/projects/${id}/issues`, json)).status).toBe(404);
  });

  test('of an author below Reporter keeps the epic that it has', async () => {
    const own = await issue('app', { epic_id: ids['&plan'] }, 'guest');
    expect(own.epic).toBeNull();
    await as('root', 'PUT', pathOf(own), { epic_id: ids['&plan'] });
    const sent = await as('guest', 'PUT', pathOf(own), { title: 'y', epic_id: 0 });
    expect(sent.body).toMatchObject({ title: 'y', epic: { id: ids['&plan'] } });
  });

  test('has no epic, and no note about it, for those who may not see the epic', async () => {
    const own = await issue('app', { epic_id: ids['&secret'] });
    for (const [who, shown] of [
      ['reporter', 'secret'],
      ['guest', undefined],
      ['stranger', undefined],
      ['lone', undefined],
    ] as const) {
      const found = await read(pathOf(own), who);
      expect(found.epic?.title).toBe(shown);
      expect(found.epic_iid).toBe(shown === undefined ? null : iids['&secret']);
      expect(await notesOn(own, who)).toEqual(
        shown === undefined ? [] : [`added to epic &${iids['&secret']}`],
      );
    }
  });

  test('has no epic after that is deleted, or its project is moved out of its group', async () => {
    const gone = await made(`/groups/${ids['plan']}/epics`, { title: 'gone' });
    const first = await issue('app', { epic_id: gone.id });
    await as('root', 'DELETE', `/groups/${ids['plan']}/epics/${gone.iid}`);
    expect((await read(pathOf(first))).epic).toBeNull();
    const json = { name: 'moving', path: 'moving', namespace_id: ids['plan'] };
    ids['moving'] = (await made('/projects', json)).id;
    const second = await issue('moving', { epic_id: ids['&plan'] });
    await as('root', 'PUT', `/projects/${ids['moving']}/transfer`, { namespace: 'beside' });
    await settled();
    expect((await read(pathOf(second))).epic).toBeNull();
  });
});

describe('the order of the issues of an epic', () => {
  let epic: { iid: number };
  let path = '';
  const made3: { id: number; title: string }[] = [];
  beforeAll(async () => {
    epic = await made(`/groups/${ids['plan']}/epics`, { title: 'ordered' });
    path = `/groups/${ids['plan']}/epics/${epic.iid}/issues`;
    for (const [project, title] of [
      ['app', 'a'],
      ['lib', 'b'],
      ['app', 'c'],
    ] as const) {
      const one = await issue(project, { title });
      made3.push(one);
      await made(`${path}/${one.id}`, {});
    }
  });
  const idOf = (title: string) => made3.find((one) => one.title === title)!.id;
  const order = async (query = '') =>
    (await read(`${path}${query}`)).map(({ title }: { title: string }) => title).join('');
  const put = (who: string, title: string, json: object) => as(who, 'PUT', `${path}/${idOf(title)}`, json);

  test('is at first the newest first, and then as they were put, across projects', async () => {
    expect(await order()).toBe('cba');
    const answer = await put('reporter', 'a', { move_before_id: idOf('c') });
    expect(answer.status).toBe(200);
    expect(answer.body.map(({ title }: { title: string }) => title)).toEqual(['c', 'a', 'b']);
    expect(answer.body).toMatchObject([
      { relative_position: 1, epic_issue_id: idOf('c') },
      { relative_position: 2 },
      { relative_position: 3 },
    ]);
    await put('reporter', 'b', { move_after_id: idOf('c') });
    expect(await order()).toBe('bca');
    await put('reporter', 'b', { move_before_id: idOf('c'), move_after_id: idOf('a') });
    expect(await order()).toBe('cba');
    expect(await order('?per_page=1&page=2')).toBe('b');
    const newest = await issue('lib', { title: 'd' });
    await made(`${path}/${newest.id}`, {});
    expect(await order()).toBe('dcba');
    await as('root', 'DELETE', `${path}/${newest.id}`);
    expect((await put('reporter', 'a', {})).body).toHaveLength(3);
  });

  test('stays right when issues are put between the same two again and again', async () => {
    for (let n = 0; n < 150; n++) {
      const [moved, other] = n % 2 === 0 ? ['a', 'b'] : ['b', 'a'];
      await put('reporter', moved!, { move_before_id: idOf('c'), move_after_id: idOf(other!) });
    }
    expect(await order()).toBe('cba');
  });

  test('is changed by Reporters of the group, and names issues of the epic', async () => {
    const json = { move_before_id: idOf('c') };
    for (const [who, status] of [
      ['guest', 403],
      ['stranger', 403],
      [undefined, 401],
    ] as const)
      expect((await as(who, 'PUT', `${path}/${idOf('a')}`, json)).status).toBe(status);
    const outside = await issue('app');
    expect((await put('reporter', 'a', { move_before_id: outside.id })).status).toBe(404);
    expect((await as('reporter', 'PUT', `${path}/${outside.id}`, json)).status).toBe(404);
    expect((await as('reporter', 'PUT', `${path}/${idOf('a')}`, { move_after_id: 'x' })).status).toBe(400);
  });
});

describe('issues of an epic', () => {
  test('are added to it, listed newest first, and removed, in projects of its group and below', async () => {
    const { iid } = await made(`/groups/${ids['plan']}/epics`, { title: 'goal' });
    const path = `/groups/${ids['plan']}/epics/${iid}/issues`;
    expect(await read(path)).toEqual([]);
    const [first, second] = [await issue('app', { title: 'first' }), await issue('lib', { title: 'second' })];
    for (const { id } of [first, second]) {
      const added = await made(`${path}/${id}`, undefined, 'reporter');
      expect(added).toMatchObject({ id, epic: { iid, title: 'goal' }, issue: { id, epic: { iid } } });
    }
    expect(await read(path, 'guest')).toMatchObject([
      { id: second.id, epic_issue_id: second.id, references: { relative: `sub/lib#${second.iid}` } },
      { id: first.id, epic_iid: iid },
    ]);
    expect(await read(`${path}?per_page=1&page=2`)).toMatchObject([{ id: first.id }]);
    const removed = await as('reporter', 'DELETE', `${path}/${second.id}`);
    expect(removed).toMatchObject({ status: 200, body: { id: second.id, issue: { epic: null } } });
    expect((await as('reporter', 'DELETE', `${path}/${second.id}`)).status).toBe(404);
    expect(await titles(path)).toEqual(['first']);
    expect(await notesOn(second)).toEqual([`added to epic plan&${iid}`, `removed from epic plan&${iid}`]);
  });

  test('are listed for, added and removed by those who may see them, and change them', async () => {
    const { iid, id } = await made(`/groups/${ids['plan']}/epics`, { title: 'goal' });
    const path = `/groups/${ids['plan']}/epics/${iid}/issues`;
    await issue('app', { title: 'plain', epic_id: id });
    const hidden = await issue('app', { title: 'inside', confidential: true, epic_id: id });
    for (const who of ['guest', 'stranger', undefined]) expect(await titles(path, who)).toEqual(['plain']);
    expect(await titles(path, 'reporter')).toEqual(['inside', 'plain']);
    const [own, foreign] = [
      await issue('app', {}, 'guest'),
      await made('/projects', { name: 'apart', path: 'apart' }),
    ];
    const elsewhere = await made(`/projects/${foreign.id}/issues`, { title: 'x' });
    for (const [who, issueId, status] of [
      ['guest', own.id, 403],
      ['guest', hidden.id, 404],
      ['guest', elsewhere.id, 404],
      ['root', elsewhere.id, 404],
      ['root', 99_999_999, 404],
      ['root', 0, 404],
      ['root', -1, 404],
      ['lone', own.id, 201],
    ] as const) {
      expect((await as(who, 'POST', `${path}/${issueId}`)).status).toBe(status);
      expect((await as(who, 'DELETE', `${path}/${issueId}`)).status).toBe(status === 201 ? 200 : status);
    }
    const secret = `/groups/${ids['plan']}/epics/${iids['&secret']}/issues`;
    for (const who of ['guest', 'lone', undefined]) expect((await as(who, 'GET', secret)).status).toBe(404);
    expect((await as('lone', 'POST', `${secret}/${own.id}`)).status).toBe(404);
  });

  test('stay in it when its author is deleted', async () => {
    const author = await service.user('leaver');
    tokens['leaver'] = author.token;
    await made(`/groups/${ids['plan']}/members`, { user_id: author.id, access_level: 20 });
    const epic = await made(`/groups/${ids['plan']}/epics`, { title: 'left' }, 'leaver');
    const kept = await issue('app', { epic_id: epic.id });
    await as('root', 'DELETE', `/users/${author.id}`);
    await settled();
    expect((await read(pathOf(kept))).epic).toMatchObject({ id: epic.id, title: 'left' });
    const path = `/groups/${ids['plan']}/epics/${epic.iid}`;
    expect((await read(path)).author.username).toBe('ghost');
    expect(await read(`${path}/issues`)).toMatchObject([{ id: kept.id }]);
  });
});

describe('a group with epics', () => {
  test('that is moved keeps its own in its issues, loses those of groups it left, and is deleted with them', async () => {
    const leaving = (await made('/groups', { name: 'leaving', path: 'leaving', parent_id: ids['plan'] })).id;
    ids['work'] = (await made('/projects', { name: 'work', path: 'work', namespace_id: leaving })).id;
    const own = await made(`/groups/${leaving}/epics`, { title: 'own', parent_id: ids['&plan'] });
    const [kept, lost] = [
      await issue('work', { epic_id: own.id }),
      await issue('work', { epic_id: ids['&plan'] }),
    ];
    await as('root', 'POST', `/groups/${leaving}/transfer`, { group_id: ids['beside'] });
    await settled();
    expect((await read(pathOf(kept))).epic).toMatchObject({ url: '/groups/beside/leaving/-/epics/1' });
    expect((await read(pathOf(lost))).epic).toBeNull();
    const listed = `/groups/${ids['beside']}/epics`;
    expect((await read(listed)).map(({ title }: { title: string }) => title)).toContain('own');
    expect((await as('root', 'DELETE', `/groups/${leaving}`)).status).toBe(202);
    await settled();
    expect((await read(listed)).map(({ title }: { title: string }) => title)).not.toContain('own');
    expect(await storeOf().epics.get(own.id)).toBeUndefined();
    expect(await titles(`/issues?scope=all&epic_id=${own.id}`, 'root')).toEqual([]);
  });
});

describe('a quick action', () => {
  const say = async (who: string, project: string, given: object, text: string) => {
    const one = await issue(project, given);
    const { summary } = (await as(who, 'POST', `${pathOf(one)}/notes`, { body: text })).body;
    return [summary, (await read(pathOf(one))).epic?.title];
  };
  const added = 'Added an issue to an epic.';
  const none = "This epic does not exist or you don't have sufficient permission.";
  test.each<[string, string, string, string, string | undefined]>([
    ['reporter', 'app', '/epic &1', added, 'of plan'],
    ['reporter', 'lib', '/epic &1', added, 'of sub'],
    ['reporter', 'lib', '/epic plan/Sub&1', added, 'of sub'],
    ['reporter', 'lib', '/epic plan&1', added, 'of plan'],
    ['reporter', 'lib', '/epic URL', added, 'of plan'],
    ['reporter', 'app', '/epic plan/sub&1', none, undefined],
    ['reporter', 'app', '/epic beside&1', none, undefined],
    ['reporter', 'app', '/epic &99999', none, undefined],
    ['reporter', 'app', '/epic soon', none, undefined],
    ['reporter', 'app', '/epic SECRET', added, 'secret'],
    ['lone', 'app', '/epic SECRET', none, undefined],
    ['guest', 'app', '/epic &1', 'Could not apply epic command.', undefined],
    ['reporter', 'app', '/remove_epic', 'Could not apply remove_epic command.', undefined],
  ])('of a %s in %s: %s', async (who, project, text, summary, title) => {
    const { web_url } = await read(`/groups/${ids['plan']}/epics/1`);
    const sent = text.replace('URL', web_url).replace('SECRET', `&${iids['&secret']}`);
    expect(await say(who, project, {}, sent)).toEqual([[summary], title]);
  });

  test('does nothing twice, takes the epic away, and works in a description', async () => {
    const given = { epic_id: ids['&plan'] };
    expect((await say('reporter', 'app', given, '/epic &1'))[0][0]).toMatch(
      /has already been added to epic &1/,
    );
    expect(await say('reporter', 'app', given, '/remove_epic')).toEqual([
      ['Removed an issue from an epic.'],
      undefined,
    ]);
    const secret = { epic_id: ids['&secret'] };
    const refused = [['Could not apply remove_epic command.'], 'secret'];
    expect(await say('lone', 'app', secret, '/remove_epic')).toEqual(refused);
    const described = await issue('app', { description: 'Text\n/epic &1' }, 'reporter');
    expect(described).toMatchObject({ description: 'Text', epic: { id: ids['&plan'] } });
  });
});

describe('a list of issues', () => {
  let path: string;
  beforeAll(async () => {
    const json = { name: 'listed', path: 'listed', namespace_id: ids['plan'], visibility: 'public' };
    ids['listed'] = (await made('/projects', json)).id;
    path = `/projects/${ids['listed']}/issues`;
    await issue('listed', { title: 'planned', epic_id: ids['&plan'] });
    await issue('listed', { title: 'planned in secret', epic_id: ids['&secret'] });
    await issue('listed', { title: 'hidden', confidential: true, epic_id: ids['&plan'] });
    await issue('listed', { title: 'free' });
  });

  test.each<[string, string[], string[]]>([
    ['epic_id=&plan', ['hidden', 'planned'], ['planned']],
    ['epic_id=&secret', ['planned in secret'], []],
    ['epic_id=99999999', [], []],
    ['epic_id=None', ['free'], ['free', 'planned in secret']],
    ['epic_id=Any', ['hidden', 'planned', 'planned in secret'], ['planned']],
    ['not[epic_id]=&plan', ['free', 'planned in secret'], ['free', 'planned in secret']],
    ['not[epic_id]=&secret', ['free', 'hidden', 'planned'], ['free', 'planned', 'planned in secret']],
    ['not[epic_id]=Any', ['free'], ['free', 'planned in secret']],
  ])('with %s has what the caller may know of, and counts no more', async (query, forReporter, forGuest) => {
    const sent = query.replace(/&\w+/, (name) => String(ids[name]));
    for (const [who, expected] of [
      ['reporter', forReporter],
      ['guest', forGuest],
      [undefined, forGuest],
    ] as const) {
      expect(await titles(`${path}?${sent}`, who)).toEqual(expected);
      expect(
        (await titles(`/groups/${ids['plan']}/issues?scope=all&search=n&${sent}`, who)).filter((title) =>
          ['planned', 'planned in secret', 'hidden'].includes(title),
        ),
      ).toEqual(expected.filter((title) => title !== 'free'));
      const statistics = await as(who, 'GET', `/projects/${ids['listed']}/issues_statistics?${sent}`);
      expect(statistics.body.statistics.counts.all).toBe(expected.length);
    }
  });
});
