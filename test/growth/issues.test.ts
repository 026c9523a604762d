/**
 * What lists of issues, their counts and searches cost does not depend on how many there are: with a thousand in a group
 * of two projects, and with eleven times as many in two hundred. `GROWTH_ISSUES=1000000` makes a million in 2,000 projects.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { classOf, ISSUE_CLASSES, type IssueRecord } from '../../lib/records/issues.ts';
import type { NoteRecord } from '../../lib/records/notes.ts';
import type { ProjectRecord } from '../../lib/records/projects.ts';
import { awsClients } from '../../lib/store/clients.ts';
import { ISSUE_KIND } from '../../lib/store/issues/kind.ts';
import { noteWrites } from '../../lib/store/notes/notes.ts';
import { issueKeys } from '../../lib/store/row-keys/issues.ts';
import { TableClient } from '../../lib/store/table/table-client.ts';
import { recordItem } from '../../lib/store/tracked/records.ts';
import { BulkTable } from '../harness/bulk-table.ts';
import { makersOf } from '../harness/makers.ts';
import { RoundTrips } from '../harness/round-trips.ts';
import { type Service, startService } from '../harness/service.ts';
import { storeOf } from '../harness/world.ts';
import { type Cost, costOf, shownCosts } from './page-cost.ts';
import { word } from './population.ts';

const SMALL = 1000;
const LARGE = Number(process.env['GROWTH_ISSUES'] ?? 11_000);
const PER_PROJECT = 500;
/** Of the projects beside the first two: so many that those of a page are in as many projects as it has issues. */
const SPREAD_OVER = LARGE < 100_000 ? 50 : PER_PROJECT;
/** Of one issue, beside twenty at first. */
const NOTES = LARGE < 100_000 ? 1000 : 10_000;

interface Pattern {
  readonly path: () => string | Promise<string>;
  readonly most: Pick<Cost, 'trips' | 'kilobytes'>;
  /** Rows of the answer at any size. */
  readonly rows?: number;
  /** The total among so many issues; up to 10,000 it is told. */
  readonly total?: (issues: number) => number;
  readonly who?: () => Person;
}
type Person = Awaited<ReturnType<Service['user']>>;

let service: Service;
let trips: RoundTrips;
let owner: Person;
let me: Person;
let member: Person;
let group: number;
/** The project that does not grow. */
let first: ProjectRecord;
let labels: number[];
let milestone: number;
let size = 0;
const projects: ProjectRecord[] = [];
const counts = new Map<number, Record<string, number>>();

/** Who wrote an issue, has it to do, and what else it has, by its number on the instance. */
const isMine = (n: number) => n % 5 === 2;
const isAssigned = (n: number) => n % 20 === 0;
const isClosed = (n: number) => n % 2 === 1;
const isBug = (n: number) => n % 4 === 0;
const isRare = (n: number) => n % 10 === 0;
const isPlanned = (n: number) => n % 5 === 0;
const countOf = (issues: number, is: (n: number) => boolean) => {
  let count = 0;
  for (let n = 1; n <= issues; n++) if (is(n)) count++;
  return count;
};

/** Round trips in which the caller, and the project or group, are found. */
const ASKED = 2;
/** A page in the order of creation, or of the last change, without the keys that are counted for its total. */
const PAGE = { trips: ASKED + 4, kilobytes: 60 };
/** The same where a title is looked up, or discussions lead to notes. */
const TITLED = { ...PAGE, trips: ASKED + 5 };
/** The same in projects that are judged by themselves, beside the records, and then their groups; one more to count. */
const SPREAD = { trips: ASKED + 5, kilobytes: 60 };
/** Keys up to the page, and the projects that they are in. */
const OFFSET = { trips: ASKED + 8, kilobytes: LARGE < 100_000 ? 500 : 2000 };
/** What several rows lead to; for a total up to 10,000 the keys of each are read. */
const TWO = { trips: ASKED + 38, kilobytes: LARGE < 100_000 ? 600 : 4000 };
/** Orders that no rows have: the newest ten thousand are read. */
const SORTED = { trips: ASKED + 42, kilobytes: 17_000 };
/** Keys of each state, up to ten thousand. */
const COUNTED = { trips: ASKED + 12, kilobytes: 6000 };
/** Of a key that is counted for a total. */
const KEY_KILOBYTES = 0.15;

