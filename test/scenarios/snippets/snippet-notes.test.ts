/** What notes on snippets of projects do elsewhere: feeds, mail, searches, and issues that they name. */
import { beforeAll, describe, expect, test } from 'vitest';
import { settled } from '../../harness/settled.ts';
import { ownMail, reasons } from '../mail/mail-fixture.ts';

const { service, people, call, prefer, mails, forget } = ownMail(['ada', 'bob', 'cyd', 'dan', 'eve']);
let project = 0;
const at = () => `/projects/${project}`;
const files = [{ file_path: 'a.txt', content: 'one\n' }];

const snippet = async (title: string, visibility: string): Promise<number> =>
  (await call('bob', 'POST', `${at()}/snippets`, { title, visibility, files })).id;
const note = (who: string, id: number, body: string) =>
  call(who, 'POST', `${at()}/snippets/${id}/notes`, { body });

beforeAll(async () => {
  project = (await call('ada', 'POST', '/projects', { name: 'shelf', visibility: 'public' })).id;
  for (const [name, access_level] of [
    ['bob', 30],
    ['cyd', 10],
  ] as const)
    await call('ada', 'POST', `${at()}/members`, { user_id: people[name]!.id, access_level });
});

describe('mail about a note', () => {
  test('goes to the author of the snippet, those who take part, who are mentioned, and who watch', async () => {
    const id = await snippet('Recipes', 'public');
    await prefer('eve', at(), { level: 'watch' });
    await note('ada', id, 'Tasty, @dan');
    const first = await mails();
    expect(reasons(first)).toEqual({ bob: ['author'], dan: ['mentioned'], eve: ['watching'] });
    const [mail] = first['bob']!;
    expect(mail!.subject).toBe(`Re: shelf | Recipes ($${id})`);
    expect(mail!.text).toContain('Tasty, @dan');
    expect(mail!.text).toContain(`${service.url}/ada/shelf/-/snippets/${id}#note_`);
    forget();
    await prefer('eve', at(), { level: 'global' });
    await note('bob', id, 'Thanks');
    expect(reasons(await mails())).toEqual({ ada: ['participating'], dan: ['participating'] });
  });

  test('reaches nobody who may not see the snippet', async () => {
    const id = await snippet('Secrets', 'private');
    await note('ada', id, 'Look @dan and @cyd');
    expect(reasons(await mails())).toEqual({ bob: ['author'], cyd: ['mentioned'] });
  });
});

describe('the feed', () => {
  const feed = async (who: string, path: string) =>
    (await call(who, 'GET', path)).map(
      // biome-ignore lint/suspicious/noExplicitAny: an answer
      ({ action_name, target_type, note }: any) => `${action_name} ${target_type} ${note.body}`,
    );

  test('tells of notes to those who may see the snippet, as long as it is there', async () => {
    const [shown, hidden] = [await snippet('Shown', 'public'), await snippet('Hidden', 'private')];
    await note('bob', shown, 'in the open');
    await note('bob', hidden, 'between us');
    await call('bob', 'POST', `${at()}/snippets/${shown}/discussions`, { body: 'a thread' });
    const ofBob = `/users/${people['bob']!.id}/events?target_type=note`;
    const all = ['commented on DiscussionNote a thread', 'commented on Note between us'];
    const open = [all[0], 'commented on Note in the open'];
    const newest = async (who: string, path: string) => (await feed(who, path)).slice(0, 3);
    for (const path of [`${at()}/events?target_type=note`, ofBob]) {
      expect(await newest('ada', path)).toEqual([...all, open[1]]);
      expect((await newest('dan', path)).slice(0, 2)).toEqual(open);
    }
    const [event] = await call('ada', 'GET', `${at()}/events?action=commented`);
    expect(event).toMatchObject({
      target_title: 'Shown',
      note: { noteable_type: 'Snippet', noteable_id: shown, noteable_iid: null, body: 'a thread' },
    });
    await call('ada', 'PUT', at(), { snippets_access_level: 'private' });
    expect(await feed('dan', `${at()}/events?target_type=note`)).toEqual([]);
    await call('ada', 'PUT', at(), { snippets_access_level: 'enabled' });
    await call('bob', 'DELETE', `${at()}/snippets/${hidden}`);
    await settled();
    expect(await feed('ada', ofBob)).not.toContain(all[1]);
  });
});

test('a search finds notes for those who may see the snippet', async () => {
  const [shown, hidden] = [await snippet('Shown', 'public'), await snippet('Hidden', 'private')];
  await note('bob', shown, 'The whistle blows');
  await note('bob', hidden, 'A hidden whistle');
  const found = async (who: string) =>
    (await call(who, 'GET', `${at()}/search?scope=notes&search=whistle`)).map(
      ({ body }: { body: string }) => body,
    );
  expect(await found('cyd')).toEqual(['A hidden whistle', 'The whistle blows']);
  expect(await found('dan')).toEqual(['The whistle blows']);
  await call('bob', 'DELETE', `${at()}/snippets/${shown}`);
  expect(await found('dan')).toEqual([]);
});

describe('an issue that a note names', () => {
  test('is told so, once for each snippet, to those who may see that', async () => {
    const { iid } = await call('ada', 'POST', `${at()}/issues`, { title: 'Named' });
    const [shown, hidden] = [await snippet('Shown', 'public'), await snippet('Hidden', 'private')];
    await note('bob', shown, `as #${iid}`);
    await note('bob', shown, `again #${iid}`);
    await note('bob', hidden, `like #${iid}`);
    await settled();
    const told = async (who: string) =>
      (await call(who, 'GET', `${at()}/issues/${iid}/notes?sort=asc`)).map(
        ({ body }: { body: string }) => body,
      );
    const names = [`mentioned in project snippet $${shown}`, `mentioned in project snippet $${hidden}`];
    expect((await told('cyd')).toSorted()).toEqual(names.toSorted());
    expect(await told('dan')).toEqual(names.slice(0, 1));
  });
});

test('references to snippets are links for those who may see them', async () => {
  const [shown, hidden] = [await snippet('Shown & known', 'public'), await snippet('Hidden', 'private')];
  const personal = (await call('bob', 'POST', '/snippets', { title: 'Mine', visibility: 'public', files }))
    .id;
  const url = `${service.url}/ada/shelf/-/snippets/${shown}`;
  const text = `$${shown} $${hidden} $${personal} shelf$${shown} ${url} $5 notes`;
  const links = async (who: string) => {
    const { html } = await call(who, 'POST', '/markdown', { text, gfm: true, project: 'ada/shelf' });
    return [...html.matchAll(/<a href="([^"]*)"[^>]*title="([^"]*)" class="gfm gfm-snippet">([^<]*)</g)].map(
      ([, href, title, shownAs]) => `${href} ${title} ${shownAs}`,
    );
  };
  const first = `${url} Shown &amp; known $${shown}`;
  const other = `${service.url}/ada/shelf/-/snippets/${hidden} Hidden $${hidden}`;
  const far = `${url} Shown &amp; known shelf$${shown}`;
  expect(await links('cyd')).toEqual([first, other, far, first]);
  expect(await links('dan')).toEqual([first, far, first]);
});