const inGroup = (query: string) => () => `/groups/${group}/issues?scope=all&per_page=20&${query}`;
const inProject = (query: string) => () => `/projects/${first.id}/issues?per_page=20&${query}`;
const found = (where: () => string, search: string) => () =>
  `${where()}/search?scope=issues&per_page=20&search=${search}`;
const all = (issues: number) => issues;
const ofFirst = () => PER_PROJECT;

const PATTERNS: Readonly<Record<string, Pattern>> = {
  'a project': { path: inProject(''), most: PAGE, total: ofFirst },
  'a project, open ones': { path: inProject('state=opened'), most: PAGE },
  'a project, of a label': { path: inProject('labels=bug'), most: TITLED },
  'a project, of a milestone': { path: inProject('milestone=v1'), most: TITLED },
  'a project, of an author': { path: () => inProject(`author_id=${owner.id}`)(), most: PAGE },
  'a project, by numbers': { path: inProject('iids[]=1&iids[]=5'), most: PAGE, rows: 2 },
  'a project, by the last change': { path: inProject('order_by=updated_at'), most: PAGE },
  'a project, page 25 by its number alone': {
    path: inProject('page=25'),
    most: { ...OFFSET, kilobytes: 400 },
    total: ofFirst,
  },
  'a group': { path: inGroup(''), most: SPREAD, total: all },
  'a group, a member': { path: inGroup(''), most: SPREAD, total: all, who: () => member },
  'a group, page 30 by its number alone': { path: inGroup('page=30'), most: OFFSET, total: all },
  'a group, page 30 by the link of page 29': {
    path: () => nextOf(inGroup('page=29')()),
    most: SPREAD,
    total: all,
  },
  'a group, page 2 by its number after page 1': { path: after(1), most: SPREAD, total: all },
  'a group, page 30 by its number after page 29': { path: after(29), most: SPREAD, total: all },
  'a group, closed ones': { path: inGroup('state=closed'), most: SPREAD, total: (n) => countOf(n, isClosed) },
  'a group, of a label': { path: inGroup('labels=bug'), most: SPREAD, total: (n) => countOf(n, isBug) },
  'a group, of a milestone': {
    path: inGroup('milestone=v1'),
    most: SPREAD,
    total: (n) => countOf(n, isPlanned),
  },
  'a group, of an author': {
    path: () => inGroup(`author_id=${me.id}`)(),
    most: SPREAD,
    total: (n) => countOf(n, isMine),
  },
  'a group, of an assignee': {
    path: () => inGroup(`assignee_id=${me.id}`)(),
    most: SPREAD,
    total: (n) => countOf(n, isAssigned),
  },
  'a group, by the last change': { path: inGroup('order_by=updated_at'), most: SPREAD, total: all },
  'a group, of two labels': { path: inGroup('labels=bug,rare'), most: TWO },
  'a group, of a label and an author': {
    path: () => inGroup(`labels=bug&author_id=${me.id}`)(),
    most: TWO,
  },
  'a group, by priority': { path: inGroup('order_by=priority'), most: SORTED },
  'a group, by weight': { path: inGroup('order_by=weight&state=opened'), most: SORTED },
  "one's own": {
    path: () => '/issues?per_page=20',
    most: SPREAD,
    who: () => me,
    total: (n) => countOf(n, isMine),
  },
  'those assigned to one': {
    path: () => '/issues?per_page=20&scope=assigned_to_me&state=opened',
    most: SPREAD,
    who: () => me,
  },
  'the instance': { path: () => '/issues?per_page=20&scope=all', most: SPREAD },
  'notes of an issue': {
    path: () => `/projects/${first.id}/issues/1/notes?per_page=20&sort=asc`,
    most: PAGE,
  },
  'discussions of an issue': {
    path: () => `/projects/${first.id}/issues/1/discussions?per_page=20`,
    most: TITLED,
  },
  'statistics of a project': { path: () => `/projects/${first.id}/issues_statistics`, most: PAGE, rows: 1 },
  'statistics of a group': {
    path: () => `/groups/${group}/issues_statistics?scope=all`,
    most: COUNTED,
    rows: 1,
  },
  'labels of a group with counts': {
    path: () => `/groups/${group}/labels?with_counts=true`,
    most: { trips: ASKED + 20, kilobytes: 8000 },
    rows: 3,
  },
  'a search in a project, a word that all have': {
    path: found(() => `/projects/${first.id}`, 'task'),
    most: TWO,
  },
  'a search in a group, a word that all have': { path: found(() => `/groups/${group}`, 'task'), most: TWO },
  'a search in a group, a rare word': { path: found(() => `/groups/${group}`, word(61)), most: TWO, rows: 1 },
  'a search in a group, a rare word and one that all have': {
    path: found(() => `/groups/${group}`, `task+${word(61)}`),
    most: TWO,
    rows: 1,
  },
  'a search everywhere, a rare word': { path: found(() => '', word(61)), most: TWO, rows: 1 },
  'a search in a project by number': {
    path: found(() => `/projects/${first.id}`, '%2361'),
    most: TWO,
    rows: 1,
  },
};

/** The page that follows in a group, by its number alone, when the one before has been read. */
function after(page: number): () => Promise<string> {
  return async () => {
    await service.call('GET', inGroup(`page=${page}`)(), { token: owner.token });
    return inGroup(`page=${page + 1}`)();
  };
}

/** Where the link of a page leads to. */
async function nextOf(path: string): Promise<string> {
  const { headers } = await service.call('GET', path, { token: owner.token });
  return /<[^>]*\/api\/v4([^>]+)>; rel="next"/.exec(headers.get('link')!)![1]!;
}

const small = new Map<string, Cost>();
const large = new Map<string, Cost>();

beforeAll(async () => {
  service = await startService({ background: false });
  trips = RoundTrips.of(service.host);
  [owner, me, member] = [await service.user('owner'), await service.user('me'), await service.user('member')];
  const made = async (path: string, json: object) => {
    const { status, body } = await service.call('POST', path, { token: owner.token, json });
    if (status !== 201) throw new Error(`${path}: ${JSON.stringify(body)}`);
    return body;
  };
  group = (await made('/groups', { name: 'top', path: 'top', visibility: 'public' })).id;
  for (const { id } of [me, member])
    await made(`/groups/${group}/members`, { user_id: id, access_level: 30 });
  labels = [];
  for (const name of ['bug', 'rare', 'unused'])
    labels.push((await made(`/groups/${group}/labels`, { name, color: '#ff0000' })).id);
  milestone = (await made(`/groups/${group}/milestones`, { title: 'v1' })).id;
  const { id } = await made('/projects', { name: 'first', namespace_id: group, visibility: 'public' });
  first = (await storeOf().projects.get(id))!;
  projects.push(first);
  for (const [costs, issues] of [
    [small, SMALL],
    [large, LARGE],
  ] as const) {
    const begun = performance.now();
    const rows = await grow(issues);
    const seconds = ((performance.now() - begun) / 1000).toFixed(0);
    process.stderr.write(`${rows} rows to ${issues} issues in ${projects.length} projects in ${seconds} s\n`);
    for (const [name, pattern] of Object.entries(PATTERNS)) costs.set(name, await measured(pattern));
  }
  process.stderr.write(`${shownCosts(small, large)}\n`);
}, 7_200_000);
afterAll(() => service.stop());

describe('the cost is the same at any size of', () => {
  test.each(Object.entries(PATTERNS))('%s', (name, { most, rows = 20, total }) => {
    for (const [costs, issues] of [
      [small, SMALL],
      [large, LARGE],
    ] as const) {
      const cost = costs.get(name)!;
      expect(cost.rows, 'rows').toBe(rows);
      expect(cost.trips, 'round trips').toBeLessThanOrEqual(most.trips);
      const keys = cost.total === null ? 0 : Number(cost.total);
      expect(cost.kilobytes, 'KB').toBeLessThanOrEqual(most.kilobytes + keys * KEY_KILOBYTES);
      const told = total?.(issues);
      if (told !== undefined) expect(cost.total).toBe(told > 10_000 ? null : String(told));
    }
  });
});

test('statistics are exact up to ten thousand of each state, and count no further', () => {
  for (const [costs, issues] of [
    [small, SMALL],
    [large, LARGE],
  ] as const) {
    const closed = Math.min(10_000, countOf(issues, isClosed));
    const opened = Math.min(10_000, issues - countOf(issues, isClosed));
    expect(costs.get('statistics of a group')!.body).toEqual({
      statistics: { counts: { all: opened + closed, closed, opened } },
    });
  }
});

async function grow(issues: number): Promise<number> {
  const { table } = storeOf();
  const client = new TableClient(awsClients().dynamodb);
  const bulk = new BulkTable(client, table.name, service.host.dynamo, /^(OUTBOX|REPO|GRAM)#/);
  const makers = makersOf(bulk);
  const parent = (await storeOf().groups.get(group))!;
  while (SMALL + (projects.length - 2) * SPREAD_OVER < issues) {
    const name = `work ${projects.length}`;
    const details = { ...first, importStatus: 'none' as const, name, path: name.replace(' ', '-') };
    projects.push(await makers.projects.create(details, { headBranch: 'main', now: at(0), parent }));
  }
  const around = {
    rootId: group,
    labelTitles: new Map([
      [labels[0]!, 'bug'],
      [labels[1]!, 'rare'],
    ]),
    milestoneTitle: 'v1',
  };
  for (let n = size + 1; n <= issues; n++) {
    // The first project is full at once; the others fill together.
    const project = n <= PER_PROJECT ? first : projects[n <= SMALL ? 1 : 2 + (n % (projects.length - 2))]!;
    const count = counts.get(project.id) ?? { iid: 0 };
    counts.set(project.id, count);
    count['iid'] = count['iid']! + 1;
    const issue = issueOf(n, count['iid'], project.id);
    count[classOf(issue)] = (count[classOf(issue)] ?? 0) + 1;
    for (const row of [recordItem(ISSUE_KIND, issue), ...ISSUE_KIND.rows(issue, around)])
      await bulk.put({ put: row });
  }
  for (const [projectId, { iid, ...classes }] of counts) {
    await bulk.put({ put: { ...issueKeys.iid(projectId), n: iid } });
    const named = ISSUE_CLASSES.map((each) => [
      each.replace('-confidential', 'Confidential'),
      classes[each] ?? 0,
    ]);
    await bulk.put({ put: { ...issueKeys.count(projectId), ...Object.fromEntries(named) } });
  }
  // Twenty notes at first, and ten thousand then.
  for (let n = size === 0 ? 1 : 21; n <= (size === 0 ? 20 : NOTES); n++)
    await bulk.transact(noteWrites(noteOf(n)));
  await bulk.flush();
  size = issues;
  return bulk.written;
}

const at = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 1000);
const snapshot = ({ id, username }: Person) => ({ id, username, name: username });

function issueOf(n: number, iid: number, projectId: number): IssueRecord {
  const createdAt = at(n).toISOString();
  return {
    id: 1_000_000 + n,
    iid,
    projectId,
    title: `Task ${word(n)}`,
    description: null,
    state: isClosed(n) ? 'closed' : 'opened',
    confidential: n % 100 === 2,
    type: 'issue',
    author: snapshot(isMine(n) ? me : owner),
    assigneeIds: isAssigned(n) ? [me.id] : [],
    labelIds: [...(isBug(n) ? [labels[0]!] : []), ...(isRare(n) ? [labels[1]!] : [])],
    milestoneId: isPlanned(n) ? milestone : null,
    iterationId: null,
    epicId: null,
    dueDate: null,
    weight: n % 7,
    healthStatus: null,
    severity: 'UNKNOWN',
    discussionLocked: null,
    timeEstimate: 0,
    timeSpent: 0,
    closedAt: isClosed(n) ? createdAt : null,
    closedById: isClosed(n) ? owner.id : null,
    movedTo: null,
    duplicatedTo: null,
    relativePosition: null,
    tasks: { count: 0, completed: 0 },
    createdAt,
    updatedAt: createdAt,
    userNotesCount: 0,
    upvotes: 0,
    downvotes: 0,
    version: 1,
  };
}

const noteOf = (n: number): NoteRecord => ({
  id: 1_000_000 + n,
  projectId: first.id,
  noteable: { kind: 'issue', id: 1_000_001 },
  iid: 1,
  body: `What was said for the ${n}th time, in as many words as people use.`,
  author: snapshot(owner),
  line: null,
  createdAt: at(n).toISOString(),
  updatedAt: at(n).toISOString(),
});

const measured = async ({ path, who = () => owner }: Pattern): Promise<Cost> =>
  costOf(service, trips, await path(), who().token);
